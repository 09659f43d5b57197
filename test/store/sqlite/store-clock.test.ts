import { describe, expect, it } from 'vitest'
import { storeClock } from '../../../src/store/sqlite/thread/store-clock.ts'

describe('the store’s clock', () => {
  const set = (wall: number, monotonicMs: number) => {
    const machine = { wall, monotonicMs }
    const clock = storeClock({ now: () => machine.wall, monotonicMs: () => machine.monotonicMs })
    return { machine, clock }
  }

  it('is the machine’s', () => {
    const { machine, clock } = set(1_000, 0)
    expect(clock.now()).toBe(1_000)
    Object.assign(machine, { wall: 5_000, monotonicMs: 10 })
    expect(clock.now()).toBe(5_000)
  })

  it('goes on at nearly its own pace when the machine’s is set back, until that has caught up', () => {
    const { machine, clock } = set(100_000, 0)
    clock.now()
    Object.assign(machine, { wall: 99_000, monotonicMs: 0 })
    expect(clock.now()).toBe(100_000)
    Object.assign(machine, { wall: 99_320, monotonicMs: 320 })
    expect(clock.now()).toBe(100_310)
    expect([clock.aheadMs, clock.takeSetBackMs(), clock.takeSetBackMs()]).toEqual([990, 1_000, 0])
    Object.assign(machine, { wall: 131_000, monotonicMs: 32_000 })
    expect(clock.now()).toBe(131_000)
    Object.assign(machine, { wall: 131_100, monotonicMs: 32_100 })
    expect([clock.now(), clock.aheadMs, clock.takeSetBackMs()]).toEqual([131_100, 0, 0])
  })

  it('stands where it was although it was looked at again and again', () => {
    const { machine, clock } = set(100_000, 0)
    clock.now()
    machine.wall = 50
    for (let n = 0; n < 1_000; n += 1) {
      machine.wall += 0.5
      machine.monotonicMs += 0.5
      clock.now()
    }
    expect(clock.now()).toBe(100_484)
  })

  it('is never behind what the file has seen', () => {
    const { machine, clock } = set(1_000, 0)
    clock.atLeast(3_000)
    expect(clock.now()).toBe(3_000)
    machine.monotonicMs = 32
    expect(clock.now()).toBe(3_031)
    clock.atLeast(2_000)
    expect(clock.now()).toBe(3_031)
  })

  it('is one for all threads of a store: none is behind what another has told', () => {
    const latest = new BigInt64Array(new SharedArrayBuffer(8))
    const machine = { wall: 1_000, monotonicMs: 0 }
    const machineClock = { now: () => machine.wall, monotonicMs: () => machine.monotonicMs }
    const [one, other] = [storeClock(machineClock, latest), storeClock(machineClock, latest)]
    expect(one.now()).toBe(1_000)
    Object.assign(machine, { wall: 9_000, monotonicMs: 1 })
    expect(one.now()).toBe(9_000)
    // Set back before the other one has looked.
    Object.assign(machine, { wall: 500, monotonicMs: 2 })
    expect(other.now()).toBe(9_000)
    machine.monotonicMs = 34
    expect(other.now()).toBe(9_031)
    expect(one.now()).toBeGreaterThanOrEqual(9_031)
  })
})
