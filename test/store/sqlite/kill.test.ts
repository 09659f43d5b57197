import { describe, expect, it } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { scaled } from '../../support/scale.ts'
import { ownFile } from './folder.ts'
import { cancelled, completed, grant, owned, soundLog } from './life.ts'
import { rest, startHost } from './process.ts'

const closing = (store: Store): Store & AsyncDisposable =>
  Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })

const keysOf = async (store: Store) =>
  (await store.events({ by: 'keys', tenant: 't', limit: 10, recount: true })).keys ?? []

/** Ends what the dead have left behind, then all the others one after the other. */
async function drained(store: Store): Promise<void> {
  const { jobs } = await store.find({ order: 'oldest', limit: 10_000, states: ['claimed', 'running'] })
  await store.commit(jobs.map((job) => cancelled(job, job.updatedAt)))
  for (;;) {
    const asked = grant(100)
    const answer = await store.claim(asked)
    if (answer.jobs.length === 0) return
    await store.commit(owned(answer, asked).map((job) => completed(job, answer.now)))
  }
}

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

  it(
    'leaves slots as the jobs are, wherever the process was that freed or took them',
    async () => {
      const path = ownFile()
      const acknowledged: number[] = []
      for (let life = 1; life <= scaled(6, 300); life += 1) {
        const host = startHost('limited', path, String(life * 10_000))
        for (let said = 0; said <= life % 4; said += 1) await host.next()
        host.child.kill('SIGKILL')
        acknowledged.push(...(await rest(host)).flatMap((line) => line.split(' ').map(Number)))
        await using store = closing(await openSqliteStore({ path }))
        for (const { count, recount } of await keysOf(store)) {
          expect(count.taken).toBe(recount)
          expect(count.taken).toBeLessThanOrEqual(2)
        }
      }
      await using store = closing(await openSqliteStore({ path }))
      await drained(store)
      expect((await keysOf(store)).map(({ key, count, held }) => [key, count.taken, held])).toEqual([
        ['a', 0, 0],
        ['b', 0, 0],
        ['c', 0, 0],
      ])
      const { items } = await store.load(acknowledged.map((number) => ({ id: idText(number) })))
      expect(items.filter((item) => item?.job.endedAt === undefined)).toEqual([])
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
