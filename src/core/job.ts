/**
 * The record: what pawl knows about one job. It is a union tagged by `state`, so that a field which a state
 * forbids (an owner while queued, a result while running) has no representation.
 *
 * Every key is always present, `undefined` where there is nothing to say: one shape for all jobs keeps the fold
 * fast, and a reader never wonders whether a key was forgotten.
 */
import type { Approval, Terms } from './approval.ts'
import { assert } from './assert.ts'
import type { Newer } from './brought.ts'
import { COUNTS } from './limits.ts'
import type { ErrorClass, Policy } from './policy.ts'
import type { Recasted } from './recast.ts'
import type { CommandType } from './verb.ts'

/** Epoch milliseconds by the store's clock. */
export type Time = number

/** Short text of the number a store handed out (`pj_1k9f3`). Opaque here. */
export type JobId = string

export const LIVE_STATES = [
  'pending',
  'claimed',
  'running',
  'waiting',
  'parked',
  'stalled',
  'retrying',
  'queued',
] as const
export const TERMINAL_STATES = ['succeeded', 'failed', 'cancelled', 'timed_out', 'denied', 'dead_lettered'] as const
export const STATES = [...LIVE_STATES, ...TERMINAL_STATES] as const
export const SUCCESSFUL_STATES = TERMINAL_STATES.filter((state) => state === 'succeeded')
export const UNSUCCESSFUL_STATES = TERMINAL_STATES.filter((state) => state !== 'succeeded')

/** Dead letters; and jobs that failed, for whoever wants to see them beside. */
export const deadLetterStates = (failedToo: boolean): readonly State[] =>
  failedToo ? ['dead_lettered', 'failed'] : ['dead_lettered']

export type LiveState = (typeof LIVE_STATES)[number]
export type TerminalState = (typeof TERMINAL_STATES)[number]
export type State = LiveState | TerminalState

/** How an unsuccessful job may end, hence what a compensation may be on its way to. */
export type UnhappyState = Exclude<TerminalState, 'succeeded' | 'denied'>

/**
 * The order in which the states of one attempt may follow each other. `queued` ranks above the in-attempt states
 * because "queued at attempt n" says that n attempts are closed for good.
 */
export const RANK: Readonly<Record<State, number>> = {
  pending: 0,
  claimed: 1,
  running: 2,
  waiting: 3,
  parked: 4,
  stalled: 5,
  retrying: 6,
  queued: 7,
  succeeded: 8,
  failed: 8,
  cancelled: 8,
  timed_out: 8,
  denied: 8,
  dead_lettered: 8,
}

/** Of states that follow each other each has a rank of its own: only ends share theirs. */
export function liveStateOf(rank: number | undefined): LiveState {
  const state = LIVE_STATES.find((each) => RANK[each] === rank)
  assert(state !== undefined, `${rank} is the rank of a live state`)
  return state
}

/** 0 is served first. `critical`, `interactive` and `batch` are the names people use for three of them. */
export type Priority = number

/** From the most urgent on. */
export const EVERY_PRIORITY: readonly Priority[] = Array.from(
  { length: COUNTS.priority.max + 1 },
  (_, priority) => priority,
)
export const PRIORITIES = { critical: 1, interactive: 3, normal: 5, batch: 7 } as const
export type PriorityName = keyof typeof PRIORITIES

/** Everything a job shares with its siblings. Interned by stores as a small number; immutable. */
export interface Kind {
  readonly tenant: string
  readonly queue: string
  readonly type: string
  readonly policy: Policy
}

/** Whose jobs are that nobody says anything about. */
export const DEFAULT_TENANT = 'default'

/** What a user supplied and may be big lives outside the record, under (job, name). */
export interface BodyRef {
  /** `input`, `output`, `checkpoint`, `step/<name>`, `signal/<n>`, `error/<n>`. */
  readonly name: string
  /** Size and digest are of the text as it is stored: where bodies are encrypted, of the ciphertext. */
  readonly size: number
  readonly digest: string | undefined
}

/** What was asked for at enqueue, or what admission has made of that (`recast.ts`). What was asked for never changes: the job's row in a store is that. */
export interface Spec {
  readonly kind: Kind
  /** The producer's own id, which works wherever an id does. */
  readonly alias: string | undefined
  readonly input: BodyRef | undefined
  /** Opaque pointers are kept and handed on, never fetched. */
  readonly contextPtr: string | undefined
  readonly topic: string | undefined
  readonly adapterId: string | undefined
  readonly env: Readonly<Record<string, string>> | undefined
  readonly labels: Readonly<Record<string, string>> | undefined
  readonly parentId: JobId | undefined
  readonly workflowId: string | undefined
  readonly stepIndex: number | undefined
  readonly dedupeKey: string | undefined
  /** What it shares with others that is limited, or takes turns. Absent: it stands in its lane from its birth on. */
  readonly flow: JobFlow | undefined
  readonly correlationId: string
  readonly traceparent: string | undefined
  readonly createdAt: Time
}

