/** S6: events come back as they were written, and folding them gives the record. */
import type { Event } from '../../core/event.ts'
import { type Job, STATES, type State } from '../../core/job.ts'
import type { EventQuery } from '../store.ts'
import type { Scene } from './conformance.ts'
import { holds, same } from './holds.ts'
import { SPECIMENS, type Specimen } from './specimens.ts'
import type { Stage } from './stage.ts'

export const events: readonly Scene[] = [
  ...STATES.map(asWritten),
  {
    name: 'a log is read in pages, after a revision',
    async play(stage) {
      const { job, log } = await longLife(stage)
      const read: Event[] = []
      for (let afterRev = 0; ; ) {
        const page = await stage.store.events({ by: 'job', id: job.id, afterRev, limit: 2 })
        if (page.events.length === 0) break
        holds(page.events.length <= 2, 'no page is longer than asked for')
        read.push(...page.events)
        afterRev = page.events.at(-1)?.rev ?? 0
      }
      same(read, log, 'page by page it is the whole log')
      same(
        (await stage.store.events({ by: 'job', id: stage.id(), afterRev: 0, limit: 9 })).events,
        [],
        'of nobody, none',
      )
    },
  },
  {
    name: 'the events of one request are loaded with the job',
    async play(stage) {
      const { job, log } = await longLife(stage)
      const requests = [...new Set(log.map(({ requestId }) => requestId))]
      const { items } = await stage.store.load([...requests, 'never'].map((requestId) => ({ id: job.id, requestId })))
      const expected = requests.map((requestId) => log.filter((event) => event.requestId === requestId))
      same(
        items.map((item) => item?.caused),
        [...expected, []],
        'each request has the events it caused',
      )
    },
  },
  {
    name: 'by type and time: half open, oldest first, page by page, tenant by tenant',
    async play(stage) {
      const t = stage.begin - 100_000
      const jobs = await stage.insert(...[0, 1, 2, 3, 4, 5].map((i) => ({ at: t + i * 10 })))
      await stage.insertOne({ at: t + 20, tenant: `${stage.tenant}-other` })
      for (const [i, job] of jobs.entries()) await stage.say(job, { type: 'cancel', mode: 'hard' }, t + 100 + i * 10)
      const ask = { by: 'type', tenant: stage.tenant, limit: 2 } as const
      const enqueued = await all(stage, { ...ask, types: ['enqueued'], from: t + 10, to: t + 40 })
      same(
        enqueued.map(({ jobId }) => jobId),
        jobs.slice(1, 4).map(({ id }) => id),
        'from <= at < to',
      )
      const both = await all(stage, { ...ask, types: ['cancelled', 'enqueued'], from: t, to: t + 1_000 })
      same(both.length, 12, 'several types at once')
      holds(
        both.every((event, i) => i === 0 || event.at >= (both[i - 1] as Event).at),
        'oldest first',
      )
      const everybody = await all(stage, { by: 'type', types: ['enqueued'], from: t, to: t + 60, limit: 3 })
      holds(everybody.length >= 7, 'without a tenant, of all tenants')
      same(await all(stage, { ...ask, types: ['succeeded'], from: t, to: t + 1_000 }), [], 'none of a type nobody had')
      same(await all(stage, { ...ask, types: [], from: t, to: t + 1_000 }), [], 'no type, no event')
    },
  },
  {
    name: 'by correlation, over all the jobs that share it',
    async play(stage) {
      const correlationId = `${stage.tenant}-correlation`
      const [a, b] = await stage.insert({ correlationId }, { correlationId }, {})
      const c = await stage.insertOne({})
      await stage.say(a as Job, { type: 'cancel', mode: 'hard' }, stage.begin)
      await stage.say(c, { type: 'signal', name: 's', correlationId }, stage.begin)
      const found = await all(stage, { by: 'correlation', tenant: stage.tenant, correlationId, limit: 2 })
      const names = found.map(({ jobId, type }) => `${jobId} ${type}`).toSorted()
      const expected = [`${a?.id} cancelled`, `${a?.id} enqueued`, `${b?.id} enqueued`, `${c.id} signal_stored`]
      same(names, expected.toSorted(), 'every event that carries it')
      const other = { by: 'correlation', tenant: `${stage.tenant}x`, correlationId, limit: 9 } as const
      same(await all(stage, other), [], 'another tenant sees none')
    },
  },
]

/** Every way into a state, told by its log. */
function asWritten(state: State): Scene {
  return {
    name: `of a job that is ${state}, the log is what was written, and folds`,
    async play(stage) {
      const one = async (specimen: Specimen) => {
        let at = stage.begin - 3_600_000
        const draft = stage.draft({ ...specimen.options, at })
        await stage.store.insert([draft])
        const written: Event[] = [draft.event]
        let { job } = draft
        for (const { afterMs, say } of specimen.steps) {
          at += afterMs
          const change = stage.change(job, say(job), at)
          job = await stage.apply(change)
          written.push(...change.events)
        }
        const read = await stage.events(job.id)
        same(read.filter(notBeat), written.filter(notBeat), `${specimen.name}: as it was written`)
        same(read.at(-1)?.rev, job.rev, `${specimen.name}: to the last revision`)
        await stage.expectRecord(job, `${specimen.name}: the record is what core made of it`)
        await stage.expectFolds(job.id)
      }
      await Promise.all(SPECIMENS[state].map(one))
    },
  }
}

/** Heartbeats of an attempt may be kept as one. */
const notBeat = ({ type }: Event): boolean => type !== 'heartbeat'

async function longLife(stage: Stage): Promise<{ readonly job: Job; readonly log: readonly Event[] }> {
  let job = await stage.insertOne()
  for (const name of ['a', 'b', 'c', 'd']) job = await stage.say(job, { type: 'signal', name })
  job = await stage.say(job, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' })
  job = await stage.say(job, { type: 'complete', fence: job.lease?.fence ?? '' })
  const log = await stage.events(job.id)
  same(log.length, 8, 'one event each, and two for the implicit start')
  return { job, log }
}

async function all(
  stage: Stage,
  query: Extract<EventQuery, { by: 'type' | 'correlation' }>,
): Promise<readonly Event[]> {
  const found: Event[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await stage.store.events({ ...query, cursor })
    holds(page.events.length <= query.limit, 'no page is longer than asked for')
    found.push(...page.events)
    if (page.cursor === undefined) return found
    cursor = page.cursor
  }
  throw new Error('a cursor that never ends')
}
