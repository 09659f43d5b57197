import type { Time } from '../../../core/job.ts'
import type { Clock } from '../../../system/clock.ts'
import { placeEntries } from '../feed/feed.ts'
import type { LoadParts } from '../read/load.ts'

const FEED_KEPT_MS = 3 * 86_400_000
const EVERY_MS = 1_000
const ROUNDS = 5
const TRIM_EVERY_MS = 60_000
const TRIMMED = 10_000

/** Done beside `due`: the feed is given its new positions and trimmed, and the indexes of times are brought up to date. */
export class Tidying {
  readonly #parts: LoadParts
  readonly #clock: Pick<Clock, 'monotonicMs'>
  #nextAt = 0
  #trimAt = 0

  constructor(parts: LoadParts, clock: Pick<Clock, 'monotonicMs'>) {
    this.#parts = parts
    this.#clock = clock
  }

  /** `now`: the store's clock. */
  async round(now: Time): Promise<void> {
    const { run, statements } = this.#parts
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < this.#nextAt) return
    this.#nextAt = nowMs + EVERY_MS
    await placeEntries(this.#parts, { rounds: ROUNDS })
    if (nowMs < this.#trimAt) return
    this.#trimAt = nowMs + TRIM_EVERY_MS
    await run(statements.trimFeed, [now - FEED_KEPT_MS, TRIMMED])
    await run(statements.summarize, [])
  }
}
