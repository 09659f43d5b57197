/** What may be asked of a job. Imperative; who asks and under which request travels with every one of them. */
import type { Terms } from './approval.ts'
import type { BodyRef, DeadLetterReason, JobFlow, JobId, Kind, Priority, Progress, Stage, State, Time } from './job.ts'
import type { Route } from './needs.ts'
import type { Note } from './note.ts'
import type { ErrorClass } from './policy.ts'
import type { Recast } from './recast.ts'
import type { CommandType } from './verb.ts'

interface Asked {
  /** Who: `producer:api`, `worker:w1`, `operator:ann`, `system`. */
  readonly actor: string
  /** This call. Repeated, it gets the answer it got. */
  readonly requestId: string
  readonly correlationId?: string | undefined
  readonly cause?: string | undefined
  readonly traceparent?: string | undefined
  /** Refused unless the record is still, but for the owner's own heartbeats and progress, at this revision. */
  readonly expectedRev?: number | undefined
}

interface Owned extends Asked {
  readonly fence: string
}

export interface Enqueue extends Asked {
  readonly type: 'enqueue'
  readonly id: JobId
  readonly kind: Kind
  /** What of the kind the caller left to the job type, and did not ask for: a type may change, the request is the same. */
  readonly unsaid?: readonly ('queue' | 'policy')[] | undefined
  readonly priority: Priority
  readonly runAt?: Time | undefined
  readonly alias?: string | undefined
  readonly input?: BodyRef | undefined
  readonly contextPtr?: string | undefined
  readonly topic?: string | undefined
  readonly adapterId?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly parentId?: JobId | undefined
  readonly workflowId?: string | undefined
  readonly stepIndex?: number | undefined
  readonly dedupeKey?: string | undefined
  readonly flow?: JobFlow | undefined
  /** A retry that is a new job inherits what is left of the budget (002). */
  readonly failures?: number | undefined
  readonly stalls?: number | undefined
}

export interface Admit extends Asked {
  readonly type: 'admit'
  readonly rule: string
  readonly policyHash: string
  /** Why, of one that a person had to approve. */
  readonly reason?: string | undefined
  /** Bounds that hold beside those of its policy: the narrower of both. */
  readonly terms?: Terms | undefined
  /** Who may claim it, beyond those of its queue. Absent: whoever claims from its queue. */
  readonly route?: Route | undefined
  /** What is made of it besides. Absent: it is what was asked for. */
  readonly recast?: Recast | undefined
}

/** The rule of whoever decides without one. */
export const BY_HAND = { rule: 'by_hand', policyHash: 'none' } as const

export interface Deny extends Asked {
  readonly type: 'deny'
  readonly rule: string
  readonly policyHash: string
  readonly reason?: string | undefined
}

/** A policy lets the job in once somebody has approved it. */
export interface AskApproval extends Asked {
  readonly type: 'askApproval'
  readonly rule: string
  readonly policyHash: string
  readonly expiresMs: number
  /** Who may not give it. */
  readonly notBy?: string | undefined
  readonly reason?: string | undefined
}

/** Names what is approved: the policy that asked, and the job as it was asked about. */
export interface Approve extends Asked {
  readonly type: 'approve'
  readonly policyHash: string
  readonly jobHash: string
  readonly reason?: string | undefined
}

export interface Claim extends Asked {
  readonly type: 'claim'
  readonly workerId: string
  /** 64 random bits, 16 hexadecimal digits. */
  readonly nonce: string
}

export interface Start extends Owned {
  readonly type: 'start'
}

export interface Heartbeat extends Owned {
  readonly type: 'heartbeat'
}

/** `done`, `total`, `message`, `etaAt` replace what was; counters add up. */
export interface ReportProgress extends Owned {
  readonly type: 'progress'
  readonly progress?: Progress | undefined
  readonly counters?: Readonly<Record<string, number>> | undefined
}

export interface Checkpoint extends Owned {
  readonly type: 'checkpoint'
  readonly body: BodyRef
}

/** A step's memo, an artifact's pointer, a note on a plan, a node or a tool; with `compensate` the step must be undone should the job not succeed. */
export interface RecordWork extends Owned {
  readonly type: 'record'
  readonly step?:
    | { readonly name: string; readonly body: BodyRef | undefined; readonly compensate: boolean }
    | undefined
  /** A step whose compensation has run. */
  readonly undone?: string | undefined
  readonly artifact?: { readonly name: string; readonly ptr: string } | undefined
  readonly note?: Note | undefined
  readonly spend?: Spend | undefined
}

/** What the attempt has cost, in whatever its keys have budgets of. */
export interface Spend {
  readonly amount: number
  /** Absent: each of the job's keys that has a budget. */
  readonly key?: string | undefined
}

export interface Complete extends Owned {
  readonly type: 'complete'
  readonly result?: BodyRef | undefined
  readonly resultPtr?: string | undefined
  readonly stats?: Readonly<Record<string, number>> | undefined
  readonly executionMs?: number | undefined
  /** When the handler really began, where `started` was not written at the time. */
  readonly startedAt?: Time | undefined
}

