import { performance } from 'node:perf_hooks'

/** Time, read in one place. The store's clock rules jobs; this one is for estimating it and for what is local. */
export interface Clock {
  /** Epoch milliseconds. May jump when somebody sets the machine's clock. */
  now(): number
  /** Milliseconds since some moment. Never runs backwards; the only thing to measure durations with. */
  monotonicMs(): number
}

export const realClock: Clock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
}
