/** Every call of the library can be bounded: by a time, by a signal, or by both. This is the one place where that is done. */
import { DURATION_RULE, type Duration, parseDuration } from '../core/duration.ts'
import type { Engine } from '../engine/engine.ts'
import type { Timers } from '../system/timers.ts'
import { CallTimedOut, Invalid } from './errors.ts'

export interface CallOptions {
  /**
   * How long to wait for the answer; then the call rejects with `CallTimedOut`.
   * @default no limit but the store's own
   */
  readonly timeout?: Duration | undefined
  /**
   * Calls it off: it rejects with the signal's reason.
   * @default nobody calls it off
   */
  readonly signal?: AbortSignal | undefined
}

export interface CallParts {
  readonly engine: Engine
  readonly timers: Timers
}

/**
 * Rejects in time, whatever the store does. `work` is given the engine to use: over HTTP its requests end with the call. What
 * a store of this process has begun it may still finish; nobody hears of it.
 */
export function bounded<T>(
  { engine, timers }: CallParts,
  what: string,
  bounds: CallOptions,
  work: (engine: Engine, signal: AbortSignal | undefined) => Promise<T>,
  late?: (waitedMs: number) => Error,
): Promise<T> {
  const asked = (signal: AbortSignal | undefined) => work(signal === undefined ? engine : engine.until(signal), signal)
  return inTime(timers, what, bounds, asked, late)
}

/** Calls that make one together, and have its time among them: `each` is what they are given instead of its options. */
export const together = <T, Options extends CallOptions>(
  { timers }: CallParts,
  what: string,
  options: Options,
  work: (each: Options) => Promise<T>,
): Promise<T> => inTime(timers, what, options, (signal) => work({ ...options, timeout: undefined, signal }))

/** The same for what has no engine yet. */
export function inTime<T>(
  timers: Timers,
  what: string,
  { timeout, signal }: CallOptions,
  work: (signal: AbortSignal | undefined) => Promise<T>,
  late?: (waitedMs: number) => Error,
): Promise<T> {
  if (timeout === undefined && signal === undefined) return work(undefined)
  const timeoutMs = timeout === undefined ? undefined : parseDuration(timeout)
  if (timeout !== undefined && !(timeoutMs !== undefined && timeoutMs >= 0)) {
    return Promise.reject(new Invalid(what, [{ field: 'timeout', rule: DURATION_RULE }]))
  }
  if (signal?.aborted) return Promise.reject(signal.reason)
  const ending = new AbortController()
  const ended = new Promise<never>((_, reject) => {
    ending.signal.addEventListener('abort', () => reject(ending.signal.reason))
  })
  const abort = () => ending.abort(signal?.reason)
  signal?.addEventListener('abort', abort)
  const answered = new AbortController()
  if (timeoutMs !== undefined) {
    void timers.sleep(timeoutMs, answered.signal).then(() => {
      if (!answered.signal.aborted) ending.abort(late?.(timeoutMs) ?? new CallTimedOut(what, timeoutMs))
    })
  }
  return Promise.race([work(ending.signal), ended]).finally(() => {
    answered.abort()
    signal?.removeEventListener('abort', abort)
  })
}