/** What a handler (or its worker) says about an error; core turns it into a `Failure`. */
export interface Fault {
  readonly code: string
  readonly message: string
  readonly class?: ErrorClass | undefined
  readonly stage?: Stage | undefined
  readonly context?: Readonly<Record<string, string>> | undefined
  readonly retryAfterMs?: number | undefined
  readonly body?: BodyRef | undefined
  /** Which of the job's keys it tells of. Absent: the one that always hears. */
  readonly key?: string | undefined
}

export interface Fail extends Owned {
  readonly type: 'fail'
  readonly fault: Fault
  /** How often the key that hears of it was pushed back since it was last open, as the engine knows it. */
  readonly level?: number | undefined
  readonly executionMs?: number | undefined
  readonly startedAt?: Time | undefined
}

export interface Wait extends Owned {
  readonly type: 'wait'
  readonly name: string
  readonly key?: string | undefined
  readonly timeoutMs?: number | undefined
  /** Overrides the policy: a sleep always resumes. */
  readonly onTimeout?: 'resume' | 'timed_out' | undefined
  /** The step under which the handler will find how the wait ended; the signal's name unless given. */
  readonly memo?: string | undefined
  readonly executionMs?: number | undefined
}

export interface Signal extends Asked {
  readonly type: 'signal'
  readonly name: string
  readonly key?: string | undefined
  readonly body?: BodyRef | undefined
}

/** `unknown_type`: the releaser has no handler for it, and from then on only who serves that type may claim it. */
export const RELEASE_REASONS = ['shutdown', 'handed_back', 'snoozed', 'unknown_type'] as const
export type ReleaseReason = (typeof RELEASE_REASONS)[number]

export interface Release extends Owned {
  readonly type: 'release'
  readonly reason: ReleaseReason
  readonly runAt?: Time | undefined
  readonly executionMs?: number | undefined
}

export interface Reschedule extends Asked {
  readonly type: 'reschedule'
  readonly runAt?: Time | undefined
  readonly priority?: Priority | undefined
}

/**
 * A duplicate has come, and brings a newer input: for this job, while nobody has begun with it; else for the one that comes
 * after it. `debounce` moves the time it runs at with every duplicate, up to a limit.
 */
export interface Replace extends Asked {
  readonly type: 'replace'
  /** Named `replaced` or `next`, by where it belongs: core says which (`placeOf`). Absent: what came before it stays. */
  readonly input?: BodyRef | undefined
  /** The names it is let in by. Absent: those of the job. */
  readonly flow?: JobFlow | undefined
  readonly runAt?: Time | undefined
  readonly debounce?: { readonly withinMs: number; readonly atMostMs: number } | undefined
}

export interface Stall extends Asked {
  readonly type: 'stall'
  /** Where given, only this lease is judged: two reapers, one verdict. */
  readonly fence?: string | undefined
}

export interface Requeue extends Asked {
  readonly type: 'requeue'
}

export interface Cancel extends Asked {
  readonly type: 'cancel'
  readonly mode: 'soft' | 'hard'
  readonly reason?: string | undefined
  /** Given by an owner who ends its own job. */
  readonly fence?: string | undefined
  /** What duplicates have brought meanwhile goes with it. Absent: it is the job that comes next. */
  readonly next?: 'drop' | undefined
}

export interface Expire extends Asked {
  readonly type: 'expire'
}

export interface DeadLetterNow extends Asked {
  readonly type: 'deadLetter'
  readonly reason: DeadLetterReason
  readonly stage: Stage
  readonly message?: string | undefined
  readonly fence?: string | undefined
}

export interface Compensated extends Owned {
  readonly type: 'compensated'
  readonly executionMs?: number | undefined
}

export interface Reopen extends Asked {
  readonly type: 'reopen'
  readonly runAt?: Time | undefined
  readonly reason?: string | undefined
}

/**
 * The texts beside a job that has ended go: its input and output, memos, checkpoint, what signals brought, stacks of errors. The
 * record and the log stay, and say what there was. Retention's word.
 */
export interface Strip extends Asked {
  readonly type: 'strip'
  /** The state, by name, in which a job loses them although it could be reopened, and cannot be any more. */
  readonly evenOf?: State | undefined
}

export type OwnerCommand =
  | Start
  | Heartbeat
  | ReportProgress
  | Checkpoint
  | RecordWork
  | Complete
  | Fail
  | Wait
  | Release
  | Compensated

export type Command =
  | OwnerCommand
  | Enqueue
  | Admit
  | Deny
  | AskApproval
  | Approve
  | Claim
  | Signal
  | Reschedule
  | Replace
  | Stall
  | Requeue
  | Cancel
  | Expire
  | DeadLetterNow
  | Reopen
  | Strip

/**
 * The verbs of `verb.ts` and the commands above are one list: a difference does not compile.
 * @public
 */
export type EveryVerbHasACommand = Within<Command['type'], CommandType>
type Within<All, Some extends All> = Some

/** A command before it is known who says it, and under which request id. */
export type Unstamped<C extends Command> = C extends unknown ? Omit<C, 'actor' | 'requestId'> : never
