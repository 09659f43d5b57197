/** What a user may say about a worker, what its composition root knows besides, and what both come to. */
import { availableParallelism } from 'node:os'
import { DURATION_RULE, type Duration, parseDuration } from '../core/duration.ts'
import { DEFAULT_TENANT } from '../core/job.ts'
import { AGE_MS } from '../core/lanes.ts'
import { LENGTHS, SIZES } from '../core/limits.ts'
import { isSegment } from '../core/name.ts'
import { unknownWords, wordsOf } from '../core/unknown-words.ts'
import type { Clock } from '../system/clock.ts'
import type { Ids } from '../system/ids.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'
import type { QueueShare } from './claiming.ts'
import type { Crew } from './crew.ts'
import type { JobDefinition } from './definition.ts'
import type { Desk } from './desk.ts'
import type { FailedAttempt } from './failed-attempt.ts'
import type { KeeperAddress } from './keeper-thread.ts'
import type { HeardCancel } from './leases.ts'
import type { ServedType } from './presence.ts'
import type { Around } from './ways.ts'

export interface WorkerOptions {
  /**
   * Handlers at a time.
   * @default 16
   */
  readonly concurrency?: number | undefined
  /**
   * Queues to serve, and how often each is served beside the others: `{ mail: 3, bulk: 1 }`.
   * @default those of the definitions, alike
   */
  readonly queues?: Readonly<Record<string, number>> | undefined
  /**
   * The pool it works in: jobs that a policy routes there are for its workers alone (docs/policy.md). Jobs of its queues that are routed
   * nowhere it takes like any other worker.
   * @default none
   */
  readonly pool?: string | undefined
  /**
   * What it can do that others may not: `['gpu']`. A job whose route requires something is for workers that can do all of it.
   * @default nothing in particular
   */
  readonly capabilities?: readonly string[] | undefined
  /**
   * Its name in the log, in `pawl workers ls` and as owner of jobs.
   * @default host, process id and a few random digits
   */
  readonly id?: string | undefined
  /**
   * The version of your application, such as a commit: shown in `pawl workers ls`, and one that is seen for the first time is marked as a
   * deployment in the dashboard's charts.
   * @default none
   */
  readonly version?: string | undefined
  /**
   * Processes at a time, at most, for jobs that run apart: those whose type says `isolate: 'process'`, and those whose last
   * attempt ended without a word.
   * @default as many as the machine has processors
   */
  readonly processes?: number | undefined
  /**
   * Jobs held ready at most, beyond those that run. Of these a worker holds no more than it will start within about 100 ms, judged by how
   * long its handlers take, and the more urgent overtake what is held; and none at all where one of its types is bound to
   * a document without `release` (001, 002, 004), since it could not be handed back.
   * @default 1000
   */
  readonly prefetch?: number | undefined
  /**
   * The longest pause between two looks at the queues, hints or no hints. Whoever enqueues wakes a worker that waits; this is for what
   * nobody tells of, such as a delay that is over, or a transaction of yours whose process ended right after the commit. On Postgres a worker
   * that waits for work knows when the next delay is over, and for the rest looks five times less often.
   * @default '1s'
   */
  readonly poll?: Duration | undefined
  /**
   * A lane, the jobs of one queue and priority, gains one priority for each such time that it is passed over, so that nothing waits for
   * ever behind what is more urgent: with the default the next of `normal` (5) is as urgent as `critical` (1) after a minute, and the
   * next of the last, 9, is before everything after 135 s at most.
   * @default '15s'
   */
  readonly ageing?: Duration | undefined
  /**
   * How long handlers may take to finish once the worker is asked to stop; then their jobs are handed back.
   * @default '10s'
   */
  readonly drain?: Duration | undefined
  /**
   * SIGTERM and SIGINT drain this worker and end the process; a second one ends it at once.
   * @default false
   */
  readonly signals?: boolean | undefined
  /**
   * Whether a handler that blocks the event loop keeps its lease, and all that run beside it theirs. `keep`: for as long as
   * its own attempt may take (`timeout`), then its lease is given up and it runs elsewhere; standard error is told which jobs
   * were on the loop. `lose`: not at all. Where the loop itself keeps leases (`worker.keeper` is `main`) it is always `lose`.
   * @default 'keep'
   */
  readonly onBlocked?: 'keep' | 'lose' | undefined
}

const WORKER_WORDS = wordsOf<WorkerOptions>({
  concurrency: true,
  queues: true,
  pool: true,
  capabilities: true,
  id: true,
  version: true,
  processes: true,
  prefetch: true,
  poll: true,
  ageing: true,
  drain: true,
  signals: true,
  onBlocked: true,
})

/** Throws where something is said about a worker that nobody would hear. */
export function demandKnown(options: WorkerOptions): void {
  const [first] = unknownWords(options, WORKER_WORDS)
  if (first !== undefined) throw new TypeError(`${first.field}: ${first.rule}`)
}

export interface StopOptions {
  /**
   * How long handlers may take to finish.
   * @default that of the worker
   */
  readonly drain?: Duration | undefined
}

