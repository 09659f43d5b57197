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

  it('goes on at its own pace when the machine’s is set back', () => {
    const { machine, clock } = set(1_000, 0)
    clock.now()
    Object.assign(machine, { wall: 10, monotonicMs: 7.5 })
    expect(clock.now()).toBe(1_007)
    Object.assign(machine, { wall: 11, monotonicMs: 8.1 })
    expect(clock.now()).toBe(1_008)
    Object.assign(machine, { wall: 2_000, monotonicMs: 8.2 })
    expect(clock.now()).toBe(2_000)
  })

  it('is never behind what the file has seen', () => {
    const { machine, clock } = set(1_000, 0)
    clock.atLeast(3_000)
    expect(clock.now()).toBe(3_000)
    machine.monotonicMs = 2
    expect(clock.now()).toBe(3_002)
    clock.atLeast(2_000)
    expect(clock.now()).toBe(3_002)
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
    machine.monotonicMs = 12
    expect(other.now()).toBe(9_010)
    expect(one.now()).toBeGreaterThanOrEqual(9_010)
  })
})
