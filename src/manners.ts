/** How a store's server is waited for, and where lines about it go. */
import type { Duration } from './core/duration.ts'
import type { Log } from './system/log.ts'
import { milliseconds } from './worker/worker-options.ts'

export interface Manners {
  readonly retryForMs: number | undefined
  readonly answerWithinMs: number | undefined
  readonly log: Log
}

interface Patience {
  readonly retryFor?: Duration | undefined
  readonly answerWithin?: Duration | undefined
}

export const mannersOf = ({ retryFor, answerWithin }: Patience, log: Log): Manners => ({
  retryForMs: retryFor === undefined ? undefined : milliseconds('retryFor', retryFor),
  answerWithinMs: answerWithin === undefined ? undefined : milliseconds('answerWithin', answerWithin),
  log,
})
