import type { Event } from '../core/event.ts'
import { derive, evolve } from '../core/evolve.ts'
import { type InvariantName, recordBreaches, stepBreaches } from '../core/invariants.ts'
import { isEnded, isTerminal, type Job, type JobId, LIVE_STATES } from '../core/job.ts'
import { keyOf } from '../core/keys.ts'
import type { JobPage, JobQuery } from '../store/store.ts'
import { differences } from './difference.ts'
import type { Engine } from './engine.ts'
import { logOf } from './log-of.ts'

/** A place where what is stored is not what it must be. */
export interface Discrepancy {
  readonly job: JobId | undefined
  readonly about: 'record' | 'log' | 'key' | 'count' | 'unreadable'
  readonly invariant: InvariantName | undefined
  readonly what: string
}

export interface Verification {
  readonly jobs: number
  readonly events: number
  readonly discrepancies: readonly Discrepancy[]
}

export type VerifyFilter = Omit<JobQuery, 'order' | 'limit' | 'cursor'>

const PAGE = 200

/**
 * Folds every log and compares it with its record; checks each step and each record against the invariants, that
 * aliases lead home and dedupe keys have one live holder; and, where everything was looked at and nothing moved
 * meanwhile, that the counters agree. Names every difference, changes nothing.
 */
export async function verify(
  engine: Engine,
  filter: VerifyFilter = {},
  looked: (jobs: number) => void = () => {},
): Promise<Verification> {
  const found: Discrepancy[] = []
  const counts = new Map<string, number>()
  const liveKeys = new Map<string, JobId>()
  const live = new Map<JobId, number>()
  let jobs = 0
  let events = 0
  const tallied = await tally(engine)
  let cursor: string | undefined
  do {
    const page = await engine.find({ ...filter, order: 'oldest', limit: PAGE, cursor }).catch((error: unknown) => error)
    if (page instanceof Error || typeof page !== 'object' || page === null || !('jobs' in page)) {
      found.push(unreadable(undefined, page))
      break
    }
    const { jobs: records, cursor: next } = page as Awaited<ReturnType<Engine['find']>>
    for (const job of records) {
      jobs += 1
      count(counts, job)
      found.push(...sharedKey(liveKeys, job))
      if (!isEnded(job)) live.set(job.id, job.rev)
    }
    for (const one of await Promise.all(records.map((job) => verifyOne(engine, job)))) {
      events += one.events
      found.push(...one.discrepancies)
    }
    cursor = next
    looked(jobs)
  } while (cursor !== undefined)
  const whole = Object.values(filter).every((value) => value === undefined)
  found.push(...(await misplaced(engine, filter, live)))
  if (whole) found.push(...(await miscounted(engine, tallied, counts)))
  return { jobs, events, discrepancies: found }
}

/** One job: its log, its record, its alias. */
export async function verifyOne(engine: Engine, job: Job): Promise<Verification> {
  const found: Discrepancy[] = []
  const events = await verifyJob(engine, job, found)
  return {
    jobs: 1,
    events,
    discrepancies: [...found, ...(await strayAlias(engine, job)), ...(await strayKey(engine, job.id))],
  }
}

async function verifyJob(engine: Engine, job: Job, found: Discrepancy[]): Promise<number> {
  const tell = (about: Discrepancy['about'], invariant: InvariantName | undefined, what: string) =>
    found.push({ job: job.id, about, invariant, what })
  try {
    const seen = await still(engine, job.id)
    if (seen === undefined) return 0
    const { record, log } = seen
    for (const { invariant, what } of recordBreaches(record)) tell('record', invariant, what)
    if (log.length === 0) tell('log', 'I3', 'there is no log')
    else {
      walk(log, tell)
      for (const what of differences(derive(log), record)) tell('record', 'I3', `log and record differ at ${what}`)
    }
    return log.length
  } catch (error) {
    found.push(unreadable(job.id, error))
    return 0
  }
}

const LOOKS = 10

/** A record and its log of the same moment; undefined where the job is gone, or never stands still long enough. */
async function still(engine: Engine, id: JobId): Promise<{ record: Job; log: readonly Event[] } | undefined> {
  for (let n = 0; n < LOOKS; n += 1) {
    const [before] = (await engine.load([{ id }])).items
    const log = await logOf(engine, id)
    const [after] = (await engine.load([{ id }])).items
    if (before === undefined || after === undefined) return undefined
    if (before.job.rev === after.job.rev) return { record: after.job, log }
  }
  return undefined
}

function walk(events: readonly Event[], tell: (about: 'log', invariant: InvariantName, what: string) => void): void {
  // One compacted event stands for others all over the log: then the revisions add up, but do not follow each other.
  const compacted = events.some(({ type }) => type === 'compacted')
  let before: Job | undefined
  let revs = 0
  for (const event of events) {
    revs += event.type === 'heartbeat' || event.type === 'compacted' ? event.payload.count : 1
    const after = evolve(before, event)
    for (const { invariant, what } of stepBreaches(before, event, after)) {
      if (invariant !== 'I7' || !compacted) tell('log', invariant, `rev ${event.rev}: ${what}`)
    }
    before = after
  }
  const last = events.at(-1)?.rev ?? 0
  if (revs !== last) tell('log', 'I7', `the log has ${revs} revisions and ends at rev ${last}`)
}

