/** The public names. Everything a user imports from `pawl` is here, and nothing else is a promise. */

export type {
  Asked,
  CancelOptions,
  ReadOptions,
  RedriveOptions,
  ReopenOptions,
  RescheduleOptions,
  SignalOptions,
} from './asked.ts'
export type { CallOptions } from './call.ts'
export type { Contract, Operation, Outcome, OwnerOperation } from './contract.ts'
export { validateJob } from './core/contract/validate-job.ts'
export { validateTransition } from './core/contract/validate-transition.ts'
export type { Duration, DurationText } from './core/duration.ts'
export type { Event, EventType } from './core/event.ts'
export type { Explanation, WayNotToRun } from './core/explain.ts'
export type {
  DeadLetter,
  Failure,
  Job,
  JobId,
  Kind,
  Priority,
  PriorityName,
  State,
  TerminalState,
  Time,
} from './core/job.ts'
export type { Jsonify } from './core/jsonify.ts'
export type { DialectName, ErrorClass, Policy } from './core/policy.ts'
export { REFUSALS, type Refusal, type RefusalCode, type Violation } from './core/refusal.ts'
export type { CurveInput, PolicyInput, RetryInput } from './core/resolve.ts'
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
  type DefineOptions,
  defineJob,
  defineSpec,
  type HandlerOptions,
  type InputOf,
  implementJob,
  type JobSpec,
  type OutputOf,
  type SpecOptions,
} from './define-job.ts'
export { duration } from './duration.ts'
export { aesGcm, type EncryptionKeys } from './encryption.ts'
export { type BodyAbout, type BodyCodec, Undecipherable } from './engine/body-codec.ts'
export type { Discrepancy, Verification } from './engine/discrepancy.ts'
export type { Engine } from './engine/engine.ts'
export { METRICS, type MetricLabels, type MetricName, type Metrics } from './engine/metrics.ts'
export type { Observer, Tracing } from './engine/observer.ts'
export type { RetentionOptions } from './engine/retention.ts'
export type { TickerOptions } from './engine/ticker.ts'
export type { VerifyFilter } from './engine/verify.ts'
export type { EnqueueManyOptions, EnqueueOutcome, ItemOptions } from './enqueue-many.ts'
export type { EnqueueOptions } from './enqueue-options.ts'
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
  type RefusedItem,
  SomeRefused,
  WaitTimedOut,
} from './errors.ts'
export type { DeadLettered, Hooks, Stalled } from './hooks.ts'
export { JobHandle } from './job-handle.ts'
export { type OpenOptions, open, type Where } from './open.ts'
export { Pawl } from './pawl.ts'
export type { Redriven } from './redrive.ts'
export type { PooledClient, PostgresConnection, PostgresPool } from './store/postgres/address.ts'
export type { EventPage, EventQuery, JobPage, JobQuery, Transaction } from './store/store.ts'
export { type Log, linesTo } from './system/log.ts'
export { type DrizzleSql, type DrizzleTransaction, fromDrizzle } from './transactions/from-drizzle.ts'
export { fromKnex, type KnexTransaction } from './transactions/from-knex.ts'
export { fromKysely, type KyselyQuery, type KyselyTransaction } from './transactions/from-kysely.ts'
export { fromPostgresJs, type PostgresJsTransaction } from './transactions/from-postgres-js.ts'
export { fromPrisma, type PrismaTransaction } from './transactions/from-prisma.ts'
export type { Context, ProgressInput, StepOptions, Waited, WaitOptions } from './worker/context.ts'
export type { FailedAttempt } from './worker/failed-attempt.ts'
export { AttemptTimeoutError, CancelRequestedError, ShutdownError, Suspension } from './worker/interrupts.ts'
export type { Spawnable, SpawnOptions } from './worker/spawn.ts'
export type { StopOptions, Worker, WorkerOptions } from './worker/worker.ts'
