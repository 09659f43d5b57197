/**
 * The public names of `pawl/engine`: what stands below the library, for those who go there. The port that stores
 * implement, the engine on top of one, the heart that judges, and every type that the library's own signatures name.
 * `openOn(store)` opens the jobs of any store; whoever wrote it proves it with `pawl/conformance`.
 */

export type { Contract, Operation, Outcome, OwnerOperation } from './contract.ts'
// A job in one state, as a look at `job.state` leaves it.
export type { Newer, Next } from './core/brought.ts'
export type { Command, Enqueue, Fault, Spend } from './core/command.ts'
export { hasLongLog } from './core/compact.ts'
export { isMereRenewal, stillHere } from './core/decide/heartbeat.ts'
export { type Decision, decide } from './core/decide.ts'
export type { DuplicatesInput } from './core/duplicates.ts'
export type { Duration, DurationText } from './core/duration.ts'
export type { Annotation, Event, EventType, ObservationEvent, TransitionEvent } from './core/event.ts'
export { derive as fold, evolve } from './core/evolve.ts'
export type { Explanation, WayNotToRun } from './core/explain.ts'
// What lets jobs in: for stores that limit (S18), and what is told of limit keys.
export type { KeyEvent } from './core/flow/event.ts'
export type { Gate } from './core/flow/gate.ts'
export { type Flow, type Hall, type Held, LANE_WINDOW, type Place } from './core/flow/hall.ts'
export type { KeyCause, KeyState, Limit } from './core/flow/key.ts'
export { type Admission, type LetIn, letIn } from './core/flow/let-in.ts'
export type { LimitInput } from './core/flow/limit-input.ts'
export { flowNameOf, type PlaceMove, placeMoveOf, toldKey, weighedBy } from './core/flow/membership.ts'
export { type Count as SlotCount, type Counted, countOf, type KeyUse, type Slot } from './core/flow/slots.ts'
export { isOutOfPatience, takenBack } from './core/flow/take-back.ts'
export type { Watch } from './core/flow/watch.ts'
export { idNumber, idText, isId } from './core/id.ts'
export type {
  BodyRef,
  Cancelled as CancelledJob,
  CancelRequest,
  Claimed as ClaimedRecord,
  DeadLetter,
  DeadLettered as DeadLetteredJob,
  DeadLetterReason,
  Denied as DeniedJob,
  Ended as EndedJob,
  Failed as FailedJob,
  Failure,
  Job,
  JobFlow,
  JobId,
  Kind,
  Lease,
  LiveState,
  Owned as OwnedJob,
  Owner,
  Parked as ParkedJob,
  Pending as PendingJob,
  Priority,
  PriorityName,
  Progress,
  Queued as QueuedJob,
  Result,
  Retrying as RetryingJob,
  Running as RunningJob,
  Spec,
  Stage,
  Stalled as StalledJob,
  State,
  Succeeded as SucceededJob,
  Suspended as SuspendedJob,
  TerminalState,
  Time,
  TimedOut as TimedOutJob,
  Waiting as WaitingJob,
} from './core/job.ts'
export type { Jsonify } from './core/jsonify.ts'
export { servedBy } from './core/needs.ts'
export type { Effect } from './core/newer.ts'
export type {
  Action,
  Canary,
  Count,
  OperationReport,
  OperationSpec,
  OperationStatus,
  RefusedJob,
} from './core/operation.ts'
export type { Curve, DeclaredLimit, ErrorClass, OnDuplicate, Policy } from './core/policy.ts'
// What a store counts, tells and finds a job by, whatever admission has made of it.
export { askedOf, type Recasted, type Redirect } from './core/recast.ts'
export { REFUSALS, type Refusal, type RefusalCode, type Violation } from './core/refusal.ts'
export { type CurveInput, type PolicyInput, type RetryInput, resolvePolicy } from './core/resolve.ts'
export { JobError, LeaseConflictError, type ThrownOptions } from './core/thrown.ts'
export { judgeAt } from './core/timers.ts'
export type { Edge, From, Machine, Move } from './core/transitions.ts'
export { type BodyAbout, type BodyCodec, Undecipherable } from './engine/body-codec.ts'
export type { Discrepancy, Verification } from './engine/discrepancy.ts'
export type {
  Answer,
  Assignment,
  ClaimRequest,
  Engine,
  EnqueueAnswer,
  EnqueueRequest,
  Flowing,
  HeartbeatAnswer,
  HeartbeatRequest,
  KeyWord,
  LimitPage,
  LimitQuery,
  LimitStatus,
  Word,
} from './engine/engine.ts'
export type { Mended } from './engine/mend.ts'
export { METRICS, type MetricLabels, type MetricName, type Metrics } from './engine/metrics.ts'
export type { Tracing } from './engine/observer.ts'
export type { OperationPage } from './engine/operations/operations.ts'
export type { OperationInput } from './engine/operations/words.ts'
export type { RetentionOptions } from './engine/retention-options.ts'
export type { TickerOptions } from './engine/ticker.ts'
export type { VerifyFilter } from './engine/verify.ts'
export type {
  AdmitOptions,
  ApproveOptions,
  Asked,
  CancelOptions,
  DenyOptions,
  ReadOptions,
  RedriveOptions,
  ReopenOptions,
  RescheduleOptions,
  SignalOptions,
} from './library/asked.ts'
export type { CallOptions } from './library/call.ts'
export type {
  DedupeOptions,
  DefineOptions,
  FlowOptions,
  HandlerOptions,
  LimitOptions,
  SpecOptions,
} from './library/define-job.ts'
export type { EncryptionKeys } from './library/encryption.ts'
export type { EnqueueManyOptions, EnqueueOutcome, ItemOptions } from './library/enqueue-many.ts'
export type { RefusedItem } from './library/errors.ts'
export type { DeadLettered, Hooks, Stalled } from './library/hooks.ts'
export type { LimitDesk, ListLimitsOptions, RepairOptions } from './library/limits.ts'
export type { OperationDesk, OperationListOptions, OperationOptions } from './library/operations-desk.ts'
export type { PolicyDesk, SetPolicyOptions } from './library/policies.ts'
export type { Redriven } from './library/redrive.ts'
export type { Telemetry } from './library/telemetry.ts'
export { type Abilities, type OpenOnOptions, openOn, type Where } from './open.ts'
export type { KeptPolicy } from './policy/kept.ts'
export type { Agenda } from './store/agenda.ts'
export { comparePositions } from './store/compare-positions.ts'
export { matches } from './store/matches.ts'
export type { PooledClient, PostgresConnection, PostgresPool } from './store/postgres/connection/address.ts'
export {
  type Backlog,
  type Beat,
  type BeatAnswer,
  type Beaten,
  type Body,
  type Change,
  type ClaimAnswer,
  type ClaimedJob,
  type CommitAnswer,
  type DueAnswer,
  type EventPage,
  type EventQuery,
  type FeedItem,
  type FlowKey,
  type Grant,
  type Hint,
  type InsertAnswer,
  type Inserted,
  type JobPage,
  type JobQuery,
  type Key,
  type KeyBirth,
  type KeyMove,
  type KeyPurpose,
  type KeyView,
  type Lane,
  type LoadAnswer,
  type Loaded,
  type LoadItem,
  type Lobby,
  type Mend,
  type NewJob,
  queueKey,
  type Setting,
  type SettingAnswer,
  type SettingCollection,
  type SettingOperation,
  type SignalName,
  type Store,
  type Tally,
  type Transaction,
  type Verdict,
} from './store/store.ts'
export type { Clock } from './system/clock.ts'
export { type Log, type LogFields, linesTo } from './system/log.ts'
export type { Random } from './system/random.ts'
export type { Timers } from './system/timers.ts'
export type { ProgressInput, StepOptions, Waited, WaitOptions } from './worker/context.ts'
export type { JobDefinition } from './worker/definition.ts'
export type { FailedAttempt } from './worker/failed-attempt.ts'
export { AttemptTimeoutError, CancelRequestedError, ShutdownError } from './worker/interrupts.ts'
export type { Difference, Replayed } from './worker/replay.ts'
export type { Spawnable, SpawnOptions } from './worker/spawn.ts'
export type { StopOptions } from './worker/worker.ts'
