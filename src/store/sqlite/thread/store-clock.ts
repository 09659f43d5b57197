import type { Time } from '../../../core/job.ts'
import type { Clock } from '../../../system/clock.ts'

/**
 * The machine's clock, made to never run backwards: when somebody sets it back, time goes on at its own pace from
 * where it was. `atLeast` carries what an earlier life of the store, or another process, has already seen; `latest` what
 * the other threads of this one have: they tell one time.
 */
export interface StoreClock {
  now(): Time
  atLeast(time: Time): void
}

export function storeClock(clock: Clock, latest: BigInt64Array = new BigInt64Array(1)): StoreClock {
  let last = 0
  let anchorMs = 0
  const anchor = (time: Time, monotonicMs: number) => {
    last = time
    anchorMs = monotonicMs
  }
  return {
    now() {
      const wall = clock.now()
      const monotonicMs = clock.monotonicMs()
      if (wall >= last) anchor(wall, monotonicMs)
      const passedMs = Math.floor(monotonicMs - anchorMs)
      if (passedMs >= 1) anchor(last + passedMs, anchorMs + passedMs)
      const told = raised(latest, last)
      if (told > last) anchor(told, monotonicMs)
      return last
    },
    atLeast(time) {
      if (time > last) anchor(time, clock.monotonicMs())
    },
  }
}

/** The later of the two, which is then what all others see. */
function raised(latest: BigInt64Array, time: Time): Time {
  const mine = BigInt(Math.floor(time))
  for (let seen = Atomics.load(latest, 0); ; ) {
    if (seen >= mine) return Number(seen)
    const found = Atomics.compareExchange(latest, 0, seen, mine)
    if (found === seen) return time
    seen = found
  }
}
