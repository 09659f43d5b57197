/**
 * The engine interface: one, whether the engine runs here over a store or behind HTTP. The library's facade, the
 * worker runtime, the CLI and the examples speak to this and to nothing below it.
 */
import type { Command, Enqueue } from '../core/command.ts'
import type { KeyEvent } from '../core/flow/event.ts'
import type { Holding } from '../core/flow/explain.ts'
import type { KeyCause, KeyState, Limit } from '../core/flow/key.ts'
import type { CancelRequest, Job, JobFlow, JobId, Kind, Priority, State, Time } from '../core/job.ts'
import type { Effect } from '../core/newer.ts'
import type { Refusal } from '../core/refusal.ts'
import type {
  Body,
  EventPage,
  EventQuery,
  Hint,
  JobPage,
  JobQuery,
  Lane,
  LoadAnswer,
  LoadItem,
  SettingAnswer,
  SettingOperation,
  Transaction,
} from '../store/store.ts'

export interface Engine extends AsyncDisposable {
  /** Answers each request. `together`: all are enqueued, or none where one is refused. */
  enqueue(requests: readonly EnqueueRequest[], tx?: Transaction, together?: boolean): Promise<readonly EnqueueAnswer[]>
  /** An id for a job of each of these tenants, where this engine gives them out: who seals an input must know whose it will be. */
  reserveIds?(tenants: readonly string[]): Promise<readonly JobId[]>
  /** Jobs for a worker, at once or as soon as there are any. */
  claim(request: ClaimRequest): Promise<readonly Assignment[]>
  /** Any command about an existing job, from its owner or from anybody else; one answer each. */
  settle(words: readonly Word[]): Promise<readonly Answer[]>
  heartbeat(beats: readonly HeartbeatRequest[]): Promise<readonly HeartbeatAnswer[]>
  load(items: readonly LoadItem[]): Promise<LoadAnswer>
  find(query: JobQuery): Promise<JobPage>
  events(query: EventQuery): Promise<EventPage>
  settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]>
  /** What holds those of the jobs that could run but for their keys and turns. */
  whatHolds(jobs: readonly Job[]): Promise<ReadonlyMap<JobId, Holding>>
  /** Limit keys as they are, by name. */
  limits(query: LimitQuery): Promise<LimitPage>
  /** What operators say to them; each answered with the key as it is then, or undefined where there is none. */
  sayToLimits(words: readonly KeyWord[]): Promise<readonly (LimitStatus | undefined)[]>
  subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable>
  /** The same engine for one call: what it still waits for when the signal aborts is called off, where that is possible. */
  until(signal: AbortSignal): Engine
  /** The store's clock, estimated: the `now` of the last answer plus monotonic time since. Never ahead. */
  now(): Time
}

export interface EnqueueRequest {
  readonly requestId?: string | undefined
  readonly actor: string
  readonly kind: Kind
  /** The parts of the kind that the caller left to the job type. */
  readonly unsaid?: Enqueue['unsaid']
  readonly priority: Priority
  readonly input: string | undefined
  /** The id to use: one that was reserved for this job. */
  readonly reservedId?: JobId | undefined
  readonly id?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly dedupeKey?: string | undefined
  /** It stands in for a job that has ended: the holder of its dedupe key is newer by now, and stays as it is. */
  readonly older?: true | undefined
  readonly flow?: JobFlow | undefined
  readonly runAt?: Time | undefined
  readonly delayMs?: number | undefined
  readonly contextPtr?: string | undefined
  readonly topic?: string | undefined
  readonly adapterId?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly parentId?: JobId | undefined
  readonly workflowId?: string | undefined
  readonly stepIndex?: number | undefined
  readonly correlationId?: string | undefined
  readonly traceparent?: string | undefined
}

export type EnqueueAnswer =
  | {
      readonly ok: true
      readonly job: Job
      readonly deduped: boolean
      readonly replayed: boolean
      /** Of a duplicate, where its policy lets it do anything. */
      readonly effect?: Effect | undefined
    }
  | { readonly ok: false; readonly refusal: Refusal }