/** What the composition root knows and a user need not say. */
export interface Surroundings {
  /** Whose jobs those definitions mean that do not say. */
  readonly tenant?: string | undefined
  readonly clock?: Clock | undefined
  /** Monotonic, and the same in all threads. */
  readonly machineMs?: (() => number) | undefined
  readonly timers?: Timers | undefined
  readonly ids?: Ids | undefined
  readonly log?: Log | undefined
  readonly keeperThread?: KeeperAddress | undefined
  /** How long a store may be silent before that is found out, where it is another process. */
  readonly silentMs?: number | undefined
  readonly transaction?: Desk['transaction']
  /** The module that a cell starts with. Absent: there are none, and what must run apart runs alone. */
  readonly cell?: URL | undefined
  /** The workers among which a job can be alone: those of this process, unless it is divided for a test. */
  readonly crew?: Crew | undefined
  /** Each job type as it is observed. */
  readonly around?: Around | undefined
  /** Opens the reason of a cancel request that came sealed. */
  readonly heardCancel?: HeardCancel | undefined
  readonly spawn?: Desk['spawn']
  /** What handlers throw may quote what is encrypted. */
  readonly sealed?: boolean | undefined
  /** Where a person sees a job, by its id; undefined where nobody has said. */
  readonly linkTo?: ((id: string) => string | undefined) | undefined
  /** Told of every attempt that failed; never throws, never waited for. */
  readonly onFailed?: ((failed: FailedAttempt) => void) | undefined
}

export interface WorkerSettings {
  readonly concurrency: number
  readonly processes: number
  readonly prefetchMax: number
  readonly pollMaxMs: number
  readonly ageMs: number
  readonly drainMs: number
  readonly queues: readonly QueueShare[]
  readonly types: readonly ServedType[]
  readonly pool: string | undefined
  /** Absent rather than empty: a gateway from before there were any knows no such word. */
  readonly capabilities: readonly string[] | undefined
  readonly version: string | undefined
}

export function settingsOf(
  definitions: readonly JobDefinition[],
  options: WorkerOptions & Pick<Surroundings, 'tenant'>,
): WorkerSettings {
  mustDiffer(definitions)
  mustBeNameable(options.id)
  const ownTenant = options.tenant ?? DEFAULT_TENANT
  return {
    concurrency: whole('concurrency', options.concurrency ?? 16, 1),
    processes: whole('processes', options.processes ?? availableParallelism(), 1),
    prefetchMax: whole('prefetch', options.prefetch ?? 1_000, 0),
    pollMaxMs: milliseconds('poll', options.poll ?? 1_000),
    ageMs: Math.max(1, milliseconds('ageing', options.ageing ?? AGE_MS)),
    drainMs: milliseconds('drain', options.drain ?? 10_000),
    queues: sharesOf(definitions, ownTenant, options.queues),
    types: definitions.map(({ tenant = ownTenant, type }) => ({ tenant, type })),
    pool: options.pool === undefined ? undefined : nameable('pool', options.pool),
    capabilities: options.capabilities?.length ? capable(options.capabilities) : undefined,
    version: options.version === undefined ? undefined : shortEnough('version', options.version),
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
  ownTenant: string,
  weights: Readonly<Record<string, number>> | undefined,
): readonly QueueShare[] {
  if (weights !== undefined && Object.keys(weights).length === 0) throw new TypeError('queues: names none to serve')
  const shares = new Map<string, QueueShare>()
  for (const { tenant = ownTenant, queue: own } of definitions) {
    // Jobs of a type may be in other queues than its own: a producer can say so.
    for (const [queue, weight] of weights === undefined ? [[own, 1] as const] : Object.entries(weights)) {
      if (!(weight > 0 && Number.isFinite(weight))) throw new TypeError(`queues.${queue}: a weight is a number above 0`)
      shares.set(JSON.stringify([tenant, queue]), { tenant, queue, weight })
    }
  }
  return [...shares.values()]
}

/** Every word of a worker carries its name; one that core will not have would claim jobs and lose them. */
function mustBeNameable(id: string | undefined): void {
  if (id === undefined || (isSegment(id) && id.length <= LENGTHS.worker)) return
  throw new TypeError(`id: a worker's id is plain text of 1 to ${LENGTHS.worker} characters, and not . or ..`)
}

function capable(capabilities: readonly string[]): readonly string[] {
  if (capabilities.length > SIZES.capabilities)
    throw new TypeError(`capabilities: ${capabilities.length} of them; ${SIZES.capabilities} are the most`)
  return capabilities.map((each, i) => nameable(`capabilities[${i}]`, each))
}

/** A gateway would refuse all that a worker tells of itself for one word of it. */
function shortEnough(field: string, text: string): string {
  if (text.length <= LENGTHS.id) return text
  throw new TypeError(`${field}: ${text.length} characters; ${LENGTHS.id} are the most`)
}

function nameable(field: string, name: string): string {
  if (isSegment(name) && name.length <= LENGTHS.name) return name
  throw new TypeError(`${field}: a name is plain text of 1 to ${LENGTHS.name} characters, and not . or ..`)
}

/** Of two handlers for one type only one would ever run, and nobody could say which. */
function mustDiffer(definitions: readonly JobDefinition[]): void {
  const seen = new Set<string>()
  for (const { type } of definitions) {
    if (seen.has(type)) throw new TypeError(`work: ${type} is given twice; a worker has one handler for each type`)
    seen.add(type)
  }
}
