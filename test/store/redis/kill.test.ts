import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'

const KILLS = scaled(6, 200)

itOnRedis(
  'what a server answered that syncs every write is there although it was killed, and nothing is owned twice',
  async () => {
    await using server = await startRedis()
    const store = await openRedisStore({ url: server.url })
    const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
    const told: Told = { born: new Set(), owned: new Map(), ended: new Map() }
    const over = new AbortController()
    const lives = Array.from({ length: 4 }, () => live(fixture, told, over.signal))
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = told.ended.size
      while (told.ended.size < before + 20) await pause(2)
      await server.kill()
      await server.restart()
    }
    over.abort()
    await Promise.all(lives)
    const { items } = await store.load([...told.born].map((id) => ({ id, bodies: ['input'] })))
    expect(items.filter((item) => item?.bodies['input'] === undefined)).toEqual([])
    for (const item of items) {
      const job = item?.job as Job
      const ended = told.ended.get(job.id)
      if (ended !== undefined) expect(job.rev).toBe(ended)
    }
    for (const id of [...told.ended.keys()].slice(0, 50)) await fixture.expectFolds(id)
    await store.close()
  },
  scaled(60_000, 1_800_000),
)

/** What callers were told. */
interface Told {
  readonly born: Set<string>
  /** By job: the fence of whoever was given it. */
  readonly owned: Map<string, string>
  /** By job: the revision at its end. */
  readonly ended: Map<string, number>
}

/** Enqueues, claims and completes, one after the other, and notes down what it was told. */
async function live(fixture: StoreFixture, told: Told, signal: AbortSignal): Promise<void> {
  const { store } = fixture
  while (!signal.aborted) {
    const draft = fixture.draft({ input: '1' })
    await store.insert([draft])
    told.born.add(draft.job.id)
    const { jobs } = await fixture.claim({ limit: 1 })
    for (const { before } of jobs) {
      const { job } = (await store.load([{ id: before.id }])).items[0] ?? {}
      const fence = job?.lease?.fence ?? ''
      expect(told.owned.get(before.id) ?? fence, `${before.id} has one owner`).toBe(fence)
      told.owned.set(before.id, fence)
      const change = fixture.change(job as Job, { type: 'complete', fence }, (job as Job).updatedAt)
      const { verdicts } = await store.commit([change])
      // Asked again after a crash, it may meet itself: then it is there.
      const now = (await store.load([{ id: before.id }])).items[0]?.job
      expect([verdicts[0]?.status, now?.rev]).toEqual([expect.stringMatching(/applied|conflict/), change.after.rev])
      told.ended.set(before.id, change.after.rev)
    }
  }
}