export interface ClaimRequest {
  readonly requestId: string
  readonly workerId: string
  /** Whose act it is, where somebody gives jobs to workers. Absent: the worker's own. */
  readonly actor?: string | undefined
  readonly lanes: readonly Lane[]
  /** Types it has handlers for: jobs that others handed back because they do not know theirs are for who does. Absent: all. */
  readonly serves?: readonly string[] | undefined
  /** The pool it works in: it is given what is routed there, beside what is routed nowhere. Absent: none. */
  readonly pool?: string | undefined
  /** What it can do: it is given what requires no more than that. Absent: nothing in particular. */
  readonly capabilities?: readonly string[] | undefined
  readonly limit: number
  /** How many of them may have a flow: as many as it begins at once. Absent: any. */
  readonly limited?: number | undefined
  /** How long the answer may be waited for while there is nothing to claim. Absent or 0: it is given at once. */
  readonly waitMs?: number | undefined
  /** While it waits: the longest pause between two looks, for what no hint tells of. A second unless given. */
  readonly pollMs?: number | undefined
  /** Aborts when the answer is no longer waited for. What was given before that is the answer, and the caller's to release. */
  readonly signal?: AbortSignal | undefined
}

export interface Assignment {
  /** The record, claimed. */
  readonly job: Job
  readonly fence: string
  readonly leaseExpiresAt: Time
  readonly input: string | undefined
  /** True: the input was too big to ride along; load it. */
  readonly inputLater: boolean
  /** How long its claim had waited when it was looked for and found: the lease began no sooner. Absent: not at all. */
  readonly waitedMs?: number | undefined
  /** The key that hears how it ends, as it was at the claim or after. Absent: there is none. */
  readonly flow?: Flowing | undefined
}

/** What a handler is told of the flow key that it runs under. */
export interface Flowing {
  readonly key: string
  /** Which identity to have towards the other side: rotate when it changes. */
  readonly session: number
  readonly state: KeyState
}

type WithoutEnqueue = Exclude<Command, { type: 'enqueue' | 'claim' }>

/** A command, the job it is for, and the texts its body references stand for. */
export interface Word {
  readonly id: JobId
  readonly tenant?: string | undefined
  readonly command: WithoutEnqueue
  readonly bodies?: readonly Body[] | undefined
  /** Effects and verdict in the caller's transaction. */
  readonly tx?: Transaction | undefined
  /** A heartbeat that names nothing but its fence: who speaks, and of which revision, is what the record says. */
  readonly byFence?: true | undefined
}

export type Answer =
  | {
      readonly ok: true
      readonly jobId: JobId
      readonly rev: number
      readonly state: State
      readonly at: Time
      readonly replayed: boolean
      readonly cancel: CancelRequest | undefined
    }
  | { readonly ok: false; readonly refusal: Refusal }

export interface HeartbeatRequest {
  readonly id: JobId
  readonly fence: string
  readonly requestId: string
  /** For how long the lease is renewed: an answer that takes much of it comes too late. */
  readonly windowMs?: number | undefined
}

export type HeartbeatAnswer =
  | {
      readonly ok: true
      readonly rev: number
      readonly leaseExpiresAt: Time
      readonly cancel: CancelRequest | undefined
    }
  | { readonly ok: false; readonly refusal: Refusal }

/** A limit key as it is now. */
export interface LimitStatus {
  readonly key: string
  readonly state: KeyState
  /** What is in force. */
  readonly limit: Limit
  /** What somebody set by hand. */
  readonly byHand: Limit | undefined
  /** What the job type says. */
  readonly declared: Limit | undefined
  /** How many jobs run under it, or have been let in. */
  readonly taken: number
  /** How many wait for it, counted up to 1,000. */
  readonly held: number
  /** How many at once at present; undefined: as the limit says. */
  readonly allowed: number | undefined
  readonly session: number
  /** Since when it is in this state; undefined: it never was in another. */
  readonly since: Time | undefined
  /** While it is broken: when one job is let in to find out. */
  readonly until: Time | undefined
  /** What was spent in the present window of its budget. */
  readonly spent: number
  readonly cause: KeyCause | undefined
  /** The last changes, the oldest first. */
  readonly log: readonly KeyEvent[]
}

export interface LimitPage {
  readonly limits: readonly LimitStatus[]
  /** Where to go on; absent at the end. */
  readonly cursor: string | undefined
}

export interface LimitQuery {
  readonly tenant: string
  readonly names?: readonly string[] | undefined
  /** Only keys that are in one of these states: the page may be short, and go on. */
  readonly states?: readonly KeyState[] | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface KeyWord {
  readonly tenant: string
  readonly key: string
  readonly actor: string
  readonly requestId: string
  readonly ask: /** What is to hold for it, whatever its job type declares. */
    | { readonly type: 'set'; readonly limit: Limit }
    /** What its job type declares is to hold again. */
    | { readonly type: 'unset' }
    /** As if it had never been pushed back. */
    | { readonly type: 'reset' }
    /** Whatever its cool-down says, one job is to find out now. */
    | { readonly type: 'probe' }
}
