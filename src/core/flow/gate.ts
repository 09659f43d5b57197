/**
 * All that a store knows of a key's life: numbers to compare slots with, computed here with each record and limit. A store
 * that compares them right needs to know no state.
 */

import type { Time } from '../job.ts'
import { type KeyRecord, keyStateAt, type Limit } from './key.ts'

export interface Gate {
  /** Slots that may be taken of those let in at or after `since`. Undefined: any number. */
  readonly slots: number | undefined
  /** Slots that may be taken in all. */
  readonly cap: number | undefined
  /** Nothing is let in before. */
  readonly openAt: Time
  readonly since: Time
  readonly rate: number | undefined
  readonly rateMs: number
  readonly budget: number | undefined
  readonly perMs: number
  readonly weight: number
}

/**
 * A broken key counts only what was let in since its cool-down ended, so that an old attempt that runs for an hour does not
 * keep the probe out; and where its limit has no concurrency, nothing else does.
 */
export function gateOf(key: KeyRecord, limit: Limit): Gate {
  const { concurrency, rate, budget, weight } = limit
  const numbers = {
    rate: rate?.most,
    rateMs: rate?.perMs ?? 0,
    budget: budget?.amount,
    perMs: budget?.perMs ?? 0,
    weight: weight ?? 1,
  }
  switch (key.state) {
    case 'open':
      return { slots: concurrency, cap: concurrency, openAt: 0, since: 0, ...numbers }
    case 'slow': {
      const slots = Math.min(key.allowed, concurrency ?? key.allowed)
      return { slots, cap: slots, openAt: 0, since: 0, ...numbers }
    }
    case 'broken':
      return { slots: 1, cap: concurrency, openAt: key.until, since: key.freshFrom, ...numbers }
  }
}

/** What `ctx.flow` says to a handler. */
export const flowOf = (key: KeyRecord, now: Time) => ({
  key: key.key,
  session: key.session,
  state: keyStateAt(key, now),
})
