import { describe, expect, it } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { scaled } from '../../support/scale.ts'
import { ownFile } from './folder.ts'
import { soundLog } from './life.ts'
import { rest, startHost } from './process.ts'

describe('an acknowledged write', () => {
  it(
    'is there although its process was killed right after',
    async () => {
      const path = ownFile()
      const acknowledged: number[] = []
      const kills = scaled(12, 1_000)
      let begun = 0
      const killOneAfterTheOther = async () => {
        while (begun < kills) {
          begun += 1
          const host = startHost('enqueue', path, String(begun * 1_000))
          const first = await host.next()
          host.child.kill('SIGKILL')
          const said = await rest(host)
          expect(first).toBeDefined()
          expect(await host.ended).toBe('SIGKILL')
          acknowledged.push(...said.map(Number))
        }
      }
      // Three at a time: each dies while others have the file, and its last words are theirs to recover.
      await Promise.all([killOneAfterTheOther(), killOneAfterTheOther(), killOneAfterTheOther()])
      expect(acknowledged.length).toBeGreaterThanOrEqual(kills)

      const store = await openSqliteStore({ path })
      const { items } = await store.load(acknowledged.map((number) => ({ id: idText(number), bodies: ['input'] })))
      const lost = acknowledged.filter((number, i) => items[i]?.bodies['input'] !== `{"n":${number}}`)
      expect(lost).toEqual([])
      for (const number of acknowledged) await soundLog(store, idText(number))
      await store.close()
    },
    scaled(60_000, 3_600_000),
  )

  it('of a claim is answered again after the death of whoever asked first', async () => {
    const path = ownFile()
    const first = startHost('enqueue', path, '1')
    for (let said = 0; said < 12; said += 1) await first.next()
    first.child.kill('SIGKILL')
    await rest(first)

    const answers: string[] = []
    for (let life = 0; life < 2; life += 1) {
      const host = startHost('claim', path, 'the-same-request')
      answers.push((await host.next()) ?? '')
      host.child.kill('SIGKILL')
      await rest(host)
    }
    expect(JSON.parse(answers[0] ?? '[]')).toHaveLength(10)
    expect(answers[1]).toBe(answers[0])
  })
})
