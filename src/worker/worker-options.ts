/** What a user may say about a worker, what its composition root knows besides, and what both come to. */
import { DURATION_RULE, type Duration, parseDuration } from '../core/duration.ts'
import type { CancelRequest, Job } from '../core/job.ts'
import type { Clock } from '../system/clock.ts'
import type { Ids } from '../system/ids.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import type { QueueShare } from './claiming.ts'
import type { JobDefinition } from './definition.ts'
import type { Desk } from './execution.ts'
import type { KeeperThread } from './keeping.ts'

export interface WorkerOptions {
  /** Handlers at a time. */
  readonly concurrency?: number | undefined
  /** Queues to serve and their weights; unless given, those of the definitions, with equal weights. */
  readonly queues?: Readonly<Record<string, number>> | undefined
  readonly id?: string | undefined
  /** Jobs held ready at most, beyond those that run. */
  readonly prefetch?: number | undefined
  /** The longest pause between two looks at the queues, hints or no hints. */
  readonly poll?: Duration | undefined
  /** A lane that is passed over gains one priority in this time. */
  readonly ageing?: Duration | undefined
  /** How long handlers may take to finish once the worker is asked to stop. */
  readonly drain?: Duration | undefined
  /** SIGTERM and SIGINT drain this worker and end the process; a second one ends it at once. */
  readonly signals?: boolean | undefined
  /** Whether a handler that blocks the event loop keeps its lease. */
  readonly onBlocked?: 'keep' | 'lose' | undefined
}

export interface StopOptions {
  /** How long handlers may take to finish. */
  readonly drain?: Duration | undefined
}

/** What the composition root knows and a user need not say. */
export interface Surroundings {
  readonly clock?: Clock | undefined
  /** Monotonic, and the same in all threads. */
  readonly machineMs?: (() => number) | undefined
  readonly timers?: Timers | undefined
  readonly ids?: Ids | undefined
  readonly log?: Log | undefined
  readonly keeperThread?: KeeperThread | undefined
  readonly transaction?: Desk['transaction']
  /** What somebody was told who cannot read it, in words. */
  readonly heardCancel?: ((job: Job, cancel: CancelRequest) => CancelRequest) | undefined
}

export interface WorkerSettings {
  readonly concurrency: number
  readonly prefetchMax: number
  readonly pollMaxMs: number
  readonly ageMs: number
  readonly drainMs: number
  readonly queues: readonly QueueShare[]
}

export function settingsOf(definitions: readonly JobDefinition[], options: WorkerOptions): WorkerSettings {
  mustDiffer(definitions)
  return {
    concurrency: whole('concurrency', options.concurrency ?? 16, 1),
    prefetchMax: whole('prefetch', options.prefetch ?? 1_000, 0),
    pollMaxMs: milliseconds('poll', options.poll ?? 1_000),
    ageMs: Math.max(1, milliseconds('ageing', options.ageing ?? 15_000)),
    drainMs: milliseconds('drain', options.drain ?? 10_000),
    queues: sharesOf(definitions, options.queues),
  }
}

export function milliseconds(name: string, duration: Duration): number {
  const ms = parseDuration(duration)
  if (ms !== undefined && ms >= 0) return ms
  throw new TypeError(`${name}: ${DURATION_RULE}, not ${String(duration)}`)
}

function whole(name: string, value: number, min: number): number {
  if (Number.isInteger(value) && value >= min && value <= MOST) return value
  throw new TypeError(`${name}: ${String(value)} is not a whole number from ${min} to ${MOST}`)
}

const MOST = 100_000

function sharesOf(
  definitions: readonly JobDefinition[],
  weights: Readonly<Record<string, number>> | undefined,
): readonly QueueShare[] {
  if (weights !== undefined && Object.keys(weights).length === 0) throw new TypeError('queues: names none to serve')
  const shares = new Map<string, QueueShare>()
  for (const { tenant, queue: own } of definitions) {
    // Jobs of a type may be in other queues than its own: a producer can say so.
    for (const [queue, weight] of weights === undefined ? [[own, 1] as const] : Object.entries(weights)) {
      if (!(weight > 0 && Number.isFinite(weight))) throw new TypeError(`queues.${queue}: a weight is a number above 0`)
      shares.set(JSON.stringify([tenant, queue]), { tenant, queue, weight })
    }
  }
  return [...shares.values()]
}

/** Of two handlers for one type only one would ever run, and nobody could say which. */
function mustDiffer(definitions: readonly JobDefinition[]): void {
  const seen = new Set<string>()
  for (const { type } of definitions) {
    if (seen.has(type)) throw new TypeError(`work: ${type} is given twice; a worker has one handler for each type`)
    seen.add(type)
  }
}
