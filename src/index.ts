/**
 * The public names of `pawl`: what an application that has background work needs, and nothing else. What stands below
 * (the engine, the store's port) is in `pawl/engine`, the transactions of other libraries in `pawl/transactions`, the
 * documents' own words in `pawl/contract`.
 */

export { PermanentError, ThrottledError, TransientError, ValidationError } from './core/thrown.ts'
// From there, so that a compiler which knows these names knows its neighbours too: whoever exports what a call answers
// has declarations that name `pawl/engine`.
export type { Event, Job, Log, Transaction } from './engine.ts'
export {
  type DefinedJob,
  defineJob,
  defineSpec,
  type InputOf,
  implementJob,
  type JobSpec,
  type OutputOf,
} from './library/define-job.ts'
export { duration } from './library/duration.ts'
export { aesGcm } from './library/encryption.ts'
export type { EnqueueOptions } from './library/enqueue-options.ts'
export {
  CallTimedOut,
  Invalid,
  JobCancelled,
  JobDeadLettered,
  JobDenied,
  JobEndedBadly,
  JobFailed,
  JobTimedOut,
  Refused,
  SomeRefused,
  WaitTimedOut,
} from './library/errors.ts'
export type { JobHandle } from './library/job-handle.ts'
export type { Pawl } from './library/pawl.ts'
export type { ReconcileOptions, ScheduleDesk, ScheduleOptions } from './library/schedules.ts'
export { type OpenOptions, open } from './open.ts'
export type { Context } from './worker/context.ts'
export { Suspension } from './worker/interrupts.ts'
export type { Worker, WorkerOptions } from './worker/worker.ts'
