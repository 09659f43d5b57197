import { describe, expect, it } from 'vitest'
import type { Step } from '../../src/core/steps.ts'
import { StoreClock } from '../../src/engine/store-clock.ts'
import { VirtualClock } from './virtual-clock.ts'

/** A process with a clock of its own, and a store on another machine. */
function far() {
  const here = new VirtualClock()
  const there = new VirtualClock()
  there.set(123_456)
  const steps: Step[] = []
  const clock = new StoreClock(here, (step) => steps.push(step))
  const pass = (ms: number) => {
    here.advance(ms)
    there.advance(ms)
  }
  /** A call that takes so long to get there, and so long to come back. */
  const call = (thereMs = 1, backMs = 1) => {
    const askedMs = clock.asked()
    pass(thereMs)
    const now = there.now()
    pass(backMs)
    clock.heard(now, askedMs)
  }
  return { here, there, clock, steps, pass, call }
}

describe('the store’s clock as a process knows it', () => {
  it('is never ahead of the store', () => {
    const { there, clock, call, pass } = far()
    call(1, 40)
    expect(clock.now()).toBe(there.now() - 40)
    pass(10_000)
    expect(clock.now()).toBe(there.now() - 40)
    call(3_000, 1)
    expect(clock.now()).toBe(there.now() - 1)
  })

  it('was not set because answers are slow, early or late, or come seldom', () => {
    const { call, pass, steps } = far()
    for (const [thereMs, backMs] of [
      [1, 30_000],
      [1, 1],
      [30_000, 1],
      [1, 1],
      [5_000, 5_000],
    ] as const) {
      call(thereMs, backMs)
      pass(3_600_000)
    }
    call()
    expect(steps).toEqual([])
  })

  it('was not set because it loses a thirty-second part on ours for as long as it likes', () => {
    const { call, here, there, steps } = far()
    for (let n = 0; n < 1_000; n += 1) {
      here.advance(1_000)
      there.advance(31_000 / 32)
      call()
    }
    expect(steps).toEqual([])
  })

  it('was set forward where no time can have passed between what it said and what it says', () => {
    const { call, there, steps, pass } = far()
    call()
    pass(1_000)
    const before = there.now()
    there.set(600_000)
    call(5, 5)
    const [step] = steps
    expect(steps).toHaveLength(1)
    expect(step?.byMs).toBeGreaterThanOrEqual(600_000)
    expect(step?.byMs).toBeLessThan(600_200)
    expect(step?.at).toBeGreaterThanOrEqual(before)
    expect(step?.at).toBeLessThan(before + 400)
    call()
    expect(steps).toHaveLength(1)
  })

  it('notices each of many steps once, by the call that meets it, however slow that is', () => {
    const { call, there, steps, pass } = far()
    call()
    const by = [300, 1_000, 5_000, 86_400_000]
    for (const ms of by) {
      pass(500)
      there.set(ms)
      call(2_000, 2_000)
      call()
    }
    expect(steps.map(({ byMs }, i) => byMs >= (by[i] ?? 0))).toEqual(by.map(() => true))
  })

  it('was set forward no earlier than anybody may have been told by then, after little steps that are no news too', () => {
    const { call, here, there, steps, pass } = far()
    const apartMs = 240
    for (let n = 0; n < 8; n += 1) {
      here.advance(1_000)
      there.advance(31_000 / 32)
      call()
    }
    there.set(apartMs)
    call()
    expect(steps).toEqual([])
    pass(1_000)
    // Of a lease that was renewed just now by a process whose clock is as far ahead of ours as goes unnoticed.
    const told = there.now() + apartMs
    there.set(4_000)
    call()
    expect(steps).toHaveLength(1)
    expect(steps[0]?.at).toBeGreaterThanOrEqual(told)
    expect(steps[0]?.at).toBeLessThan(there.now())
  })

  it('is believed again at once after it was set back', () => {
    const { call, there, clock, steps, pass } = far()
    call()
    pass(100)
    there.set(-600_000)
    call()
    expect(clock.now()).toBe(there.now() - 1)
    pass(100)
    there.set(600_000)
    call()
    expect(steps).toHaveLength(1)
  })
})
