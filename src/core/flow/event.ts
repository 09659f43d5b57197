/** What happened to a key. All but `counted` are told: kept with the key and in the feed, each with its cause. */
import type { Time } from '../job.ts'
import type { KeyCause, KeyState, Limit, StoredKeyState } from './key.ts'

export interface KeyPayloads {
  /** Fewer at once, under a new session. */
  readonly slowed: { readonly allowed: number; readonly level: number; readonly session: number; readonly base: number }
  /** Nothing is let in until then. */
  readonly broken: {
    readonly until: Time
    readonly target: number
    readonly level: number
    readonly session: number
    readonly base: number
  }
  /** Still broken, and for longer. */
  readonly prolonged: { readonly until: Time }
  /** Its cool-down was over, and one job was to find out. Nobody has to turn a key, so this is written with what came of it, as of then. */
  readonly probing: Readonly<Record<never, never>>
  /** A probe has succeeded: one at once, and then more. */
  readonly recovering: Readonly<Record<never, never>>
  readonly raised: { readonly allowed: number }
  readonly opened: Readonly<Record<never, never>>
  /** It has another limit, of hand or code. What was allowed and is more than that is lowered, and nothing is ever raised by it. */
  readonly limited: {
    readonly limit: Limit
    readonly allowed: number
    /** What it had before: what neither has begun nor ceased to count goes on. Absent in older ones. */
    readonly before?: Limit | undefined
  }
  readonly reset: Readonly<Record<never, never>>
  /** Somebody ended the cool-down. */
  readonly hastened: Readonly<Record<never, never>>
  readonly counted: {
    readonly strikes: number
    readonly struckAt: Time
    readonly good: number
    /** Absent: as before. */
    readonly heardAt?: Time
  }
}

export type KeyEventType = keyof KeyPayloads

interface Stamp {
  readonly key: string
  readonly rev: number
  readonly at: Time
  readonly input: KeyInputType
  readonly from: KeyState
  readonly to: StoredKeyState
  readonly cause: KeyCause
}

export type KeyEvent = {
  readonly [T in KeyEventType]: Stamp & { readonly type: T; readonly payload: KeyPayloads[T] }
}[KeyEventType]

export const KEY_INPUTS = [
  'throttled',
  'retry_after',
  'unavailable',
  'succeeded',
  'set',
  'reset',
  'probe',
  'time',
] as const
export type KeyInputType = (typeof KEY_INPUTS)[number]

export const isTold = ({ type }: KeyEvent): boolean => type !== 'counted'
