/** S1: an answered write is durable. */
import type { Store } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { growAll } from './specimens.ts'
import type { StoreFixture } from './store-fixture.ts'

export const durable: readonly Check[] = [
  {
    name: 'records, events, bodies, keys, settings and the feed are there after reopening',
    needs: 'reopen',
    fresh: true,
    async run(fixture) {
      const ids = (await growAll(fixture)).map(({ id }) => id)
      const keyed = await fixture.insertOne({ alias: 'mine', input: '"in"', keys: [DEDUPE], queue: 'keyed' })
      const { jobs } = await fixture.claim({ queue: 'keyed', limit: 1 })
      const fence = (await fixture.record(keyed.id)).lease?.fence ?? ''
      await fixture.store.heartbeat([{ id: keyed.id, fence, requestId: fixture.requestId() }])
      const text = '{"paused":false}'
      await fixture.store.settings([{ op: 'put', collection: 'worker', key: fixture.tenant, text, rev: 0 }])
      same(jobs.length, 1, 'the keyed job is claimed')
      const before = await picture(fixture, fixture.store, [...ids, keyed.id])
      const { items } = await fixture.feed()

      const store = await fixture.setup.reopen?.()
      holds(store !== undefined, 'the setup reopens the store')
      same(await picture(fixture, store, [...ids, keyed.id]), before, 'what was answered is there after reopening')
      same((await fixture.feed('', store)).items, items, 'the feed shows the same in the same order')
      const again = fixture.draft({ alias: 'mine' })
      const other = fixture.draft({ keys: [DEDUPE] })
      const { items: answers } = await store.insert([again, other])
      same(
        answers.map((answer) => (answer.status === 'exists' ? [answer.by, answer.job.id] : answer.status)),
        [
          ['alias', keyed.id],
          ['dedupe', keyed.id],
        ],
        'aliases and keys are still held',
      )
    },
  },
]

const DEDUPE = { purpose: 'dedupe', key: 'once', until: undefined } as const

/** Everything the store says about these jobs, but for its clock. */
async function picture(fixture: StoreFixture, store: Store, ids: readonly string[]): Promise<unknown> {
  const { items } = await store.load(ids.map((id) => ({ id, bodies: ['input', 'step/'] })))
  const logs: unknown[] = []
  for (const id of ids) logs.push((await store.events({ by: 'job', id, afterRev: 0, limit: 1_000 })).events)
  const [settings] = await store.settings([{ op: 'get', collection: 'worker', key: fixture.tenant }])
  return { items, logs, settings: settings?.settings }
}
