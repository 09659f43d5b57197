/** Every number of a key's life. */
import { fraction } from '../hash.ts'
import type { Curve, Policy } from '../policy.ts'
import type { KeyCircumstances, KeyRecord } from './key.ts'

const SECOND = 1_000
const HOUR = 3_600 * SECOND

export const LEVEL_MAX = 7
/** Failures in a row that break an open key, and one that has just been slowed. */
export const STRIKES_TO_BREAK = { open: 5, slow: 2 } as const
/** A strike that is older than this is not in a row with the next. */
export const STRIKE_MS = 60 * SECOND
/** The least time between two raises of the allowance. */
export const RAISE_MS = 10 * SECOND
export const COOL_BASE_MS = 5 * SECOND
export const COOL_MAX_MS = 300 * SECOND
export const CALM_BASE_MS = 30 * SECOND
const CALM_FACTOR_MAX = 8
/** Of a key without a concurrency of its own, that left `open` while hardly anything ran. */
const BASE_LEAST = 2
/** How exactly it is known when a key that is open was last heard of. */
export const HEARD_MS = HOUR
export const RAISED_CAP_MAX_MS = HOUR

export const half = (n: number): number => Math.max(1, Math.floor(n / 2))

export const levelUp = (level: number): number => Math.min(LEVEL_MAX, level + 1)

/** How long nothing is let in. Never shorter than the curve, up to a fifth longer: those who break together come back apart. */
export function coolMs(level: number, seed: string): number {
  const curve = Math.min(COOL_MAX_MS, COOL_BASE_MS * 2 ** (level - 1))
  return Math.ceil(curve * (1 + 0.2 * fraction(seed)))
}

/** How long it must have been quiet before the key is open again: longer, the more often it was pushed back. */
export const calmMs = (level: number): number => CALM_BASE_MS * Math.min(CALM_FACTOR_MAX, 2 ** (Math.max(level, 1) - 1))

const STEPS = 16
export const stepOf = (most: number): number => Math.max(1, Math.ceil(most / STEPS))

/**
 * How long a key would have been slow that was pushed back at this level and then left alone: half of its steps are raised again, and it
 * is calm.
 */
export const recoveryMs = (level: number): number => Math.max((STEPS / 2) * RAISE_MS, calmMs(levelUp(level)))

/** How many at once at most: what was set, else what ran when it was last open. */
export const mostOf = ({ state, base }: KeyRecord, { limit, taken }: KeyCircumstances): number =>
  limit.concurrency ?? (state === 'open' ? baseOf(taken) : base)

export const baseOf = (taken: number): number => Math.max(BASE_LEAST, taken)

/** How many at once now. */
export const allowedNow = (key: KeyRecord, around: KeyCircumstances): number => {
  const most = mostOf(key, around)
  return key.state === 'open' ? most : Math.min(key.allowed, most)
}

/** The curve of a retry under a key that pushes back: base and factor are the curve's own, its cap is raised by the key's level. */
export function raisedCurve(curve: Curve, policy: Pick<Policy, 'throttled'>, level: number): Curve {
  const raisedMs = Math.min(RAISED_CAP_MAX_MS, policy.throttled.maxMs * 2 ** (Math.max(level, 1) - 1))
  return { ...curve, maxMs: Math.max(curve.maxMs, raisedMs) }
}
