import type { Event } from '../core/event.ts'
import { derive, evolve } from '../core/evolve.ts'
import { type InvariantName, recordBreaches, stepBreaches } from '../core/invariants.ts'
import { isEnded, type Job, type JobId } from '../core/job.ts'
import type { JobQuery } from '../store/store.ts'
import { differences } from './difference.ts'
import type { Engine } from './engine.ts'
import { logOf } from './retention.ts'

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
export async function verify(engine: Engine, filter: VerifyFilter = {}): Promise<Verification> {
  const found: Discrepancy[] = []
  const counts = new Map<string, number>()
  const liveKeys = new Map<string, JobId>()
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
      events += await verifyJob(engine, job, found)
      found.push(...sharedKey(liveKeys, job), ...(await strayAlias(engine, job)))
    }
    cursor = next
  } while (cursor !== undefined)
  const whole = Object.values(filter).every((value) => value === undefined)
  if (whole) found.push(...(await miscounted(engine, tallied, counts)))
  return { jobs, events, discrepancies: found }
}

async function verifyJob(engine: Engine, job: Job, found: Discrepancy[]): Promise<number> {
  const tell = (about: Discrepancy['about'], invariant: InvariantName | undefined, what: string) =>
    found.push({ job: job.id, about, invariant, what })
  for (const { invariant, what } of recordBreaches(job)) tell('record', invariant, what)
  try {
    const events = await logOf(engine, job.id)
    const [now] = (await engine.load([{ id: job.id }])).items
    // Somebody moved it between the two reads: the log is longer than this record, and the next look will tell.
    const record = now?.job ?? job
    const log = events.filter(({ rev }) => rev <= record.rev)
    if (log.length === 0) tell('log', 'I3', 'there is no log')
    else {
      walk(log, tell)
      for (const what of differences(derive(log), record)) tell('record', 'I3', `log and record differ at ${what}`)
    }
    return events.length
  } catch (error) {
    found.push(unreadable(job.id, error))
    return 0
  }
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
  if (dedupeKey === undefined || isEnded(job)) return []
  const name = JSON.stringify([kind.tenant, kind.type, dedupeKey])
  const other = liveKeys.get(name)
  liveKeys.set(name, job.id)
  const what = `dedupe key ${dedupeKey} is also that of live job ${other}`
  return other === undefined ? [] : [{ job: job.id, about: 'key', invariant: 'I12', what }]
}

async function strayAlias(engine: Engine, { id, spec }: Job): Promise<readonly Discrepancy[]> {
  if (spec.alias === undefined) return []
  const [there] = (await engine.load([{ id: spec.alias, tenant: spec.kind.tenant }])).items
  if (there?.job.id === id) return []
  const what = `alias ${spec.alias} leads to ${there?.job.id ?? 'nothing'}`
  return [{ job: id, about: 'key', invariant: undefined, what }]
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
