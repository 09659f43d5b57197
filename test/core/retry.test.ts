import { describe, expect, it } from 'vitest'
import { retryDelayMs } from '../../src/core/retry.ts'

describe('backoff', () => {
  it('is finite, bounded and not negative for any n up to 10,000', () => {
    for (const jitter of ['full', 'equal', 'none'] as const) {
      for (const factor of [1, 1.5, 2, 100]) {
        for (let n = 1; n <= 10_000; n = n < 100 ? n + 1 : n * 2) {
          const delay = retryDelayMs({ baseMs: 2_000, factor, maxMs: 60_000, jitter }, n, `job/${n}`)
          expect(delay).toBeGreaterThanOrEqual(jitter === 'full' ? 0 : jitter === 'equal' ? 1_000 : 2_000)
          expect(delay).toBeLessThanOrEqual(60_000)
        }
        expect(retryDelayMs({ baseMs: 2_000, factor, maxMs: 60_000, jitter }, 10_000, 'x')).toBeLessThanOrEqual(60_000)
      }
    }
  })

  it('doubles without jitter: 2, 4, 8 … seconds', () => {
    const curve = { baseMs: 2_000, factor: 2, maxMs: 60_000, jitter: 'none' } as const
    expect([1, 2, 3, 4, 5, 6, 7].map((n) => retryDelayMs(curve, n, ''))).toEqual([
      2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000,
    ])
  })

  it('spreads jobs that failed together, and is the same whoever computes it', () => {
    const curve = { baseMs: 60_000, factor: 2, maxMs: 60_000, jitter: 'full' } as const
    const delays = Array.from({ length: 1_000 }, (_, i) => retryDelayMs(curve, 1, `pj_${i}/0/run/1`))
    expect(new Set(delays).size).toBeGreaterThan(900)
    expect(delays.filter((d) => d < 30_000).length).toBeGreaterThan(400)
    expect(delays.filter((d) => d < 30_000).length).toBeLessThan(600)
    expect(retryDelayMs(curve, 1, 'same')).toBe(retryDelayMs(curve, 1, 'same'))
  })
})
