/** What of a search no index answers: whether a record is like that. */
import { causeOf } from '../core/cause.ts'
import type { Job, Time } from '../core/job.ts'
import { type FieldName, isSifted, type Mark, matches, numbersIn, type Term, timesIn } from '../core/search.ts'
import type { Engine } from './engine.ts'
import { Queues } from './queues.ts'
import { SCHEDULE_LABEL } from './schedules.ts'

export type Fits = (job: Job) => boolean

interface Around {
  readonly now: number
  /** Asked for only where somebody asks. */
  readonly paused: ReadonlySet<string>
}

/** Undefined where nothing of that sort is asked. */
export async function fitting(
  all: readonly Term[],
  engine: Pick<Engine, 'events' | 'settings' | 'now'>,
  tenant: string,
  at: Time,
): Promise<Fits | undefined> {
  const terms = all.filter(({ field }) => isSifted(field))
  if (terms.length === 0) return undefined
  const asksForPaused = terms.some(({ field, values }) => field === 'is' && values.includes('paused'))
  const around = { now: at, paused: asksForPaused ? await pausedQueues(engine, tenant) : NONE }
  return (job) => terms.every((term) => isLike(job, term, around) !== term.not)
}

const NONE: ReadonlySet<string> = new Set()

async function pausedQueues(engine: Parameters<typeof fitting>[1], tenant: string): Promise<ReadonlySet<string>> {
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

function marksOf({ readyAt, spec, phase, cancel }: Job, { paused }: Around): readonly (Mark | undefined)[] {
  return [
    // What no worker could claim anyway does not wait for its queue.
    readyAt !== undefined && paused.has(spec.kind.queue) ? 'paused' : undefined,
    phase === 'compensate' ? 'compensating' : undefined,
    cancel === undefined ? undefined : 'cancelling',
    spec.labels?.[SCHEDULE_LABEL] === undefined ? undefined : 'schedule',
  ]
}
