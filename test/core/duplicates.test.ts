import { describe, expect, it } from 'vitest'
import type { DuplicatesInput } from '../../src/core/duplicates.ts'
import { resolvePolicy } from '../../src/core/resolve.ts'

describe('what a policy says about duplicates', () => {
  const rule = (dedupe: DuplicatesInput) => {
    const resolved = resolvePolicy({ dedupe })
    return resolved.ok ? resolved.policy.onDuplicate : resolved.violations
  }

  it('is what becomes of them, and by when', () => {
    expect(rule({ onDuplicate: 'keep' })).toBeUndefined()
    expect(rule({ onDuplicate: 'replace' })).toEqual({ does: 'replace' })
    expect(rule({ onDuplicate: 'debounce', within: '2s' })).toEqual({
      does: 'debounce',
      withinMs: 2_000,
      atMostMs: 20_000,
    })
    expect(rule({ onDuplicate: 'debounce', within: '2s', atMost: '5s' })).toMatchObject({ atMostMs: 5_000 })
  })

  it.each([
    [{ dedupe: { for: 'ever' } }, 'dedupe.for'],
    [{ dedupe: { onDuplicate: 'merge' } }, 'dedupe.onDuplicate'],
    [{ dedupe: { onDuplicate: 'debounce' } }, 'dedupe.within'],
    [{ dedupe: { onDuplicate: 'replace', within: '1s' } }, 'dedupe.within'],
    [{ dedupe: { atMost: '1s' } }, 'dedupe.within'],
    [{ dedupe: { every: '1s' } }, 'dedupe.every'],
    [{ dedupeFor: 'forever' }, 'dedupeFor'],
  ])('refuses %j', (input, field) => {
    const resolved = resolvePolicy(input as never)
    expect(resolved.ok ? [] : resolved.violations.map((violation) => violation.field)).toEqual([field])
  })
})
