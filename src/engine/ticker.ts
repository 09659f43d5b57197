import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'

/** Asks the store for what has come due and lets core say what that means. Any number of tickers may run at once. */
export const TICKER_DEFAULTS = {
  everyMs: 1_000,
  batch: 200,
} as const

export interface TickerOptions {
  /**
   * Milliseconds between two looks.
   * @default 1000
   */
  readonly everyMs?: number | undefined
  /**
   * Jobs judged in one commit at most.
   * @default 200
   */
  readonly batch?: number | undefined
}

export interface TickerParts {
  readonly tick: (limit: number) => Promise<{ readonly due: number; readonly moved: number }>
  readonly timers: Timers
  readonly log: Log
}

export function ticker({ tick, timers, log }: TickerParts, options: TickerOptions = {}): Service {
  const everyMs = options.everyMs ?? TICKER_DEFAULTS.everyMs
  const batch = options.batch ?? TICKER_DEFAULTS.batch
  const round = async (signal: AbortSignal) => {
    // A full batch says that there is more; a short one that the rest is not due yet.
    for (let full = true; full && !signal.aborted; ) full = (await tick(batch)).due >= batch
  }
  return service({ name: 'ticker', everyMs, timers, log, round })
}
