import type { Clock } from './clock.ts'

/** A little slower than the wall, so that it is caught up with: half an hour for a minute. */
const PACE = 31 / 32
/** Less is how two clocks that nobody touches differ. */
const NOTICED_MS = 50

/**
 * The machine's clock as a store may rely on it: never backwards, never standing still. Where the wall's hour is set back,
 * time goes on from where it was, at nearly its own pace, until the wall has caught up; so nothing waits longer than it
 * should by more than a thirty-second part. Where it is set forward, time goes with it.
 */
export class SteadyClock {
  readonly #clock: Clock
  #time = 0
  #wall: number
  #monotonicMs: number
  #setBackMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#wall = clock.now()
    this.#monotonicMs = clock.monotonicMs()
  }

  now(): number {
    const wall = this.#clock.now()
    const monotonicMs = this.#clock.monotonicMs()
    const passedMs = monotonicMs - this.#monotonicMs
    const backMs = this.#wall + passedMs - wall
    if (backMs > NOTICED_MS) this.#setBackMs += backMs
    this.#wall = wall
    this.#monotonicMs = monotonicMs
    this.#time = Math.max(this.#time + passedMs * PACE, wall)
    return Math.floor(this.#time)
  }

  /** What an earlier life, or somebody else, has already seen. */
  atLeast(time: number): void {
    this.now()
    this.#time = Math.max(this.#time, time)
  }

  /** By how much it is ahead of the wall, which was set back, as of the last look. */
  get aheadMs(): number {
    return this.#time - this.#wall
  }

  /** By how much the wall was set back since this was last asked. */
  takeSetBackMs(): number {
    const setBackMs = this.#setBackMs
    this.#setBackMs = 0
    return Math.round(setBackMs)
  }
}
