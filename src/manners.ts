/** How a store's server is waited for, and where lines about it go. */
import type { Duration } from './core/duration.ts'
import { harmless, type Log, silentLog, stderrLog } from './system/log.ts'
import { milliseconds } from './worker/worker-options.ts'

export interface Manners {
  readonly retryForMs: number | undefined
  readonly answerWithinMs: number | undefined
  readonly log: Log
  /** Calls off opening. */
  readonly signal: AbortSignal | undefined
}

interface Patience {
  readonly retryFor?: Duration | undefined
  readonly answerWithin?: Duration | undefined
  readonly signal?: AbortSignal | undefined
}

export const mannersOf = ({ retryFor, answerWithin, signal }: Patience, log: Log): Manners => ({
  retryForMs: retryFor === undefined ? undefined : milliseconds('retryFor', retryFor),
  answerWithinMs: answerWithin === undefined ? undefined : milliseconds('answerWithin', answerWithin),
  log,
  signal,
})

/** Whatever it does, nobody is harmed by it. */
export const logOf = ({ log = stderrLog }: { readonly log?: Log | 'silent' | undefined }): Log =>
  harmless(log === 'silent' ? silentLog : log)