/** The names by which a job is let in (`flow/`). At least one of the two says something. */
export interface JobFlow {
  /** Names of its limit keys, in the order in which its type declares them: it needs a slot of each. */
  readonly keys: readonly string[]
  /** On whose account it takes turns: a customer, an agent. */
  readonly fair: string | undefined
}

export interface Owner {
  readonly workerId: string
}

export interface Lease {
  /** `generation.attempt.nonce`. Opaque, compared whole, never repeated. Ownership is this and nothing else. */
  readonly fence: string
  readonly grantedAt: Time
  readonly expiresAt: Time
  /** Heartbeats accepted under this lease. */
  readonly beats: number
  /** Request id of the last of them: what makes a repeated heartbeat a replay. */
  readonly lastBeatId: string | undefined
}

export interface LastClaim {
  readonly owner: Owner
  readonly fence: string
  readonly leaseExpiresAt: Time
  /** Claims in a row, this one included, that ended without a word from the handler; 2 stands for more. */
  readonly silences: 0 | 1 | 2
  /** Whether it, or a claim before it in its generation, had started: documents without a way back ask for it. */
  readonly ran: boolean
}

export interface CancelRequest {
  readonly mode: 'soft' | 'hard'
  readonly reason: string | undefined
  readonly by: string
  readonly requestedAt: Time
  readonly deliveredAt: Time | undefined
  readonly acknowledgedAt: Time | undefined
  /** What duplicates have brought goes with it. */
  readonly dropsNext?: true | undefined
}

export interface Wait {
  readonly name: string
  readonly key: string | undefined
  readonly since: Time
  readonly timeoutAt: Time | undefined
  readonly onTimeout: 'resume' | 'timed_out'
  /** The step under which the handler will find how this wait ended. */
  readonly memo: string
}

/** A signal that came before anybody waited for it, or that a wait has just been given. */
export interface StoredSignal {
  readonly n: number
  readonly name: string
  readonly key: string | undefined
  readonly requestId: string
  readonly at: Time
  readonly body: BodyRef | undefined
}

export interface Progress {
  readonly done: number
  readonly total: number | undefined
  readonly message: string | undefined
  readonly etaAt: Time | undefined
}

export const STAGES = ['fetch', 'input', 'exec', 'output', 'commit'] as const
export type Stage = (typeof STAGES)[number]

export interface Failure {
  readonly code: string
  readonly class: ErrorClass
  readonly message: string
  readonly stage: Stage
  readonly context: Readonly<Record<string, string>> | undefined
  readonly at: Time
  readonly attempt: number
  /** Who ran it; absent where no attempt was under way. */
  readonly worker: string | undefined
  /** Stack and other long words: body `error/<attempt>`. */
  readonly body: BodyRef | undefined
}

export const DEAD_LETTER_REASONS = [
  'parse_error',
  'validation_failed',
  'dependency_unavailable',
  'timeout',
  'exhausted_retries',
  'policy_violation',
  'infrastructure_failure',
  'compensation_failed',
] as const
export type DeadLetterReason = (typeof DEAD_LETTER_REASONS)[number]

/** Every key is always present; null where nothing ever ran (seed 000's required fields). */
export interface DeadLetter {
  readonly reason: DeadLetterReason
  readonly stage: Stage
  readonly lastError: Failure
  readonly attempts: number
  readonly lastOwner: string | null
  readonly lastLeaseExpiresAt: Time | null
  readonly correlationId: string
}

/** Who refused admission, by which rule of which policy. */
export interface Verdict {
  readonly rule: string
  readonly policyHash: string
  readonly reason: string | undefined
}

/** Where a compensating job is going once its compensations have run. */
export interface Ending {
  readonly state: UnhappyState
  readonly reason: string
  readonly error: Failure | undefined
  readonly deadLetter: DeadLetterReason | undefined
  readonly cancel: CancelRequest | undefined
}

/** The answer an accepted command got, kept so that its repetition gets the same one. */
export interface Receipt {
  readonly requestId: string
  readonly command: CommandType
  /** Hash of the command's own words, without actor, time and tracing. */
  readonly digest: string
  readonly rev: number
  readonly state: State
  readonly at: Time
}

export type Result =
  | { readonly body: BodyRef; readonly ptr?: undefined }
  | { readonly ptr: string; readonly body?: undefined }

