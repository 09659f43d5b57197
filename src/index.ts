/** The public names. Everything a user imports from `pawl` is here, and nothing else is a promise. */

export type { CancelOptions, ReopenOptions, RescheduleOptions, SignalOptions } from './asked.ts'
export type { Contract, Operation, Outcome, OwnerOperation } from './contract.ts'
export { validateJob } from './core/contract/validate-job.ts'
export { validateTransition } from './core/contract/validate-transition.ts'
export type { Duration } from './core/duration.ts'
export type { Event, EventType } from './core/event.ts'
export type { Explanation, WayNotToRun } from './core/explain.ts'
export type { DeadLetter, Failure, Job, JobId, Kind, Priority, State, TerminalState, Time } from './core/job.ts'
export type { DialectName, ErrorClass, Policy } from './core/policy.ts'
export { REFUSALS, type Refusal, type RefusalCode, type Violation } from './core/refusal.ts'
export {
  JobError,
  LeaseConflictError,
  PermanentError,
  ThrottledError,
  type ThrownOptions,
  TransientError,
  ValidationError,
} from './core/thrown.ts'
export {
  type DefinedJob,
  defineJob,
  defineSpec,
  type HandlerOptions,
  type InputOf,
  implementJob,
  type JobSpec,
  type OutputOf,
} from './define-job.ts'
export { aesGcm, type EncryptionKeys } from './encryption.ts'
export { type BodyAbout, type BodyCodec, Undecipherable } from './engine/body-codec.ts'
export type { Engine } from './engine/engine.ts'
export { METRICS, type MetricLabels, type MetricName, type Metrics } from './engine/metrics.ts'
export type { Observer, Tracing } from './engine/observer.ts'
export type { Discrepancy, Verification } from './engine/verify.ts'
export type { EnqueueOptions, PriorityName } from './enqueue-options.ts'
export {
  Invalid,
  JobCancelled,
  JobDeadLettered,
  JobDenied,
  JobEndedBadly,
  JobFailed,
  JobTimedOut,
  Refused,
  WaitTimedOut,
} from './errors.ts'
export { JobHandle } from './job-handle.ts'
export { type OpenOptions, open } from './open.ts'
export { Pawl, type Redriven } from './pawl.ts'
export type { Transaction } from './store/store.ts'
export { type Log, linesTo } from './system/log.ts'
export type { Context } from './worker/context.ts'
export { AttemptTimeoutError, CancelRequestedError, ShutdownError, Suspension } from './worker/interrupts.ts'
export type { StopOptions, Worker, WorkerOptions } from './worker/worker.ts'
