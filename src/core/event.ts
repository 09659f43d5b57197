/**
 * What happened to a job. Past tense, append-only. A transition event is exactly one state change and has a `seq`;
 * an observation changes no state. Both take a `rev`.
 */

import type { Approval, Terms } from './approval.ts'
import type { Newer } from './brought.ts'
import type { Spend } from './command.ts'
import type {
  BodyRef,
  CancelRequest,
  DeadLetter,
  Ending,
  Failure,
  JobId,
  Owner,
  Priority,
  Progress,
  Result,
  Spec,
  State,
  StoredSignal,
  Time,
  Verdict,
  Wait,
} from './job.ts'
import type { Note } from './note.ts'
import type { Recast } from './recast.ts'
import type { CommandType } from './verb.ts'

/** Payload of each transition event. */
export interface TransitionPayloads {
  enqueued: {
    readonly spec: Spec
    readonly priority: Priority
    readonly runAt: Time
    readonly deadlineAt: Time | undefined
    readonly startBy: Time | undefined
    readonly failures: number
    readonly stalls: number
    /** `needs`, here and below: what it needs from now on, where this says something new. */
    readonly needs: string | undefined
  }
  admitted: {
    readonly verdict: Verdict
    readonly runAt: Time
    readonly startBy: Time | undefined
    readonly needs: string | undefined
    readonly terms: Terms | undefined
    readonly recast: Recast | undefined
  }
  denied: { readonly verdict: Verdict }
  claimed: { readonly owner: Owner; readonly fence: string; readonly leaseExpiresAt: Time }
  started: Record<never, never>
  waiting: { readonly wait: Wait; readonly executionMs: number }
  parked: Record<never, never>
  /** `stored`: it had been waiting in the inbox. */
  signalled: { readonly signal: StoredSignal; readonly stored: boolean; readonly memo: string }
  wait_timed_out: { readonly memo: string }
  released: { readonly runAt: Time; readonly executionMs: number; readonly needs: string | undefined }
  retry_scheduled: { readonly failure: Failure; readonly runAt: Time; readonly executionMs: number }
  stalled: { readonly leaseExpiresAt: Time; readonly needs: string | undefined }
  requeued: { readonly runAt: Time }
  /** `failure`: the handler had failed when it ended, and a cancel that was requested before had the last word. */
  cancelled: { readonly cancel: CancelRequest; readonly executionMs: number; readonly failure: Failure | undefined }
  succeeded: {
    readonly result: Result
    readonly stats: Readonly<Record<string, number>> | undefined
    readonly executionMs: number
  }
  failed: { readonly failure: Failure; readonly executionMs: number }
  timed_out: { readonly failure: Failure; readonly executionMs: number }
  dead_lettered: { readonly failure: Failure; readonly deadLetter: DeadLetter; readonly executionMs: number }
  compensating: {
    readonly intended: Ending
    readonly deadlineAt: Time
    readonly runAt: Time
    readonly executionMs: number
  }
  reopened: { readonly runAt: Time; readonly deadlineAt: Time | undefined; readonly startBy: Time | undefined }
}

/** Payload of each observation. */
export interface ObservationPayloads {
  /** One entry may stand for many heartbeats of an attempt: `count` of them, the last at this event's `rev`. */
  heartbeat: {
    readonly leaseExpiresAt: Time
    readonly count: number
    readonly firstAt: Time
    readonly cancelDelivered: boolean
  }
  progressed: {
    readonly progress: Progress | undefined
    readonly counters: Readonly<Record<string, number>> | undefined
  }
  checkpointed: { readonly body: BodyRef }
  recorded: {
    readonly step:
      | { readonly name: string; readonly body: BodyRef | undefined; readonly compensate: boolean }
      | undefined
    readonly undone: string | undefined
    readonly artifact: { readonly name: string; readonly ptr: string } | undefined
    readonly note: Note | undefined
    readonly spend: Spend | undefined
  }
  signal_stored: { readonly signal: StoredSignal }
  cancel_requested: { readonly cancel: CancelRequest }
  rescheduled: { readonly runAt: Time; readonly priority: Priority }
  /** What it has of duplicates from now on; `runAt` where the time it runs at has moved. */
  replaced: { readonly newer: Newer; readonly runAt: Time | undefined }
  approval_asked: { readonly approval: Omit<Approval, 'given'> }
  /** Who and when is the event's own to say. */
  approved: { readonly reason: string | undefined }
  compensated: Record<never, never>
  /** The texts beside it are gone from now on. */
  stripped: Record<never, never>
  /** Stands for `count` observations that have been thrown away, and keeps what they added up to. */
  compacted: {
    readonly count: number
    readonly counters: Readonly<Record<string, number>>
    readonly progress: Progress | undefined
    readonly checkpoint: BodyRef | undefined
    readonly steps: number
    readonly compensations: readonly string[]
    readonly artifacts: Readonly<Record<string, string>>
    readonly observations: number
    readonly bodySize: number
  }
}