function sharedKey(liveKeys: Map<string, JobId>, job: Job): readonly Discrepancy[] {
  const { kind, dedupeKey } = job.spec
  // A key that is held for a window outlives its job, or the other way round: then there may be another.
  if (dedupeKey === undefined || isEnded(job) || typeof kind.policy.dedupe === 'number') return []
  const name = JSON.stringify([kind.tenant, kind.type, dedupeKey])
  const other = liveKeys.get(name)
  liveKeys.set(name, job.id)
  const what = `dedupe key ${dedupeKey} is also that of live job ${other}`
  return other === undefined ? [] : [{ job: job.id, about: 'key', invariant: 'I12', what }]
}

/** A key that is held for a life must lead to the job that lives, and to no job that has ended. */
async function strayKey(engine: Engine, id: JobId): Promise<readonly Discrepancy[]> {
  for (let n = 0; n < LOOKS; n += 1) {
    const [before] = (await engine.load([{ id }])).items
    const key = before && keyOf(before.job)
    if (before === undefined || key === undefined || before.job.spec.kind.policy.dedupe !== 'live') return []
    const { job } = before
    const [there] = (await engine.load([{ id: key.key, key: 'dedupe', tenant: job.spec.kind.tenant }])).items
    if ((there?.job.id === id) === !isEnded(job)) return []
    const [after] = (await engine.load([{ id }])).items
    if (after?.job.rev !== job.rev) continue
    const what = isEnded(job)
      ? `dedupe key ${job.spec.dedupeKey} is still held although the job has ended`
      : `dedupe key ${job.spec.dedupeKey} is held by ${there?.job.id ?? 'nobody'}`
    return [{ job: id, about: 'key', invariant: 'I12', what }]
  }
  return []
}

async function strayAlias(engine: Engine, { id, spec }: Job): Promise<readonly Discrepancy[]> {
  if (spec.alias === undefined) return []
  const [there] = (await engine.load([{ id: spec.alias, tenant: spec.kind.tenant }])).items
  if (there?.job.id === id) return []
  const what = `alias ${spec.alias} leads to ${there?.job.id ?? 'nothing'}`
  return [{ job: id, about: 'key', invariant: undefined, what }]
}

/**
 * A live job must also be found by its state: that is how it is found by those who run it. `live`: what was found, at
 * which revision. One that has moved since is somebody's business, not a discrepancy.
 */
async function misplaced(engine: Engine, filter: VerifyFilter, live: ReadonlyMap<JobId, number>) {
  if (live.size === 0) return []
  const lost = new Map(live)
  const states = (filter.states ?? LIVE_STATES).filter((state) => !isTerminal(state))
  let cursor: string | undefined
  do {
    const page: JobPage = await engine.find({ ...filter, states, order: 'oldest', limit: PAGE, cursor })
    for (const { id } of page.jobs) lost.delete(id)
    cursor = page.cursor
  } while (cursor !== undefined)
  const { items } = await engine.load([...lost.keys()].map((id) => ({ id })))
  return items.flatMap((item): readonly Discrepancy[] => {
    if (item === undefined || item.job.rev !== lost.get(item.job.id)) return []
    const { id, state } = item.job
    const what = `it is ${state}, and not where ${state} jobs are kept: nobody will find it there`
    return [{ job: id, about: 'record', invariant: 'I9', what }]
  })
}

interface Tallied {
  readonly counts: ReadonlyMap<string, number>
  readonly position: string | undefined
}

async function tally(engine: Engine): Promise<Tallied> {
  const page = await engine.events({ by: 'tally' })
  const counts = new Map<string, number>()
  for (const { tenant, queue, jobType, state, count } of page.tally) {
    if (count !== 0) counts.set(JSON.stringify([tenant, queue, jobType, state]), count)
  }
  return { counts, position: page.cursor }
}

async function miscounted(engine: Engine, before: Tallied, counted: ReadonlyMap<string, number>) {
  const after = await tally(engine)
  if (after.position !== before.position) return []
  return differences(Object.fromEntries(after.counts), Object.fromEntries(counted)).map(
    (what): Discrepancy => ({
      job: undefined,
      about: 'count',
      invariant: 'I9',
      what: `counted and found differ at ${what}`,
    }),
  )
}

function count(counts: Map<string, number>, { spec, state }: Job): void {
  const { tenant, queue, type } = spec.kind
  const name = JSON.stringify([tenant, queue, type, state])
  counts.set(name, (counts.get(name) ?? 0) + 1)
}

const unreadable = (job: JobId | undefined, error: unknown): Discrepancy => ({
  job,
  about: 'unreadable',
  invariant: undefined,
  what: error instanceof Error ? error.message : String(error),
})
