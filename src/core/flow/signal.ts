/**
 * What the end of an attempt says about the key it ran under. One attempt gives one signal to one key, also where the failure
 * ends its job or a cancel overtakes it; most ends say nothing about anybody but the job.
 */
import { DEPENDENCY_CODES } from '../errors.ts'
import { fraction } from '../hash.ts'
import type { Time } from '../job.ts'
import { RETRY_AFTER_MAX_MS } from '../limits.ts'
import type { ErrorClass } from '../policy.ts'
import type { KeyCause } from './key.ts'

export type Signal =
  | { readonly type: 'throttled' }
  /** Told to come back no sooner. */
  | { readonly type: 'retry_after'; readonly retryAfterMs: number }
  /** What is behind the key does not work. */
  | { readonly type: 'unavailable' }
  | { readonly type: 'succeeded' }

/** With when the attempt was claimed, by the store's clock: what was claimed before the last episode tells of that one only. */
export type GivenSignal = Signal & { readonly claimedAt: Time; readonly cause: KeyCause }

/** What may happen to a key: a signal, or a word of an operator. */
export type KeyInput =
  | GivenSignal
  /** The limit is another one; the circumstances have it. */
  | { readonly type: 'set'; readonly cause: KeyCause }
  /** As if nothing had happened; the session stays. */
  | { readonly type: 'reset'; readonly cause: KeyCause }
  /** Let one in now, whatever the cool-down says. */
  | { readonly type: 'probe'; readonly cause: KeyCause }

export type Outcome =
  | { readonly succeeded: true }
  | {
      readonly succeeded: false
      readonly code: string
      readonly class: ErrorClass
      readonly retryAfterMs?: number | undefined
    }

/** Throttling by another name: these codes are retried like any other, and slow their key down. */
export const THROTTLING_CODES: ReadonlySet<string> = new Set(['rate_limited', 'E_429_RATE'])

/** Codes that tell of what is behind a key, and not of one job of it. A job type may list more. */
export const BREAKING_CODES: ReadonlySet<string> = new Set(['E_5XX_ORIGIN', 'network_error', ...DEPENDENCY_CODES])

export const isThrottling = ({ code, class: kind }: { readonly code: string; readonly class: ErrorClass }): boolean =>
  kind === 'throttled' || THROTTLING_CODES.has(code)

/** Undefined: it changes no key. */
export function signalOf(outcome: Outcome, breaking: readonly string[] = []): Signal | undefined {
  if (outcome.succeeded) return { type: 'succeeded' }
  if (isThrottling(outcome)) {
    const { retryAfterMs } = outcome
    return retryAfterMs === undefined ? { type: 'throttled' } : { type: 'retry_after', retryAfterMs }
  }
  return BREAKING_CODES.has(outcome.code) || breaking.includes(outcome.code) ? { type: 'unavailable' } : undefined
}

/**
 * Which of a job's keys it is for: the one that the error names, else the one that its limit marks, else the first. A name
 * that is none of the job's own is nobody's to blame.
 */
export function blamedKey(
  keys: readonly { readonly key: string; readonly adaptive: boolean }[],
  named: string | undefined,
): string | undefined {
  if (named !== undefined) return keys.some(({ key }) => key === named) ? named : undefined
  return (keys.find(({ adaptive }) => adaptive) ?? keys[0])?.key
}

/** As asked and up to a tenth later, for all who were turned away together were told the same time; at most a day. */
export const askedMs = (retryAfterMs: number, seed: string): number =>
  Math.min(Math.ceil(Math.max(0, retryAfterMs) * (1 + fraction(seed) / 10)), RETRY_AFTER_MAX_MS)
