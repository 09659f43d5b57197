/** What of a search no index answers: whether a record is like that. */
import { causeOf } from '../core/cause.ts'
import { type Job, type JobId, type State, TERMINAL_STATES, type Time } from '../core/job.ts'
import { type FieldName, isSifted, type Mark, matches, numbersIn, type Term, timesIn } from '../core/search.ts'
import { statesBefore } from '../core/transitions.ts'
import type { Engine } from './engine.ts'
import { Queues } from './queues.ts'
import { SCHEDULE_LABEL } from './schedules.ts'

/** Those among some that are like that: together, since what holds them is one question for all. */
export type Sift = (jobs: readonly Job[]) => Promise<readonly Job[]>

export type Asked = Pick<Engine, 'events' | 'settings' | 'now' | 'whatHolds'>

interface Around {
  readonly now: number
  /** Asked for only where somebody asks. */
  readonly paused: ReadonlySet<string>
  readonly held: { has(id: JobId): boolean }
}

/** Undefined where nothing of that sort is asked. */
export async function sifting(
  all: readonly Term[],
  engine: Asked,
  tenant: string,
  at: Time,
): Promise<Sift | undefined> {
  const terms = all.filter(({ field }) => isSifted(field))
  if (terms.length === 0) return undefined
  const asksFor = (mark: Mark) => terms.some(({ field, values }) => field === 'is' && values.includes(mark))
  const paused = asksFor('paused') ? await pausedQueues(engine, tenant) : NONE
  const asksForHeld = asksFor('held')
  return async (jobs) => {
    const held = asksForHeld ? await engine.whatHolds(jobs) : NONE
    const around = { now: at, paused, held }
    return jobs.filter((job) => terms.every((term) => isLike(job, term, around) !== term.not))
  }
}

/** In which states alone a job can be like that; undefined where in any. Indexes go by states, and need not look at the others. */
export function statesImplied(terms: readonly Term[]): readonly State[] | undefined {
  const implied = terms.flatMap(({ field, values, not }) => {
    if (not) return []
    if (field === 'ended') return [TERMINAL_STATES]
    return field === 'due' || (field === 'is' && values.every((mark) => FOR_A_WORKER.has(mark))) ? [CLAIMABLE] : []
  })
  const [first, ...rest] = implied as readonly (readonly State[])[]
  return first?.filter((state) => rest.every((states) => states.includes(state)))
}

/** Only in these a job has a time from which a worker may have it. */
const CLAIMABLE = statesBefore('claim')
const FOR_A_WORKER: ReadonlySet<string> = new Set<Mark>(['held', 'paused'])

const NONE: ReadonlySet<string> = new Set()

async function pausedQueues(engine: Asked, tenant: string): Promise<ReadonlySet<string>> {
  const { tally } = await engine.events({ by: 'tally', tenant })
  const pauses = await new Queues(engine).pausesAmong(tenant, [...new Set(tally.map(({ queue }) => queue))])
  return new Set(pauses.keys())
}

function isLike(job: Job, { field, values }: Term, around: Around): boolean {
  const names = NAMES[field as FieldName]
  if (names !== undefined) {
    const own = names(job, around)
    return values.some((pattern) => own.some((name) => name !== undefined && matches(pattern, name)))
  }
  const [value = ''] = values
  const number = NUMBERS[field as FieldName]
  if (number !== undefined) return isWithin(number(job), numbersIn(value))
  const time = TIMES[field as FieldName]
  return isWithin(time?.(job), field === 'due' ? ahead(value, around.now) : timesIn(value, around.now))
}

const isWithin = (
  n: number | undefined,
  bounds: { readonly from?: number; readonly to?: number } | undefined,
): boolean =>
  n !== undefined &&
  bounds !== undefined &&
  n >= (bounds.from ?? Number.NEGATIVE_INFINITY) &&
  n <= (bounds.to ?? Number.POSITIVE_INFINITY)

/** What is to come is looked at the other way round: less than an hour is before that hour is over. */
function ahead(value: string, now: number): ReturnType<typeof timesIn> {
  const { from, to } = timesIn(value, 0) ?? {}
  if (value.startsWith('<')) return { to: now - (from ?? 0) }
  return value.startsWith('>') ? { from: now - (to ?? 0) } : timesIn(value, now)
}

type Names = (job: Job, around: Around) => readonly (string | undefined)[]

const NAMES: Readonly<Partial<Record<FieldName, Names>>> = {
  class: ({ lastFailure }) => [lastFailure?.class],
  reason: ({ deadLetter }) => [deadLetter?.reason],
  cause: (job) => [causeOf(job)?.fingerprint],
  worker: ({ owner, lastClaim }) => [owner?.workerId ?? lastClaim?.owner.workerId],
  key: ({ spec }) => spec.flow?.keys ?? [],
  dialect: ({ spec }) => [spec.kind.policy.dialect],
  is: marksOf,
}

const NUMBERS: Readonly<Partial<Record<FieldName, (job: Job) => number>>> = {
  priority: ({ priority }) => priority,
  failures: ({ failures }) => failures,
  runs: ({ attempt }) => attempt,
}

const TIMES: Readonly<Partial<Record<FieldName, (job: Job) => number | undefined>>> = {
  updated: ({ updatedAt }) => updatedAt,
  ended: ({ endedAt }) => endedAt,
  due: ({ readyAt }) => readyAt,
}

function marksOf(
  { id, readyAt, spec, phase, cancel }: Job,
  { paused, held, now }: Around,
): readonly (Mark | undefined)[] {
  return [
    // One that is not due yet waits for its time, and for nobody else.
    readyAt !== undefined && readyAt <= now && held.has(id) ? 'held' : undefined,
    // What no worker could claim anyway does not wait for its queue.
    readyAt !== undefined && paused.has(spec.kind.queue) ? 'paused' : undefined,
    phase === 'compensate' ? 'compensating' : undefined,
    cancel === undefined ? undefined : 'cancelling',
    spec.labels?.[SCHEDULE_LABEL] === undefined ? undefined : 'schedule',
  ]
}