interface Common {
  readonly id: JobId
  readonly spec: Spec
  readonly priority: Priority
  /**
   * What its claimer must serve: its type, once a worker has handed it back that does not know it. Absent: whoever claims from
   * its queue may have it. Said once, it stays.
   */
  readonly needs: string | undefined
  /** Said when it was let in, and immutable from then on. Absent: its policy alone holds. */
  readonly terms: Terms | undefined
  /** Where admission has made something else of it than was asked for: what, and of what. `spec` is what it is. */
  readonly recast: Recasted | undefined
  /** While it is pending: that somebody must approve it, and who did. */
  readonly approval: Approval | undefined
  readonly phase: 'run' | 'compensate'
  /** Set exactly in phase `compensate`. */
  readonly intended: Ending | undefined
  /** Reopenings by an operator. */
  readonly generation: number
  /** Claims. Never reset. */
  readonly attempt: number
  /** Accepted events. */
  readonly rev: number
  /** Transition events. */
  readonly seq: number
  /** The rev of the last event that was not the owner's own heartbeat or progress. */
  readonly baseRev: number
  /** Handler errors in this generation and phase. */
  readonly failures: number
  /** Lost leases in this generation and phase. */
  readonly stalls: number
  readonly updatedAt: Time
  /** When the current (or last) attempt began to run. */
  readonly startedAt: Time | undefined
  readonly deadlineAt: Time | undefined
  /** Not started by then: `timed_out`. Gone once something has started. */
  readonly startBy: Time | undefined
  readonly cancel: CancelRequest | undefined
  readonly newer: Newer | undefined
  readonly inbox: readonly StoredSignal[]
  /** Signals ever stored: numbers the next one. */
  readonly signals: number
  readonly progress: Progress | undefined
  readonly counters: Readonly<Record<string, number>>
  readonly artifacts: Readonly<Record<string, string>>
  readonly checkpoint: BodyRef | undefined
  /** Steps recorded. Their memos are bodies `step/<name>`. */
  readonly steps: number
  /** Observations accepted, heartbeats apart: what makes a log long. */
  readonly observations: number
  /** Since when there are no texts beside it any more, whatever names them. */
  readonly strippedAt: Time | undefined
  /** Size of the checkpoint, the memos and the signals: what comes along when it runs again. */
  readonly bodySize: number
  /** Steps that would have to be undone, oldest first. */
  readonly compensations: readonly string[]
  readonly lastFailure: Failure | undefined
  readonly lastClaim: LastClaim | undefined
  /** Time spent in handlers, over all attempts. */
  readonly executionMs: number
  /** The last eight answers given under the current or last lease. */
  readonly recent: readonly Receipt[]
  /** From when on a worker may claim it, until its next tick; absent whenever none may. The only guard of `claim`. */
  readonly readyAt: Time | undefined
  /** The earliest of all of this job's timers. */
  readonly nextTickAt: Time | undefined
}

/** What depends on the state (I5). Absent keys are `undefined`, in the types as in the objects. */
interface Nothing {
  readonly runAt: undefined
  readonly owner: undefined
  readonly lease: undefined
  readonly wait: undefined
  readonly result: undefined
  readonly error: undefined
  readonly deadLetter: undefined
  readonly verdict: undefined
  readonly endedAt: undefined
}

type With<S extends State, Fields> = Common & { readonly state: S } & Omit<Nothing, keyof Fields> & Readonly<Fields>

export type Pending = With<'pending', { runAt: Time }>
export type Queued = With<'queued', { runAt: Time }>
export type Retrying = With<'retrying', { runAt: Time }>
export type Claimed = With<'claimed', { owner: Owner; lease: Lease }>
export type Running = With<'running', { owner: Owner; lease: Lease }>
export type Waiting = With<'waiting', { wait: Wait }>
export type Parked = With<'parked', { wait: Wait }>
export type Stalled = With<'stalled', object>
export type Succeeded = With<'succeeded', { result: Result; endedAt: Time }>
export type Failed = With<'failed', { error: Failure; endedAt: Time }>
export type TimedOut = With<'timed_out', { error: Failure; endedAt: Time }>
export type DeadLettered = With<'dead_lettered', { error: Failure; deadLetter: DeadLetter; endedAt: Time }>
export type Cancelled = With<'cancelled', { endedAt: Time }>
export type Denied = With<'denied', { verdict: Verdict; endedAt: Time }>

export type Owned = Claimed | Running
export type Suspended = Waiting | Parked
export type Ended = Succeeded | Failed | TimedOut | DeadLettered | Cancelled | Denied
export type Job = Pending | Queued | Retrying | Owned | Suspended | Stalled | Ended

const TERMINAL: ReadonlySet<State> = new Set(TERMINAL_STATES)

export const isTerminal = (state: State): state is TerminalState => TERMINAL.has(state)
export const isOwnedState = (state: State | undefined): boolean => state === 'claimed' || state === 'running'
export const isOwned = (job: Job): job is Owned => job.state === 'claimed' || job.state === 'running'
export const isEnded = (job: Job): job is Ended => TERMINAL.has(job.state)
