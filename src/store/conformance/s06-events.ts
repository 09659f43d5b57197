/** S6: events come back as they were written, and folding them gives the record. */
import type { Event } from '../../core/event.ts'
import { type Job, STATES, type State } from '../../core/job.ts'
import type { EventQuery } from '../store.ts'
import type { Check } from './conformance.ts'
import { holds, same } from './holds.ts'
import { growAll, SPECIMENS, type Specimen } from './specimens.ts'
import type { StoreFixture } from './store-fixture.ts'

export const events: readonly Check[] = [
  {
    name: 'a record comes with its whole log where that is asked for, unless it is longer than wanted',
    async run(fixture) {
      const jobs = await growAll(fixture)
      const { items } = await fixture.store.load(jobs.map(({ id }) => ({ id, log: 100 })))
      for (const [i, { id }] of jobs.entries()) {
        same(items[i]?.log, await fixture.events(id), `the log of a job that is ${jobs[i]?.state}`)
      }
      const [longest] = jobs.toSorted((a, b) => b.rev - a.rev)
      const id = longest?.id ?? ''
      const { length } = await fixture.events(id)
      const some = await fixture.store.load([
        { id, log: length - 1 },
        { id, log: length },
        { id },
        { id: fixture.id(), log: 9 },
      ])
      same(
        some.items.map((item) => item?.log?.length),
        [undefined, length, undefined, undefined],
        'whole, or not at all',
      )
    },
  },
  ...STATES.map(asWritten),
  {
    name: 'a log is read in pages, after a revision',
    async run(fixture) {
      const { job, log } = await longLife(fixture)
      const read: Event[] = []
      for (let afterRev = 0; ; ) {
        const page = await fixture.store.events({ by: 'job', id: job.id, afterRev, limit: 2 })
        if (page.events.length === 0) break
        holds(page.events.length <= 2, 'no page is longer than asked for')
        read.push(...page.events)
        afterRev = page.events.at(-1)?.rev ?? 0
      }
      same(read, log, 'page by page it is the whole log')
      same(
        (await fixture.store.events({ by: 'job', id: fixture.id(), afterRev: 0, limit: 9 })).events,
        [],
        'of nobody, none',
      )
    },
  },
  {
    name: 'a log is the same in pages of any size, and from any revision on, whatever its job is up to',
    async run(fixture) {
      for (const { job, log } of [await longLife(fixture), await eventfulLife(fixture), await ownedLife(fixture)]) {
        for (const limit of [1, 2, 3, 5]) same(await fixture.events(job.id, limit), log, `${limit} at a time`)
        for (const { rev } of log) {
          const { events: later } = await fixture.store.events({ by: 'job', id: job.id, afterRev: rev, limit: 100 })
          same(
            later,
            log.filter((event) => event.rev > rev),
            `after revision ${rev}`,
          )
        }
      }
    },
  },
  {
    name: 'the events of one request are loaded with the job, whoever made it and however long ago',
    async run(fixture) {
      for (const { job, log } of [await longLife(fixture), await eventfulLife(fixture), await ownedLife(fixture)]) {
        const requests = [...new Set(log.map(({ requestId }) => requestId))]
        const { items } = await fixture.store.load(
          [...requests, 'never'].map((requestId) => ({ id: job.id, requestId })),
        )
        const expected = requests.map((requestId) => log.filter((event) => event.requestId === requestId))
        same(
          items.map((item) => item?.caused),
          [...expected, []],
          'each request has the events it caused',
        )
      }
    },
  },
  {
    name: 'by type and time: half open, oldest first, page by page, tenant by tenant',
    async run(fixture) {
      const t = fixture.begin - 100_000
      const jobs = await fixture.insert(...[0, 1, 2, 3, 4, 5].map((i) => ({ at: t + i * 10 })))
      await fixture.insertOne({ at: t + 20, tenant: `${fixture.tenant}-other` })
      for (const [i, job] of jobs.entries()) await fixture.say(job, { type: 'cancel', mode: 'hard' }, t + 100 + i * 10)
      const ask = { by: 'type', tenant: fixture.tenant, limit: 2 } as const
      const enqueued = await all(fixture, { ...ask, types: ['enqueued'], from: t + 10, to: t + 40 })
      same(
        enqueued.map(({ jobId }) => jobId),
        jobs.slice(1, 4).map(({ id }) => id),
        'from <= at < to',
      )
      const both = await all(fixture, { ...ask, types: ['cancelled', 'enqueued'], from: t, to: t + 1_000 })
      same(both.length, 12, 'several types at once')
      holds(
        both.every((event, i) => i === 0 || event.at >= (both[i - 1] as Event).at),
        'oldest first',
      )
      const everybody = await all(fixture, { by: 'type', types: ['enqueued'], from: t, to: t + 60, limit: 3 })
      holds(everybody.length >= 7, 'without a tenant, of all tenants')
      same(
        await all(fixture, { ...ask, types: ['succeeded'], from: t, to: t + 1_000 }),
        [],
        'none of a type nobody had',
      )
      same(await all(fixture, { ...ask, types: [], from: t, to: t + 1_000 }), [], 'no type, no event')
    },
  },
  {
    name: 'by correlation, over all the jobs that share it',
    async run(fixture) {
      const correlationId = `${fixture.tenant}-correlation`
      const [a, b] = await fixture.insert({ correlationId }, { correlationId }, {})
      const c = await fixture.insertOne({})
      await fixture.say(a as Job, { type: 'cancel', mode: 'hard' }, fixture.begin)
      await fixture.say(c, { type: 'signal', name: 's', correlationId }, fixture.begin)
      const expected = [`${a?.id} enqueued`, `${a?.id} cancelled`, `${b?.id} enqueued`, `${c.id} signal_stored`]
      for (const limit of [1, 2, 3, 9]) {
        const found = await all(fixture, { by: 'correlation', tenant: fixture.tenant, correlationId, limit })
        same(found.map(nameOf), expected, `every event that carries it, job by job, ${limit} at a time`)
      }
      const stranger = { by: 'correlation', tenant: `${fixture.tenant}x`, correlationId, limit: 9 } as const
      same(await all(fixture, stranger), [], 'another tenant sees none')
      const theirs = await fixture.insertOne({ correlationId, tenant: `${fixture.tenant}x` })
      same((await all(fixture, stranger)).map(nameOf), [`${theirs.id} enqueued`], 'but its own')
      const everybody = await all(fixture, { by: 'correlation', correlationId, limit: 2 })
      same(everybody.map(nameOf), [...expected, `${theirs.id} enqueued`], 'without a tenant, of all tenants')
    },
  },
  {
    name: 'by correlation, where it is a job’s own id, and in a log that is longer than a page',
    async run(fixture) {
      const id = fixture.id()
      const draft = fixture.draft({ correlationId: id, queue: 'own' }, id)
      await fixture.store.insert([draft])
      let job = await fixture.say(draft.job, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' })
      const fence = job.lease?.fence ?? ''
      job = await fixture.say(job, { type: 'start', fence })
      for (let n = 0; n < 60; n += 1) job = await fixture.say(job, { type: 'progress', fence, counters: { n: 1 } })
      const log = await fixture.events(id)
      same(log.length, 63, 'one event each')
      const query = { by: 'correlation', tenant: fixture.tenant, correlationId: id } as const
      for (const limit of [7, 100]) same(await all(fixture, { ...query, limit }), log, `${limit} at a time`)
    },
  },
]

/** Every way into a state, told by its log. */
function asWritten(state: State): Check {
  return {
    name: `of a job that is ${state}, the log is what was written, and folds`,
    async run(fixture) {
      const one = async (specimen: Specimen) => {
        let at = fixture.begin - 3_600_000
        const draft = fixture.draft({ ...specimen.options, at })
        await fixture.store.insert([draft])
        const written: Event[] = [draft.event]
        let { job } = draft
        for (const { afterMs, say } of specimen.steps) {
          at += afterMs
          const change = fixture.change(job, say(job), at)
          job = await fixture.apply(change)
          written.push(...change.events)
        }
        const read = await fixture.events(job.id)
        same(read.filter(notBeat), written.filter(notBeat), `${specimen.name}: as it was written`)
        same(read.at(-1)?.rev, job.rev, `${specimen.name}: to the last revision`)
        await fixture.expectRecord(job, `${specimen.name}: the record is what core made of it`)
        await fixture.expectFolds(job.id)
      }
      await Promise.all(SPECIMENS[state].map(one))
    },
  }
}

/** Heartbeats of an attempt may be kept as one. */
const notBeat = ({ type }: Event): boolean => type !== 'heartbeat'

async function longLife(fixture: StoreFixture): Promise<{ readonly job: Job; readonly log: readonly Event[] }> {
  let job = await fixture.insertOne()
  for (const name of ['a', 'b', 'c', 'd']) job = await fixture.say(job, { type: 'signal', name })
  job = await fixture.say(job, { type: 'claim', workerId: 'w', nonce: '00000000000000aa' })
  job = await fixture.say(job, { type: 'complete', fence: job.lease?.fence ?? '' })
  const log = await fixture.events(job.id)
  same(log.length, 8, 'one event each, and two for the implicit start')
  return { job, log }
}

const nameOf = ({ jobId, type }: Event): string => `${jobId} ${type}`

interface Life {
  readonly job: Job
  readonly log: readonly Event[]
}

/** Claimed and kept by the store itself, failed, tried again, ended and reopened; the log as the store tells it. */
async function eventfulLife(fixture: StoreFixture): Promise<Life> {
  let job = await fixture.claimed({ queue: 'eventful', policy: { maxAttempts: 3 } })
  job = await beaten(fixture, job, 2)
  const fence = job.lease?.fence ?? ''
  const at = job.updatedAt
  job = await fixture.say(job, { type: 'start', fence }, at)
  for (const n of [1, 2, 3]) job = await fixture.say(job, { type: 'progress', fence, counters: { n } }, at)
  job = await beaten(fixture, job, 1)
  job = await fixture.say(job, { type: 'fail', fence, fault: { code: 'E', message: 'm' } }, job.updatedAt)
  job = await fixture.say(job, { type: 'claim', workerId: 'w2', nonce: '00000000000000ab' }, job.readyAt)
  job = await fixture.say(job, { type: 'cancel', mode: 'hard' }, job.updatedAt)
  job = await fixture.say(job, { type: 'reopen' }, job.updatedAt)
  job = await fixture.say(job, { type: 'claim', workerId: 'w3', nonce: '00000000000000ac' }, job.updatedAt)
  job = await fixture.say(job, { type: 'complete', fence: job.lease?.fence ?? '' }, job.updatedAt)
  return { job, log: await folded(fixture, job) }
}

/** In the hands of a worker: the claim and the heartbeats are on its lease. */
async function ownedLife(fixture: StoreFixture): Promise<Life> {
  const job = await beaten(fixture, await fixture.claimed({ queue: 'owned' }), 3)
  return { job, log: await folded(fixture, job) }
}

async function folded(fixture: StoreFixture, job: Job): Promise<readonly Event[]> {
  await fixture.expectFolds(job.id)
  const log = await fixture.events(job.id)
  same(log.at(-1)?.rev, job.rev, 'to the last revision')
  return log
}

async function beaten(fixture: StoreFixture, job: Job, times: number): Promise<Job> {
  for (let n = 0; n < times; n += 1) {
    const beat = { id: job.id, fence: job.lease?.fence ?? '', requestId: fixture.requestId() }
    same((await fixture.store.heartbeat([beat])).items[0]?.status, 'renewed', 'it beats')
  }
  return fixture.record(job.id)
}

async function all(
  fixture: StoreFixture,
  query: Extract<EventQuery, { by: 'type' | 'correlation' }>,
): Promise<readonly Event[]> {
  const found: Event[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < 1_000; pages += 1) {
    const page = await fixture.store.events({ ...query, cursor })
    holds(page.events.length <= query.limit, 'no page is longer than asked for')
    found.push(...page.events)
    if (page.cursor === undefined) return found
    cursor = page.cursor
  }
  throw new Error('a cursor that never ends')
}
