/** What a handler holds in its hand while it runs. */
import type { Duration } from '../core/duration.ts'
import type { DeadLetterReason, Job, JobId, Stage } from '../core/job.ts'
import type { Jsonify } from '../core/jsonify.ts'
import type { NoteKind } from '../core/note.ts'
import type { Flowing } from '../engine/engine.ts'
import type { Transaction } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import type { Spawnable, SpawnOptions } from './spawn.ts'

/**
 * What answers with a promise need not be waited for: the run ends when all of it has been answered. Where one is refused and
 * nobody has listened by then, the attempt fails by it, as if it had been waited for.
 */
export interface Context {
  /** The record as it was claimed. */
  readonly job: Job
  readonly attempt: number
  /** Opaque proof of ownership; hand it to systems that can check it. */
  readonly fence: string
  /** Aborts on a requested cancel, the attempt's time limit, a lost lease, shutdown; its reason says which. */
  readonly signal: AbortSignal
  readonly log: Log
  /**
   * For calls to other systems, `fetch(url, { headers: ctx.headers })`: the job's trace (`traceparent`) and its correlation
   * (`baggage`, `correlation_id=…`), as the W3C has them. Where OpenTelemetry is there, its instrumentation sends both by itself.
   */
  readonly headers: Readonly<Record<string, string>>

  /**
   * The limit key that hears how this attempt ends, where the job has one. Keep an identity (a proxy, a cookie jar, a
   * browser profile) for each `session`, and take another when it changes: the other side has seen through the last.
   */
  readonly flow: Flowing | undefined

  /**
   * Runs `work` once per job: later attempts, on whatever worker, get what it answered, and so does the first, as JSON keeps
   * it (a `Date` is text). What JSON cannot keep ends the job, with the place.
   */
  step<T>(name: string, work: () => Promise<T> | T, options?: StepOptions<T>): Promise<Jsonify<T>>
  /**
   * Lets go of the worker and comes back later. Everything before it runs again: keep it in steps. A sleep is a wait like
   * `waitFor`: one at a time.
   */
  sleep(duration: Duration): Promise<void>
  /**
   * Lets go of the worker until the signal comes; `timedOut` if it did not come in time.
   *
   * A run waits for one thing at a time. A second `waitFor` or `sleep` while the first has no answer, as in
   * `Promise.all([…])` or `Promise.race([…])`, fails the job for good (`E_TWO_WAITS`): the run lets go at the first of them,
   * so a race would never be won by the second. For all of several signals wait for one after the other, in any order,
   * since a signal that comes early is kept; for whichever comes first, a signal or a time, use `timeout`.
   */
  waitFor<T = unknown>(name: string, options?: WaitOptions): Promise<Waited<T>>
  /** Keeps resumable state for the next attempt; without a value, answers with what was kept last. */
  checkpoint<T = unknown>(): Promise<T | undefined>
  checkpoint(value: unknown): Promise<void>
  /** Where the work stands. Cheap: written at most once a second. */
  progress(progress: ProgressInput): void
  /** Adds to one of the job's counters. */
  count(name: string, by?: number): void
  artifact(name: string, ptr: string): Promise<void>
  /**
   * What was just spent (tokens, cents) of the budgets of its limits, or of one: a key whose budget is spent holds its jobs
   * until the window turns. Counted each time it is said, on every attempt: money that was spent is spent.
   */
  spend(amount: number, options?: { readonly key?: string | undefined }): Promise<void>
  /**
   * Notes on the work itself, in the job's log: a plan was made, a node of a graph began or ended, a tool was called. Once per
   * job, like a step, however often the handler runs; `detail` is kept as JSON. Document 003 tells them under these names.
   */
  record(kind: NoteKind, name: string, detail?: unknown): Promise<void>
  /**
   * A child of this job, enqueued once however often the handler runs: as `enqueue` would, with the child's schema, its
   * `dedupe`, its queue and its policy. It has this job's tenant, correlation and workflow unless told otherwise. By its
   * name, where a worker has announced it, or with the queue it waits in.
   */
  spawn<J extends Spawnable<unknown>>(definition: J | J['type'], ...handed: Handed<HandedTo<J>>): Promise<JobId>
  /**
   * Effects and completion in one Postgres transaction: both or neither. The job ends with what `work` answers. It is READ
   * COMMITTED unless `work` sets something else first; where the database then says that the transaction must be run again
   * (40001, 40P01), `work` is, up to five times.
   */
  tx<T>(work: (tx: Transaction) => Promise<T>): Promise<T>

  /** Hands the job back, to run again after `delay`; burns no budget. */
  snooze(delay: Duration): never
  cancel(reason?: string): never
  deadLetter(reason: DeadLetterReason, message?: string, stage?: Stage): never
}

type HandedTo<J> = J extends { readonly '~types'?: { readonly handed: infer P } } ? P : unknown

/** An input may be left out where it may be undefined. */
type Handed<P> = undefined extends P
  ? [input?: P, options?: SpawnOptions | undefined]
  : [input: P, options?: SpawnOptions | undefined]

export interface StepOptions<T> {
  /**
   * How to undo it, should the job not succeed.
   * @default there is nothing to undo
   */
  readonly compensate?: ((result: Jsonify<T>) => Promise<void> | void) | undefined
}

export interface WaitOptions {
  /**
   * How long to wait.
   * @default until the signal comes, or the job's deadline
   */
  readonly timeout?: Duration | undefined
  /**
   * Only a signal with this correlation key counts.
   * @default none: only a signal without one counts
   */
  readonly key?: string | undefined
  /**
   * `resume` goes on with `timedOut`; `timed_out` ends the job.
   * @default the policy's `onWaitTimeout`
   */
  readonly onTimeout?: 'resume' | 'timed_out' | undefined
}

export type Waited<T> =
  | { readonly timedOut: false; readonly payload: T }
  | { readonly timedOut: true; readonly payload: undefined }

export interface ProgressInput {
  /** How much is done, in whatever unit. */
  readonly done: number
  /**
   * Of how much; with it the job has an estimated end.
   * @default not known
   */
  readonly total?: number | undefined
  /**
   * A few words for people.
   * @default none
   */
  readonly message?: string | undefined
}
