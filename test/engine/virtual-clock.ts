import type { Clock } from '../../src/system/clock.ts'

/** Time that passes when a test says so. */
export class VirtualClock implements Clock {
  #monotonicMs = 1_800_000_000_000
  #setMs = 0

  now(): number {
    return this.#monotonicMs + this.#setMs
  }

  monotonicMs(): number {
    return this.#monotonicMs
  }

  advance(ms: number): void {
    this.#monotonicMs += ms
  }

  /** Somebody sets the wall clock; no time passes. */
  set(byMs: number): void {
    this.#setMs += byMs
  }
}
