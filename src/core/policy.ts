/**
 * The policy a job was born with: every knob of its life, resolved once at enqueue and immutable afterwards, so
 * that any node, now or in a year, judges the job the same way. Bounds are in `limits.ts`; what a caller may leave
 * out and how it is completed is in `resolve.ts`.
 */
import type { Limit } from './flow/key.ts'

export const DIALECT_NAMES = ['000A', '000B', '001', '002', '003', '004'] as const
export type DialectName = (typeof DIALECT_NAMES)[number]

/** What an error means for its job. `lease` is ours, never the job's fault. */
export const ERROR_CLASSES = ['transient', 'permanent', 'throttled', 'validation', 'lease'] as const
export type ErrorClass = (typeof ERROR_CLASSES)[number]

export type Jitter = 'full' | 'equal' | 'none'

/** Delay before retry n: `min(maxMs, baseMs · factor^(n-1))`, jittered. */
export interface Curve {
  readonly baseMs: number
  readonly factor: number
  readonly maxMs: number
  readonly jitter: Jitter
}

/** What a job type declares for one of its limit keys: in force until somebody sets another limit for that key by hand. */
export interface DeclaredLimit extends Limit {
  /** The key that hears how attempts end. The first, unless one is marked. */
  readonly adaptive?: boolean | undefined
}

export interface Policy {
  /** Bound to one of the five documents: what it does not know is refused. */
  readonly dialect: DialectName | undefined

  readonly leaseMs: number
  /** Off: the lease must outlast the attempt. */
  readonly heartbeat: boolean
  readonly heartbeatMs: number
  /** Lost after this many missed heartbeats, where that is shorter than the lease. */
  readonly missedHeartbeats: number

  /** Per attempt. */
  readonly attemptMs: number
  /** Per job and generation, from enqueue or reopening. */
  readonly deadlineMs: number | undefined
  readonly startWithinMs: number | undefined
  readonly parkAfterMs: number
  readonly cancelGraceMs: number
  readonly compensateWithinMs: number

  /** Executions that may end in failure, the first included. */
  readonly maxAttempts: number
  /** Leases that may be lost, besides. */
  readonly maxStalls: number
  /** `shared`: a lost lease counts as an attempt. */
  readonly budget: 'separate' | 'shared'
  readonly retry: Curve
  /** For errors of class `throttled`: slower, and further. */
  readonly throttled: Curve
  /** code → class, consulted before the error's own word and before the default table. */
  readonly errors: Readonly<Record<string, ErrorClass>>
  /** False: `fail` ends the job (001). */
  readonly retryFailures: boolean

  readonly onExhausted: 'failed' | 'dead_lettered'
  readonly onInvalid: 'failed' | 'dead_lettered'
  readonly onAttemptTimeout: 'fail' | 'timed_out'
  readonly onStall: 'requeue' | 'retry' | 'timed_out'
  readonly onNotStarted: 'stalled' | 'timed_out'
  readonly onWaitTimeout: 'resume' | 'timed_out'

  /** Enqueued jobs are `pending` until admitted. */
  readonly admission: boolean
  /** Handlers tolerate being run again under the same id (002). False: a retry is a new job. */
  readonly idempotent: boolean
  /** How long a dedupe key is held: while the job lives, for a window from enqueue, or for ever. */
  readonly dedupe: 'live' | 'forever' | number
  /** What a duplicate does to the job that holds its key. Absent: nothing. */
  readonly onDuplicate: OnDuplicate | undefined

  /** For each of its jobs' keys, in their order. Absent: nothing is declared. */
  readonly limits?: readonly DeclaredLimit[] | undefined
  /** Codes of errors that tell of what is behind the key, besides those that always do. */
  readonly breaking?: readonly string[] | undefined
}

export type OnDuplicate =
  | { readonly does: 'replace' }
  | { readonly does: 'debounce'; readonly withinMs: number; readonly atMostMs: number }
