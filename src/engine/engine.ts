/**
 * The engine interface: one, whether the engine runs here over a store or behind HTTP. The library's facade, the
 * worker runtime, the CLI and the examples speak to this and to nothing below it.
 */
import type { Command } from '../core/command.ts'
import type { CancelRequest, Job, JobId, Kind, Priority, State, Time } from '../core/job.ts'
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
  /** Whether a claim that finds nothing may stand, and be answered by whoever enqueues. */
  readonly claimsStand: boolean
  enqueue(requests: readonly EnqueueRequest[], tx?: Transaction): Promise<readonly EnqueueAnswer[]>
  /** An id for a job of each of these tenants, where this engine gives them out: who seals an input must know whose it will be. */
  reserveIds?(tenants: readonly string[]): Promise<readonly JobId[]>
  claim(request: ClaimRequest): Promise<readonly Assignment[]>
  /** Any command about an existing job, from its owner or from anybody else; one answer each. */
  settle(words: readonly Word[]): Promise<readonly Answer[]>
  heartbeat(beats: readonly HeartbeatRequest[]): Promise<readonly HeartbeatAnswer[]>
  load(items: readonly LoadItem[]): Promise<LoadAnswer>
  find(query: JobQuery): Promise<JobPage>
  events(query: EventQuery): Promise<EventPage>
  settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]>
  subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable>
  /** The store's clock, estimated: the `now` of the last answer plus monotonic time since. Never ahead. */
  now(): Time
}

export interface EnqueueRequest {
  readonly requestId?: string | undefined
  readonly actor: string
  readonly kind: Kind
  readonly priority: Priority
  readonly input: string | undefined
  /** One of those that were reserved for it. */
  readonly reservedId?: JobId | undefined
  readonly id?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly dedupeKey?: string | undefined
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
  | { readonly ok: true; readonly job: Job; readonly deduped: boolean; readonly replayed: boolean }
  | { readonly ok: false; readonly refusal: Refusal }

export interface ClaimRequest {
  readonly requestId: string
  readonly workerId: string
  readonly lanes: readonly Lane[]
  /** 0: what was given under this request, and nothing new. */
  readonly limit: number
  /** Where claims stand and there is nothing. It must be asked for again under its request, then, or stands in vain. */
  readonly stand?: Stand | undefined
}

export interface Stand {
  readonly ms: number
  /** For so many jobs. */
  readonly limit: number
  /** It does. */
  readonly began: () => void
}

export interface Assignment {
  /** The record, claimed. */
  readonly job: Job
  readonly fence: string
  readonly leaseExpiresAt: Time
  readonly input: string | undefined
  /** True: the input was too big to ride along; load it. */
  readonly inputLater: boolean
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
}

export type HeartbeatAnswer =
  | {
      readonly ok: true
      readonly rev: number
      readonly leaseExpiresAt: Time
      readonly cancel: CancelRequest | undefined
    }
  | { readonly ok: false; readonly refusal: Refusal }
