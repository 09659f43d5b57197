import { describe, expect, it } from 'vitest'
import { idText } from '../../../src/core/id.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import { scaled } from '../../support/scale.ts'
import { ownFile } from './folder.ts'
import { clockOf, newJob, soundLog } from './life.ts'
import { rest, startHost } from './process.ts'

describe('several processes on one file', () => {
  it(
    'share its jobs: none is claimed twice, none is lost',
    async () => {
      const path = ownFile()
      const count = scaled(4_000, 20_000)
      const store = await openSqliteStore({ path })
      const now = await clockOf(store)
      for (let first = 1; first <= count; first += 500) {
        await store.insert(Array.from({ length: 500 }, (_, i) => newJob(first + i, now)))
      }
      const said = await Promise.all(['7', '40', '96'].map((batch) => rest(startHost('drain', path, batch))))

      const claimed = said.flat().filter((line) => line !== 'ready')
      const applied = claimed.map((line) => line.replace(/ applied$/, ''))
      expect(new Set(applied).size).toBe(applied.length)
      expect(new Set(applied)).toEqual(new Set(Array.from({ length: count }, (_, i) => idText(i + 1))))
      const { tally } = await store.events({ by: 'tally' })
      expect(tally.map(({ state, count: n }) => [state, n])).toEqual([['succeeded', count]])
      const types = (await soundLog(store, idText(count))).map(({ type }) => type)
      expect(types).toEqual(['enqueued', 'claimed', 'started', 'succeeded'])
      await store.close()
    },
    scaled(60_000, 3_600_000),
  )

  it('may all be the first to open it', async () => {
    const path = ownFile()
    const hosts = Array.from({ length: 4 }, () => startHost('drain', path, '1'))
    const said = await Promise.all(hosts.map(rest))
    expect(said).toEqual(hosts.map(() => ['ready']))
    expect(await Promise.all(hosts.map((host) => host.ended))).toEqual([0, 0, 0, 0])
  })
})
