/** What comes back over HTTP, as types: those who answer and those who read share them. */
import type { EventType } from '../../core/event.ts'
import type { Explanation } from '../../core/explain.ts'
import type { State } from '../../core/job.ts'

/** ISO 8601. */
export type Moment = string

/** Times as they are told. */
type Told<T> = { readonly [K in keyof T]: K extends 'when' ? Moment | undefined : T[K] }

export interface SessionAnswer {
  readonly name: string
  readonly scope: string
  /** Whose word it is that they say, in logs. */
  readonly actor: string
  readonly tenant: string
  readonly queues?: readonly string[]
  readonly expiresAt?: Moment
  /** How they came in: by a cookie, by a token, or by the word of the application around it. */
  readonly by: 'session' | 'token' | 'host'
  /** Routes, by name. */
  readonly may: readonly string[]
  /** For the header of requests that change something; of a session only. */
  readonly csrf?: string
  readonly basePath: string
  /** Whether there are pages for browsers here: then `/jobs/{id}` of this address is one. */
  readonly dashboard: boolean
}

export interface TallyAnswer {
  readonly at: Moment
  /** The 5,000 greatest by name; what is beyond state by state, with `other` as queue and type. */
  readonly counts: readonly {
    readonly queue: string
    readonly type: string
    readonly state: State
    readonly count: number
  }[]
}

export interface TrafficStep {
  /** When it begins. */
  readonly at: Moment
  readonly events: Readonly<Partial<Record<string, number>>>
  /** How long what was claimed in it had been ready, in milliseconds; absent where nothing was claimed. */
  readonly wait?: { readonly p50: number; readonly p95: number }
}

export interface TakersAnswer {
  readonly event: EventType
  readonly from: State | 'none'
  readonly to: State
  /** The newest first, ten at most: of those that were read. */
  readonly jobs: readonly { readonly id: string; readonly type: string; readonly at: Moment; readonly by: string }[]
}

export interface TrafficAnswer {
  readonly at: Moment
  /** Where the window begins, or the counting, whichever came later. */
  readonly from: Moment
  /** When the counting began. */
  readonly since: Moment
  readonly stepMs: number
  readonly changes: readonly {
    readonly event: EventType
    readonly from: State | 'none'
    readonly to: State
    readonly count: number
  }[]
  /** Which jobs made each change last, whether within the window or not; only where they are asked for. */
  readonly takers?: readonly TakersAnswer[]
  /** Versions of workers that were seen for the first time within the window, oldest first. */
  readonly deploys: readonly { readonly version: string; readonly at: Moment }[]
  /** Oldest first; those in which nothing happened are left out. */
  readonly steps: readonly TrafficStep[]
  readonly failures: readonly { readonly code: string; readonly count: number }[]
  /** What has ended by queue, the most first. */
  readonly ended: readonly { readonly queue: string; readonly count: number }[]
  /** Over the whole window, as in its steps. */
  readonly wait?: { readonly p50: number; readonly p95: number }
  /** The most recent first. */
  readonly lastSuccess: readonly { readonly type: string; readonly at: Moment }[]
}

/** The phrase beside a job in a list. */
export interface NowAnswer {
  readonly before: string
  readonly when?: Moment
  readonly after?: string
  readonly tookMs?: number
}

export interface CauseAnswer {
  readonly fingerprint: string
  readonly code: string
  readonly reason?: string
  readonly message: string
  readonly count: number
  readonly firstAt: Moment
  readonly lastAt: Moment
  readonly types: readonly string[]
  /** How many of them ended in each of the last twelve hours, the oldest first. */
  readonly hours: readonly number[]
  /** All that were read, newest first: what a redrive names. */
  readonly ids: readonly string[]
  readonly samples: readonly {
    readonly id: string
    readonly type: string
    readonly failures: number
    readonly endedAt: Moment
    readonly message: string
  }[]
}

export interface CausesAnswer {
  readonly causes: readonly CauseAnswer[]
  /** How many dead letters were read for it, the newest first. */
  readonly read: number
  /** Where there are more that were not read. */
  readonly cursor?: string
}

export type ExplainAnswer = Told<Explanation>

/** Whether somebody may approve a job, by the rule that the engine goes by. */
export { approvalAmiss } from '../../core/admission.ts'
/** Those of a limit key. */
export { KEY_STATES } from '../../core/flow/key.ts'
/** Why a job may be put aside by hand. */
export { DEAD_LETTER_REASONS } from '../../core/job.ts'
/** What may be done to many. */
export type { Action as OperationAction } from '../../core/operation.ts'
/** Whether a queue is one of pawl's own. */
export { isReserved } from '../../core/reserved.ts'