export type TransitionType = keyof TransitionPayloads
export type ObservationType = keyof ObservationPayloads
export type EventType = TransitionType | ObservationType

interface Stamp {
  readonly jobId: JobId
  readonly rev: number
  readonly at: Time
  readonly actor: string
  /** The command this event answers. One command may cause several events. */
  readonly command: CommandType
  readonly requestId: string
  /** Hash of the command's own words: tells a repetition from a reuse of its request id. */
  readonly digest: string
  readonly correlationId: string
  readonly traceparent: string | undefined
  readonly cause: string | undefined
  readonly reason: string | undefined
  readonly generation: number
  readonly attempt: number
  /** The job's state once this has happened: `to` of a transition; of an observation, the state it was made in. */
  readonly state: State
  readonly version: 1
}

export type TransitionEvent = {
  [T in TransitionType]: Stamp & {
    readonly type: T
    readonly seq: number
    readonly from: State | undefined
    readonly to: State
    readonly payload: TransitionPayloads[T]
  }
}[TransitionType]

export type ObservationEvent = {
  [T in ObservationType | 'compensating']: Stamp & {
    readonly type: T
    readonly seq: undefined
    readonly from: undefined
    readonly to: undefined
    readonly payload: T extends ObservationType ? ObservationPayloads[T] : TransitionPayloads['compensating']
  }
}[ObservationType | 'compensating']

export type Event = TransitionEvent | ObservationEvent

/** Unique for ever: a job gives each revision to one event. */
export const eventId = (event: Pick<Event, 'jobId' | 'rev'>): string => `${event.jobId}/${event.rev}`

export const TRANSITION_TYPES = [
  'enqueued',
  'admitted',
  'denied',
  'claimed',
  'started',
  'waiting',
  'parked',
  'signalled',
  'wait_timed_out',
  'released',
  'retry_scheduled',
  'stalled',
  'requeued',
  'cancelled',
  'succeeded',
  'failed',
  'timed_out',
  'dead_lettered',
  'compensating',
  'reopened',
] as const satisfies readonly TransitionType[]

export const OBSERVATION_TYPES = [
  'heartbeat',
  'progressed',
  'checkpointed',
  'recorded',
  'signal_stored',
  'cancel_requested',
  'rescheduled',
  'replaced',
  'approval_asked',
  'approved',
  'compensated',
  'stripped',
  'compacted',
] as const satisfies readonly ObservationType[]

/**
 * A word that came too late, from a fence that is dead. Kept beside the log, outside the fold, once per
 * (job, generation, attempt, command).
 */
export interface Annotation {
  readonly jobId: JobId
  readonly generation: number
  readonly attempt: number
  readonly command: CommandType
  readonly at: Time
  readonly actor: string
  readonly requestId: string
  readonly correlationId: string
  /** What it would have come to; absent of words that end nothing. */
  readonly outcome: LateOutcome | undefined
}

/** The ending that a late word told of: a result, where it is, or the error. */
export interface LateOutcome {
  readonly state: 'succeeded' | 'failed' | 'cancelled' | 'dead_lettered'
  readonly resultPtr: string | undefined
  /** Of a value: how large it was, and its digest. The text itself is not kept. */
  readonly result: BodyRef | undefined
  readonly error: { readonly code: string; readonly message: string } | undefined
  readonly executionMs: number | undefined
}

export const EVENT_TYPES: readonly EventType[] = [...TRANSITION_TYPES, ...OBSERVATION_TYPES]
