/** S1: an answered write is durable. */
import type { Store } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import { growAll } from './specimens.ts'
import type { Stage } from './stage.ts'

export const durable: readonly Scene[] = [
  {
    name: 'records, events, bodies, keys, settings and the feed are there after reopening',
    needs: 'reopen',
    fresh: true,
    async play(stage) {
      const ids = (await growAll(stage)).map(({ id }) => id)
      const keyed = await stage.insertOne({ alias: 'mine', input: '"in"', keys: [DEDUPE], queue: 'keyed' })
      const { jobs } = await stage.claim({ queue: 'keyed', limit: 1 })
      const fence = (await stage.record(keyed.id)).lease?.fence ?? ''
      await stage.store.heartbeat([{ id: keyed.id, fence, requestId: stage.requestId() }])
      const text = '{"paused":false}'
      await stage.store.settings([{ op: 'put', collection: 'worker', key: stage.tenant, text, rev: 0 }])
      same(jobs.length, 1, 'the keyed job is claimed')
      const before = await picture(stage, stage.store, [...ids, keyed.id])
      const { items } = await stage.feed()

      const store = await stage.seat.reopen?.()
      holds(store !== undefined, 'the seat reopens the store')
      same(await picture(stage, store, [...ids, keyed.id]), before, 'what was answered is there after reopening')
      same((await stage.feed('', store)).items, items, 'the feed shows the same in the same order')
      const again = stage.draft({ alias: 'mine' })
      const other = stage.draft({ keys: [DEDUPE] })
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
async function picture(stage: Stage, store: Store, ids: readonly string[]): Promise<unknown> {
  const { items } = await store.load(ids.map((id) => ({ id, bodies: ['input', 'step/'] })))
  const logs: unknown[] = []
  for (const id of ids) logs.push((await store.events({ by: 'job', id, afterRev: 0, limit: 1_000 })).events)
  const [settings] = await store.settings([{ op: 'get', collection: 'worker', key: stage.tenant }])
  return { items, logs, settings: settings?.settings }
}
