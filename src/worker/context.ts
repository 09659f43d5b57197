/** What a handler holds in its hand while it runs. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Duration } from '../core/duration.ts'
import type { DeadLetterReason, Job, JobId, Kind, Priority, Stage } from '../core/job.ts'
import type { Transaction } from '../store/store.ts'
import type { Log } from '../system/log.ts'

export interface Context {
  /** The record as it was claimed. */
  readonly job: Job
  readonly attempt: number
  /** Opaque proof of ownership; hand it to systems that can check it. */
  readonly fence: string
  /** Aborts on a requested cancel, the attempt's time limit, a lost lease, shutdown; its reason says which. */
  readonly signal: AbortSignal
  readonly log: Log

  /** Runs `work` once per job: later attempts, on whatever worker, get what it answered (as JSON keeps it). */
  step<T>(name: string, work: () => Promise<T> | T, options?: StepOptions<T>): Promise<T>
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
  /** A child of this job, enqueued once however often the handler runs. */
  spawn<P>(definition: Spawnable<P>, input: P, options?: SpawnOptions): Promise<JobId>
  /** Effects and completion in one Postgres transaction: both or neither. The job ends with what `work` answers. */
  tx<T>(work: (tx: Transaction) => Promise<T>): Promise<T>

  /** Hands the job back, to run again after `delay`; burns no budget. */
  snooze(delay: Duration): never
  cancel(reason?: string): never
  deadLetter(reason: DeadLetterReason, message?: string, stage?: Stage): never
}

export interface StepOptions<T> {
  /** How to undo it, should the job not succeed. */
  readonly compensate?: ((result: T) => Promise<void> | void) | undefined
}

export interface WaitOptions {
  readonly timeout?: Duration | undefined
  /** Only a signal with this correlation key counts. */
  readonly key?: string | undefined
  readonly onTimeout?: 'resume' | 'timed_out' | undefined
}

export type Waited<T> =
  | { readonly timedOut: false; readonly payload: T }
  | { readonly timedOut: true; readonly payload: undefined }

export interface ProgressInput {
  readonly done: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

/** A job type as a producer knows it. */
export interface Spawnable<P> extends Kind {
  readonly input?: StandardSchemaV1<P, unknown> | undefined
}

export interface SpawnOptions {
  readonly priority?: Priority | undefined
  readonly delay?: Duration | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
}
