import { describe, expect, it } from 'vitest'
import { SIZES } from '../../../src/core/limits.ts'
import { given } from '../given.ts'

describe('progress', () => {
  it('adds counters up and bounds their number', () => {
    const many = Object.fromEntries(Array.from({ length: SIZES.counters }, (_, i) => [`c${i}`, 1]))
    const history = given()
      .starts()
      .does(
        { type: 'progress', fence: 'mine', counters: many },
        { type: 'progress', fence: 'mine', progress: { done: 1, total: 2 }, counters: { c0: 4 } },
      )
    expect(history.record).toMatchObject({ counters: { c0: 5, c1: 1 }, progress: { done: 1, total: 2 } })
    history.when({ type: 'progress', fence: 'mine', counters: { more: 1 } }).refused('LIMIT_REACHED')
    history.does({ type: 'progress', fence: 'mine', counters: { c2: Number.MAX_VALUE } })
    given()
      .starts()
      .does({ type: 'progress', fence: 'mine', counters: { constructor: 1 } })
    history.when({ type: 'progress', fence: 'mine', counters: { c2: Number.MAX_VALUE } }).refused('LIMIT_REACHED')
    history.when({ type: 'complete', fence: 'mine', stats: { c2: Number.MAX_VALUE } }).refused('LIMIT_REACHED')
    history.when({ type: 'complete', fence: 'mine', stats: { more: 1 } }).refused('LIMIT_REACHED')
    history.when({ type: 'complete', fence: 'mine', stats: { c1: 1 } }).gives('succeeded', 'succeeded')
    expect(history.record.counters['c1']).toBe(2)
  })
})
