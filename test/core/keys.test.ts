import { describe, expect, it } from 'vitest'
import type { DuplicatesInput } from '../../src/core/duplicates.ts'
import { keyChange, keyOf } from '../../src/core/keys.ts'
import { given } from './given.ts'

describe('dedupe keys', () => {
  const keyed = (held?: DuplicatesInput['for']) =>
    given(held === undefined ? {} : { dedupe: { for: held } }, { dedupeKey: 'k' })

  it('belong to (type, key) and last as the policy says', () => {
    expect(keyOf(given().record)).toBeUndefined()
    expect(keyOf(keyed().record)).toEqual({ purpose: 'dedupe', key: '10:crawl.page:k', until: undefined })
    expect(keyOf(keyed('1h').record)?.until).toBe(1_000_000 + 3_600_000)
  })

  it('are given up at the end of a life and taken again at its reopening', () => {
    const history = keyed()
    const live = history.record
    const dead = history.does({ type: 'cancel', mode: 'hard' }).record
    const again = history.does({ type: 'reopen' }).record
    expect(keyChange(live, dead)).toEqual({ give: [keyOf(live)], take: [] })
    expect(keyChange(dead, again)).toEqual({ give: [], take: [keyOf(live)] })
    expect(keyChange(live, again)).toEqual({ give: [], take: [] })
  })

  it('are kept where they outlive the job, or there are none', () => {
    for (const history of [keyed('forever'), keyed('1h'), given()]) {
      const live = history.record
      expect(keyChange(live, history.does({ type: 'cancel', mode: 'hard' }).record)).toEqual({ give: [], take: [] })
    }
  })
})
