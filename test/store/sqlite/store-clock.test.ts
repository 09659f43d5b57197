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
})
