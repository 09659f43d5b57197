/**
 * The vocabulary of a key's life. A key is a name that jobs share (tenant, name); a limit is what somebody set for it; its
 * record is what pawl has learnt about whoever is behind it. A key without a record is `open` and at rest.
 */
import type { JobId, Time } from '../job.ts'

/** `probing` is not stored: it is `broken` whose time has come, so nobody has to turn it and nobody can forget to. */
export const KEY_STATES = ['open', 'slow', 'broken', 'probing'] as const
export type KeyState = (typeof KEY_STATES)[number]
export type StoredKeyState = Exclude<KeyState, 'probing'>

export const KEY_STATE_MEANS: Readonly<Record<KeyState, string>> = {
  open: 'nothing is wrong: all that its limit allows is let in',
  slow: 'it was pushed back: fewer at once, and more again while they succeed',
  broken: 'nothing is let in until its cool-down is over',
  probing: 'the cool-down is over: one job at a time finds out whether it works again',
}

export interface KeyRecord {
  readonly key: string
  readonly state: StoredKeyState
  /** How many at once at present, outside `open`. */
  readonly allowed: number
  /** Up to it `allowed` doubles, beyond it it grows by steps. */
  readonly target: number
  /** Bad episodes since it was last open: 0–7. */
  readonly level: number
  /** Which identity handlers have towards the other side; they rotate when it changes. */
  readonly session: number
  /** Signals of attempts that were claimed earlier are echoes of an episode that is known. */
  readonly freshFrom: Time
  /** The end of the cool-down; 0 where there is none. */
  readonly until: Time
  /** Failures of what is behind it, in a row. */
  readonly strikes: number
  readonly struckAt: Time
  /** Successes since the allowance was last raised. */
  readonly good: number
  readonly stepAt: Time
  /** When it was noted that attempts still succeed, where nothing else is written down: of a key whose session is not the first. */
  readonly heardAt: Time
  /** What was running when it left `open`: stands for its concurrency where its limit has none. */
  readonly base: number
  /** Since when it is in this state. */
  readonly since: Time
  readonly cause: KeyCause | undefined
  readonly rev: number
}

/** Who or what changed a key. */
export interface KeyCause {
  readonly job: JobId | undefined
  readonly attempt: number | undefined
  readonly code: string | undefined
  readonly actor: string
  readonly requestId: string
}

/** What somebody set for a key. Code gives the default; a value set by hand wins until it is removed. */
export interface Limit {
  readonly concurrency?: number | undefined
  /** So many claims within any window of `perMs`. */
  readonly rate?: { readonly most: number; readonly perMs: number } | undefined
  /** So much may be spent within each window of `perMs`. */
  readonly budget?: { readonly amount: number; readonly perMs: number } | undefined
  /** Its share of the turns among flows that wait at one place. */
  readonly weight?: number | undefined
}

/** What is true around a key and not written on it. */
export interface KeyCircumstances {
  readonly limit: Limit
  /** The one before, where this one is just being set. */
  readonly limitBefore?: Limit | undefined
  /** Slots taken: jobs that stand or are owned under it. */
  readonly taken: number
}

export const atRest = (key: string): KeyRecord => ({
  key,
  state: 'open',
  allowed: 0,
  target: 0,
  level: 0,
  session: 0,
  freshFrom: 0,
  until: 0,
  strikes: 0,
  struckAt: 0,
  good: 0,
  stepAt: 0,
  heardAt: 0,
  base: 0,
  since: 0,
  cause: undefined,
  rev: 0,
})

/** When something was last learnt of it. A success is noted no more often than `HEARD_MS`, so it may have been that much later. */
export const lastHeardAt = ({ since, struckAt, stepAt, freshFrom, heardAt }: KeyRecord): Time =>
  Math.max(since, struckAt, stepAt, freshFrom, heardAt)

export const keyStateAt = ({ state, until }: KeyRecord, now: Time): KeyState =>
  state === 'broken' && until <= now ? 'probing' : state
