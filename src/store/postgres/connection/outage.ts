/**
 * A server that is away: told once when it is lost and once when it is back, however many connections notice; and asked
 * after with growing pauses, no two processes at the same moments.
 */
import type { Clock } from '../../../system/clock.ts'
import type { Log } from '../../../system/log.ts'
import { fractionOf, type Random } from '../../../system/random.ts'
import { type PostgresUnavailable, reasonOf } from './trouble.ts'

export interface OutageParts {
  readonly clock: Clock
  readonly random: Random
  readonly log: Log
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000

export class Outage {
  readonly #parts: OutageParts
  /** Present while it is away, or may be. */
  #sinceMs: number | undefined
  /** When it was last known to be there again. */
  #backMs = Number.NEGATIVE_INFINITY
  #failures = 0
  #againMs = 0
  #error: PostgresUnavailable | undefined

  constructor(parts: OutageParts) {
    this.#parts = parts
  }

  get sinceMs(): number | undefined {
    return this.#sinceMs
  }

  /** Why the last attempt to connect failed; absent unless the database is away. */
  get error(): PostgresUnavailable | undefined {
    return this.#error
  }

  /** The last attempt to connect failed. */
  get isDown(): boolean {
    return this.#failures > 0
  }

  /** How long to wait before the next attempt to connect. */
  get pauseMs(): number {
    return Math.max(0, this.#againMs - this.#parts.clock.monotonicMs())
  }

  /** A connection broke while an answer was waited for. One from before the end of the last outage was lost in that, and begins no new one. */
  lost(where: string, reason: string, connectedMs: number): void {
    if (connectedMs >= this.#backMs) this.#begin(where, reason)
  }

  /** An attempt to connect has failed. */
  refused(error: PostgresUnavailable): void {
    const { clock, random } = this.#parts
    this.#error = error
    for (const { where, cause } of error.attempts.slice(0, 1)) this.#begin(where, reasonOf(cause))
    const pauseMs = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** this.#failures)
    this.#failures += 1
    this.#againMs = clock.monotonicMs() + pauseMs * (0.5 + fractionOf(random) / 2)
  }

  /** A connection was let in: the outage is over. */
  over(where: string): void {
    const { clock, log } = this.#parts
    this.#failures = 0
    this.#error = undefined
    if (this.#sinceMs === undefined) return
    this.#backMs = clock.monotonicMs()
    log.info('Postgres is back', { server: where, away_ms: Math.round(this.#backMs - this.#sinceMs) })
    this.#sinceMs = undefined
  }

  #begin(where: string, reason: string): void {
    if (this.#sinceMs !== undefined) return
    this.#sinceMs = this.#parts.clock.monotonicMs()
    this.#parts.log.warn('Postgres is away: what was asked is repeated until it is back', { server: where, reason })
  }
}
