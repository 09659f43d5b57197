import type { Time } from '../core/job.ts'
import type { Clock } from '../system/clock.ts'

/**
 * The store's clock as this process knows it: the `now` of the last answer plus the monotonic time since. The answer
 * had aged on its way here, so the estimate is never ahead of the store; whatever must not have passed is checked by
 * the store itself.
 */
export class StoreClock {
  readonly #clock: Clock
  /** Store time minus monotonic time, when the last answer came. */
  #offset: number

  constructor(clock: Clock) {
    this.#clock = clock
    this.#offset = clock.now() - clock.monotonicMs()
  }

  heard(now: Time): void {
    this.#offset = now - this.#clock.monotonicMs()
  }

  now(): Time {
    return Math.floor(this.#offset + this.#clock.monotonicMs())
  }
}
