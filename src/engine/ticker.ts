import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { Duty } from './duty.ts'
import type { Ticked } from './execute.ts'

/**
 * Asks the store for what has come due and lets core say what that means. Any number of tickers may run at once; where many
 * processes have the store, those off duty only look whether somebody is at it.
 */
export const TICKER_DEFAULTS = {
  everyMs: 1_000,
  batch: 200,
} as const

export interface TickerOptions {
  /**
   * Milliseconds between two looks. Of many processes on one Postgres one looks, at its own pace.
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
  readonly tick: (limit: number) => Promise<Pick<Ticked, 'due'> & Partial<Pick<Ticked, 'more'>>>
  readonly timers: Timers
  readonly log: Log
  /** Absent: this process is always on duty. */
  readonly duty?: Duty | undefined
  /** Whether this process has jobs. Then it looks at the store's clock as often as if it were on duty: a step must be noticed by who is owed it. */
  readonly isOwner?: (() => boolean) | undefined
  /** Called after each round that went well. */
  readonly looked?: (() => void) | undefined
}

export function ticker(
  { tick, timers, log, duty, isOwner, looked }: TickerParts,
  options: TickerOptions = {},
): Service {
  const everyMs = options.everyMs ?? TICKER_DEFAULTS.everyMs
  const batch = options.batch ?? TICKER_DEFAULTS.batch
  const round = async (signal: AbortSignal) => {
    if (duty !== undefined && !(await duty.look())) return isOwner?.() === true ? everyMs : duty.pauseMs
    // A full batch says that there is more; a short one that the rest is not due yet.
    for (let full = true; full && !signal.aborted; ) {
      const { due, more = false } = await tick(batch)
      full = due >= batch || more
    }
    looked?.()
    return everyMs
  }
  return service({ name: 'ticker', everyMs, timers, log, round })
}
