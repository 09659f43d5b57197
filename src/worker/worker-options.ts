/** What a user may say about a worker, what its composition root knows besides, and what both come to. */
import { availableParallelism } from 'node:os'
import { type Duration, parseDuration } from '../core/duration.ts'
import type { Clock } from '../system/clock.ts'
import type { Ids } from '../system/ids.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import type { QueueShare } from './claiming.ts'
import type { Crew } from './crew.ts'
import type { JobDefinition } from './definition.ts'
import type { Desk } from './execution.ts'
import type { KeeperAddress } from './keeper-thread.ts'
import type { HeardCancel } from './leases.ts'
import type { Around } from './ways.ts'

export interface WorkerOptions {
  /** Handlers at a time. */
  readonly concurrency?: number | undefined
  /** Queues to serve and their weights; unless given, those of the definitions, with equal weights. */
  readonly queues?: Readonly<Record<string, number>> | undefined
  readonly id?: string | undefined
  /**
   * Processes at a time, at most, for jobs that run apart: those whose type says `isolate: 'process'`, and those whose last
   * attempt ended without a word. As many as the machine has processors unless given.
   */
  readonly processes?: number | undefined
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
  readonly keeperThread?: KeeperAddress | undefined
  readonly transaction?: Desk['transaction']
  /** The module that a cell starts with. Absent: there are none, and what must run apart runs alone. */
  readonly cell?: URL | undefined
  /** The workers among which a job can be alone: those of this process, unless it is divided for a test. */
  readonly crew?: Crew | undefined
  /** Each job type as it is observed. */
  readonly around?: Around | undefined
  /** What somebody was told who cannot read it, in words. */
  readonly heardCancel?: HeardCancel | undefined
}

export interface WorkerSettings {
  readonly concurrency: number
  readonly processes: number
  readonly prefetchMax: number
  readonly pollMaxMs: number
  readonly ageMs: number
  readonly drainMs: number
  readonly queues: readonly QueueShare[]
}

export function settingsOf(definitions: readonly JobDefinition[], options: WorkerOptions): WorkerSettings {
  return {
    concurrency: whole('concurrency', options.concurrency ?? 16, 1),
    processes: whole('processes', options.processes ?? availableParallelism(), 1),
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
  throw new TypeError(`${name}: ${String(duration)} is not a duration: milliseconds, or text like '30s'`)
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
  const shares = new Map<string, QueueShare>()
  for (const { tenant, queue } of definitions) {
    const weight = weights === undefined ? 1 : weights[queue]
    if (weight === undefined) continue
    if (!(weight > 0 && Number.isFinite(weight))) throw new TypeError(`queues.${queue}: a weight is a number above 0`)
    shares.set(JSON.stringify([tenant, queue]), { tenant, queue, weight })
  }
  return [...shares.values()]
}
