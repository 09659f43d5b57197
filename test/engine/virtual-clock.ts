import type { Clock } from '../../src/system/clock.ts'

/** Time that passes when a test says so. */
export class VirtualClock implements Clock {
  #now = 1_800_000_000_000

  now(): number {
    return this.#now
  }

  monotonicMs(): number {
    return this.#now
  }

  advance(ms: number): void {
    this.#now += ms
  }
}
