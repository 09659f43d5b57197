import { describe, expect, it, vi } from 'vitest'
import { damageOf } from '../../../src/store/sqlite/check.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite.ts'
import type { Store } from '../../../src/store/store.ts'
import { scaled } from '../../support/scale.ts'
import { ownFile } from './folder.ts'
import { clockOf, completed, grant, newJob, owned } from './life.ts'
import { rest, startHostWith } from './process.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

/** Whatever a store can be asked for, at once, with its threads in the middle of it. */
function asked(store: Store, life: number, now: number): readonly Promise<unknown>[] {
  const first = life * 1_000
  const claim = async () => {
    const wanted = grant(20)
    const answer = await store.claim(wanted)
    await store.commit(owned(answer, wanted).map((job) => completed(job, answer.now)))
  }
  return [
    ...Array.from({ length: 10 }, (_, n) => store.insert([newJob(first + n + 1, now)])),
    store.insert(Array.from({ length: 200 }, (_, n) => newJob(first + 100 + n, now))),
    claim(),
    claim(),
    ...Array.from({ length: 5 }, () => store.find({ order: 'newest', limit: 100, states: ['queued', 'succeeded'] })),
    store.find({ order: 'oldest', limit: 100, labels: { life: String(life) } }),
    store.events({ by: 'type', types: ['enqueued', 'claimed', 'succeeded'], from: 0, to: now + 60_000, limit: 100 }),
    store.events({ by: 'correlation', correlationId: 'none', limit: 10 }),
    store.events({ by: 'feed', after: '', limit: 500 }),
    store.events({ by: 'tally' }),
  ]
}

describe('a thread', () => {
  it('lives and ends many times in one process, in the middle of whatever it is asked', async () => {
    const path = ownFile()
    for (let life = 1; life <= scaled(6, 1_500); life += 1) {
      const stores = await Promise.all(Array.from({ length: 1 + (life % 2) }, () => openSqliteStore({ path })))
      const now = await clockOf(stores[0] as Store)
      const calls = stores.flatMap((store, n) => asked(store, 2 * life + n, now))
      const settled = Promise.allSettled(calls)
      // At once, after the first answer, or after all.
      if (life % 3 === 1) await Promise.race(calls)
      if (life % 3 === 2) await settled
      await Promise.all(stores.map((store) => store.close()))
      for (const each of await settled) {
        if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'STORE_CLOSED' })
      }
    }
    expect(damageOf(path)).toBeUndefined()
  })

  it('is not cut off by a process that leaves: no signal, and a sound file', async () => {
    const ways = ['exit', 'throw', 'nothing'] as const
    const flags = [[], ['--stress-scavenge=20', '--gc-interval=500'], ['--stress-compaction']]
    for (let n = 0; n < scaled(3, 300); n += 1) {
      const path = ownFile()
      const how = ways[n % ways.length] as (typeof ways)[number]
      const host = startHostWith(flags[Math.floor(n / ways.length) % flags.length] ?? [], 'leave', path, how)
      host.child.stderr.unpipe(process.stderr)
      await rest(host)
      expect(await host.ended, `left by ${how}`).toBe(how === 'throw' ? 1 : 0)
      expect(host.lines, `left by ${how}`).toEqual(['closed'])
      expect(damageOf(path)).toBeUndefined()
      const store = await openSqliteStore({ path })
      expect((await store.find({ order: 'oldest', limit: 1 })).jobs.length).toBe(1)
      await store.close()
    }
  })
})
