/** What the gateway tells, as this page reads it. */
import type { KEY_STATES, Moment, NowAnswer, TrafficAnswer } from '../../../src/gateway/contract/answers.ts'
import type { Dialect as Document, RefusedCells } from '../../../src/gateway/contract/telling.ts'

export type {
  CauseAnswer,
  CausesAnswer,
  ExplainAnswer,
  Moment,
  NowAnswer,
  OperationAction,
  SessionAnswer,
  TallyAnswer,
  TrafficAnswer,
} from '../../../src/gateway/contract/answers.ts'

export { approvalAmiss, DEAD_LETTER_REASONS, isReserved, KEY_STATES } from '../../../src/gateway/contract/answers.ts'
export type { Scope } from '../../../src/gateway/contract/route.ts'
export type { RefusedCells } from '../../../src/gateway/contract/telling.ts'

export type State = TrafficAnswer['changes'][number]['to']
export type Change = Omit<TrafficAnswer['changes'][number], 'count' | 'event'> & { readonly event: string }

export interface Failure {
  readonly code: string
  readonly class: string
  readonly message: string
  readonly stage: string
  readonly at: Moment
  readonly attempt: number
  readonly worker?: string
  readonly body?: { readonly name: string }
}

/** A record, as far as it is shown here. */
export interface Job {
  readonly id: string
  readonly alias?: string
  readonly type: string
  readonly queue: string
  readonly state: State
  readonly phase: 'run' | 'compensate'
  readonly priority: number
  readonly generation: number
  readonly attempt: number
  readonly rev: number
  readonly failures: number
  readonly stalls: number
  readonly steps: number
  readonly createdAt: Moment
  readonly updatedAt: Moment
  readonly startedAt?: Moment
  readonly endedAt?: Moment
  readonly strippedAt?: Moment
  readonly deadlineAt?: Moment
  readonly readyAt?: Moment
  readonly executionMs: number
  readonly owner?: { readonly workerId: string }
  /** The one before the present. */
  readonly lastClaim?: { readonly generation: number; readonly ran?: boolean }
  readonly lease?: { readonly grantedAt: Moment; readonly expiresAt: Moment }
  readonly wait?: { readonly name: string; readonly key?: string; readonly timeoutAt?: Moment }
  readonly cancel?: { readonly mode: string; readonly by: string; readonly reason?: string }
  readonly progress?: { readonly done: number; readonly total?: number; readonly message?: string }
  readonly counters: Readonly<Record<string, number>>
  readonly labels?: Readonly<Record<string, string>>
  readonly dedupeKey?: string
  readonly flow?: { readonly keys: readonly string[] }
  readonly correlationId: string
  readonly parentId?: string
  readonly workflowId?: string
  readonly dialect?: string
  readonly lastFailure?: Failure
  readonly error?: Failure
  readonly deadLetter?: { readonly reason: string }
  readonly approval?: Approval
  /** What duplicates have brought: the newest input by size and digest, with which revision it came, and who has brought it. */
  readonly newer?: { readonly input?: unknown; readonly rev?: number; readonly by?: string }
  readonly policy?: Policy
  readonly input?: unknown
  readonly output?: unknown
  /** What it has come to, by size and digest. */
  readonly result?: unknown
  readonly masked?: boolean
  /** `input` and `output` are those of an older record: what this one carries is still on its way. */
  readonly isBehind?: boolean
  /** In lists that ask for it. */
  readonly now?: NowAnswer
  /** Likewise: how many failures it may have. */
  readonly maxAttempts?: number
}

/** What a person is asked before a job is let in, and the answer. */
export interface Approval {
  readonly rule: string
  readonly policyHash: string
  readonly jobHash: string
  readonly expiresAt: Moment
  readonly notBy?: string
  readonly reason?: string
  readonly given?: { readonly by: string; readonly at: Moment; readonly reason?: string }
}

export interface Policy {
  readonly leaseMs: number
  readonly attemptMs: number
  readonly maxAttempts: number
  readonly maxStalls: number
  readonly retry: { readonly baseMs: number; readonly factor: number; readonly maxMs: number; readonly jitter: string }
  readonly onExhausted: string
}

export interface JobEvent {
  readonly id: string
  readonly jobId: string
  readonly rev: number
  readonly type: string
  readonly at: Moment
  readonly actor: string
  readonly generation: number
  readonly attempt: number
  readonly state: State
  readonly seq?: number
  readonly from?: State
  readonly to?: State
  readonly reason?: string
  readonly payload: Readonly<Record<string, unknown>>
  /** In streams. */
  readonly queue?: string
  readonly jobType?: string
}

export interface JobsAnswer {
  readonly jobs: readonly Job[]
  readonly cursor?: string
  readonly read?: number
  readonly tooLong?: number
}

/** Of jobs that were asked for by their names. */
export interface TheseAnswer {
  readonly jobs: readonly Job[]
  /** Ids of those that the query would not find any more. */
  readonly gone: readonly string[]
}

export interface Queue {
  readonly queue: string
  readonly paused: boolean
  readonly pausedBy?: string
  readonly pausedSince?: Moment
  readonly readySince?: Moment
  readonly counts: Readonly<Partial<Record<State, number>>>
}

export interface Worker {
  readonly workerId: string
  readonly queues?: readonly string[]
  readonly types?: readonly string[]
  readonly concurrency?: number
  readonly running?: number
  readonly host?: string
  readonly pid?: number
  readonly version?: string
  readonly seenAt: Moment
  readonly present: boolean
}

export interface Token {
  readonly id: string
  readonly name: string
  readonly scope: string
  readonly createdAt: Moment
  readonly expiresAt?: Moment
  readonly revokedAt?: Moment
  readonly of?: string
  readonly as?: 'session' | 'link'
}

export interface AuditEntry {
  readonly n: number
  readonly at: Moment
  readonly act: string
  readonly by: string
  readonly about: string
  readonly count?: number
  readonly reason?: string
  readonly address?: string
}

export interface Move {
  readonly events: readonly string[]
  readonly to: State
  readonly when: string
}

export type KeyState = (typeof KEY_STATES)[number]

/** What a key may be told, and in which of its states that changes something. */
export type KeyMachine = Readonly<
  Record<string, Readonly<Partial<Record<KeyState, readonly { readonly to: KeyState }[]>>>>
>

export interface Machine {
  readonly states: readonly State[]
  readonly terminal: readonly State[]
  readonly keys: KeyMachine
  readonly commands: Readonly<Record<string, Readonly<Partial<Record<State | 'none', readonly Move[]>>>>>
}

export interface Dialect extends Pick<Document, 'name' | 'title' | 'statuses' | 'ended' | 'shows' | 'table'> {
  readonly tells: Readonly<Record<string, string>>
}

/** What a document refuses of the jobs bound to it, by command. */
export type Forbids = Readonly<Record<string, RefusedCells>>

export interface DialectAnswer {
  readonly dialect: Dialect
  readonly forbids: Forbids
}
