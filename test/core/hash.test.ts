import { describe, expect, it } from 'vitest'
import { digest, fraction, hash32, hash53 } from '../../src/core/hash.ts'

describe('hashes', () => {
  it('of a digest are two of the same text, under different salts', () => {
    for (const text of ['', 'pawl', 'ü'.repeat(1_000)])
      expect(digest(text)).toBe(hash32(text).toString(36) + hash32(`${text.length}:${text}`).toString(36))
  })

  it('are stable, spread and in range', () => {
    expect(hash32('pawl')).toBe(hash32('pawl'))
    expect(new Set(Array.from({ length: 10_000 }, (_, i) => hash53(`a/${i}`))).size).toBe(10_000)
    expect(Number.isSafeInteger(hash53('pawl'))).toBe(true)
    expect(new Set(Array.from({ length: 10_000 }, (_, i) => hash32(`a/${i}`))).size).toBeGreaterThan(9_990)
    for (let i = 0; i < 1_000; i++) {
      expect(fraction(`${i}`)).toBeGreaterThanOrEqual(0)
      expect(fraction(`${i}`)).toBeLessThan(1)
    }
  })
})
