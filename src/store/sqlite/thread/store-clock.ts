import type { Time } from '../../../core/job.ts'
import type { Clock } from '../../../system/clock.ts'

/**
 * The machine's clock, made to never run backwards: when somebody sets it back, time goes on at its own pace from
 * where it was. `atLeast` carries what an earlier life of the store, or another process, has already seen.
 */
export interface StoreClock {
  now(): Time
  atLeast(time: Time): void
}

export function storeClock(clock: Clock): StoreClock {
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
      return last
    },
    atLeast(time) {
      if (time > last) anchor(time, clock.monotonicMs())
    },
  }
}
