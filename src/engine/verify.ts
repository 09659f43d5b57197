import { isEnded, isTerminal, type Job, type JobId, LIVE_STATES } from '../core/job.ts'
import { askedOf } from '../core/recast.ts'
import type { JobPage, JobQuery } from '../store/store.ts'
import { differences } from './difference.ts'
import { type Discrepancy, unreadable, type Verification } from './discrepancy.ts'
import type { Engine } from './engine.ts'
import { verifyFlows } from './verify-flows.ts'
import { verifyJobs } from './verify-jobs.ts'
import { verifyKeys } from './verify-keys.ts'
import { verifySlots } from './verify-slots.ts'
import { KeyUses, tooMuch } from './verify-uses.ts'

export type VerifyFilter = Omit<JobQuery, 'order' | 'limit' | 'cursor'>

const PAGE = 200

/**
 * Folds every log and compares it with its record; checks each step and each record against the invariants, that texts are
 * what was written, aliases lead home and dedupe keys have one live holder; that keys are what their changes come to, and count all
 * that logs say; that somebody will look at every flow that holds jobs; and, where everything was looked at and nothing moved
 * meanwhile, that the counters agree. Over HTTP nobody can tell whether something moved: there the counters are not held
 * against anything. Names every difference, changes nothing.
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
  /** Whose jobs have flows. */
  const tenants = new Set<string>()
  let jobs = 0
  let events = 0
  const tallied = await tally(engine)
  const uses = await KeyUses.of(engine, tallied.tenants)
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
      if (job.spec.flow !== undefined) tenants.add(job.spec.kind.tenant)
      found.push(...sharedKey(liveKeys, job))
      if (!isEnded(job)) live.set(job.id, job.rev)
    }
    const some = await verifyJobs(
      engine,
      records.map(({ id }) => id),
      (record, log) => uses.note(record, log),
    )
    events += some.events
    found.push(...some.discrepancies)
    cursor = next
    looked(jobs)
  } while (cursor !== undefined)
  const whole = Object.values(filter).every((value) => value === undefined)
  found.push(...(await misplaced(engine, filter, live)))
  const isStill = async () => tallied.position !== undefined && (await tally(engine)).position === tallied.position
  if (whole) found.push(...(await miscounted(engine, tallied, counts)))
  const before = found.length
  for (const tenant of tenants) found.push(...(await verifyKeys(engine, tenant)))
  found.push(...(await uses.discrepancies(engine, tenants)))
  if (whole && (await isStill())) found.push(...(await uses.beyond(engine, tenants, isStill)).map(tooMuch))
  // What the store itself has found is told once.
  if (whole && found.length === before && (await isStill())) {
    // A slot that is lacking is room that nobody was told of: flows are looked at once slots are right.
    const uneven = await verifySlots(engine, tenants)
    const slots = uneven.length > 0 || tenants.size === 0 ? uneven : await verifyFlows(engine)
    if (slots.length > 0 && (await isStill())) found.push(...slots)
  }
  return { jobs, events, discrepancies: found }
}

/** One job: its log, its record, its bodies, its alias. */
export async function verifyOne(engine: Engine, job: Job): Promise<Verification> {
  return { jobs: 1, ...(await verifyJobs(engine, [job.id])) }
}

function sharedKey(liveKeys: Map<string, JobId>, job: Job): readonly Discrepancy[] {
  const { kind, dedupeKey } = askedOf(job)
  // A key that is held for a window outlives its job, or the other way round: then there may be another.
  if (dedupeKey === undefined || isEnded(job) || typeof kind.policy.dedupe === 'number') return []
  const name = JSON.stringify([kind.tenant, kind.type, dedupeKey])
  const other = liveKeys.get(name)
  liveKeys.set(name, job.id)
  const what = `dedupe key ${dedupeKey} is also that of live job ${other}`
  return other === undefined ? [] : [{ job: job.id, about: 'key', invariant: 'I12', what }]
}

/**
 * A live job must also be found by its state: that is how it is found by those who run it. `live`: what was found, at
 * which revision. One that has moved since is no discrepancy.
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
  readonly tenants: ReadonlySet<string>
  readonly counts: ReadonlyMap<string, number>
  readonly position: string | undefined
}

async function tally(engine: Engine): Promise<Tallied> {
  const page = await engine.events({ by: 'tally' })
  const counts = new Map<string, number>()
  const tenants = new Set(page.tally.map(({ tenant }) => tenant))
  for (const { tenant, queue, jobType, state, count } of page.tally) {
    if (count !== 0) counts.set(JSON.stringify([tenant, queue, jobType, state]), count)
  }
  return { tenants, counts, position: page.cursor }
}

async function miscounted(engine: Engine, before: Tallied, counted: ReadonlyMap<string, number>) {
  const after = await tally(engine)
  if (after.position === undefined || after.position !== before.position) return []
  return differences(Object.fromEntries(after.counts), Object.fromEntries(counted)).map(
    (what): Discrepancy => ({
      job: undefined,
      about: 'count',
      invariant: 'I9',
      what: `counted and found differ at ${what}`,
    }),
  )
}

function count(counts: Map<string, number>, job: Job): void {
  const { tenant, queue, type } = askedOf(job).kind
  const name = JSON.stringify([tenant, queue, type, job.state])
  counts.set(name, (counts.get(name) ?? 0) + 1)
}
