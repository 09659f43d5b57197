import type { Time } from '../../../core/job.ts'
import type { Clock } from '../../../system/clock.ts'
import { SteadyClock } from '../../../system/steady-clock.ts'

/**
 * The machine's clock, steady. `atLeast` carries what an earlier life of the store, or another process, has already seen;
 * `latest` what the other threads of this one have: they tell one time.
 */
export interface StoreClock {
  now(): Time
  atLeast(time: Time): void
  /** By how much the store's clock is ahead of the machine's, which was set back. */
  readonly aheadMs: number
  takeSetBackMs(): number
}

export function storeClock(clock: Clock, latest: BigInt64Array = new BigInt64Array(1)): StoreClock {
  const steady = new SteadyClock(clock)
  return {
    now() {
      const now = raised(latest, steady.now())
      steady.atLeast(now)
      return now
    },
    atLeast: (time) => steady.atLeast(time),
    takeSetBackMs: () => steady.takeSetBackMs(),
    get aheadMs() {
      return steady.aheadMs
    },
  }
}

/** The machine's clock as if it were set by so much, for tests of what comes of that. */
export function setBy(clock: Clock, ms: BigInt64Array | undefined): Clock {
  if (ms === undefined) return clock
  return { now: () => clock.now() + Number(Atomics.load(ms, 0)), monotonicMs: () => clock.monotonicMs() }
}

/** The later of the two, which is then what all others see. */
function raised(latest: BigInt64Array, time: Time): Time {
  const mine = BigInt(time)
  for (let seen = Atomics.load(latest, 0); ; ) {
    if (seen >= mine) return Number(seen)
    const found = Atomics.compareExchange(latest, 0, seen, mine)
    if (found === seen) return time
    seen = found
  }
}
