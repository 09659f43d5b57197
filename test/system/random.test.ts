import { describe, expect, it } from 'vitest'
import { realClock } from '../../src/system/clock.ts'
import { realIds } from '../../src/system/ids.ts'
import { realRandom } from '../../src/system/random.ts'

describe('random', () => {
  it('gives 64 bits that do not repeat, refill after refill', () => {
    const drawn = Array.from({ length: 10_000 }, () => realRandom.hex64())
    expect(drawn.every((text) => /^[0-9a-f]{16}$/.test(text))).toBe(true)
    expect(new Set(drawn).size).toBe(drawn.length)
    // Every bit position takes both values: none of them is stuck.
    const all = drawn.map((text) => BigInt(`0x${text}`))
    const or = all.reduce((a, b) => a | b)
    const and = all.reduce((a, b) => a & b)
    expect([or, and]).toEqual([2n ** 64n - 1n, 0n])
  })

  it('names requests and workers uniquely', () => {
    const ids = realIds(realRandom)
    expect(ids.requestId()).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)
    expect(ids.workerId()).not.toBe(ids.workerId())
  })
})

describe('the clock', () => {
  it('never runs backwards where it promises not to', () => {
    let last = realClock.monotonicMs()
    for (let n = 0; n < 1000; n += 1) {
      const next = realClock.monotonicMs()
      expect(next).toBeGreaterThanOrEqual(last)
      last = next
    }
    expect(Number.isInteger(realClock.now())).toBe(true)
  })
})
