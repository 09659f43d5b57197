import { describe, expect, it } from 'vitest'
import { agedOf, heardLate, newsOf, type Telling } from '../../../src/core/flow/late.ts'
import type { GivenSignal, Signal } from '../../../src/core/flow/signal.ts'
import { CAUSE, retryAfter, SUCCEEDED, T0, THROTTLED, UNAVAILABLE } from './key-given.ts'

const [SECOND, HOUR] = [1_000, 3_600_000]
const given = (signal: Signal): GivenSignal => ({ ...signal, claimedAt: T0, cause: CAUSE })
const telling = (name: string): Telling => ({ name, signal: given(THROTTLED), endedAt: T0 })

describe('a signal that is heard late', () => {
  it.each([
    ['in time', retryAfter(0), 0, 0, retryAfter(0)],
    ['a time that was asked for, from the end on', retryAfter(600 * SECOND), 240 * SECOND, 0, retryAfter(360 * SECOND)],
    ['of more than is granted, too', retryAfter(72 * HOUR), 23 * HOUR, 0, retryAfter(HOUR)],
    ['such a time that is over', retryAfter(72 * HOUR), 24 * HOUR, 0, undefined],
    ['one that is over, while it was pushed back just now', retryAfter(2 * SECOND), 5 * SECOND, 0, THROTTLED],
    ['pushed back, until its steps are raised', THROTTLED, 80 * SECOND, 0, THROTTLED],
    ['pushed back, when it would be open', THROTTLED, 80 * SECOND + 1, 0, undefined],
    ['pushed back again and again, until it is calm', THROTTLED, 240 * SECOND, 3, THROTTLED],
    ['pushed back again and again, when it was calm', THROTTLED, 240 * SECOND + 1, 7, undefined],
    ['a failure, in a row', UNAVAILABLE, 60 * SECOND, 0, UNAVAILABLE],
    ['a failure, in none', UNAVAILABLE, 60 * SECOND + 1, 0, undefined],
    ['a success, of a row', SUCCEEDED, 60 * SECOND, 0, SUCCEEDED],
    ['a success, of none', SUCCEEDED, 60 * SECOND + 1, 0, undefined],
  ])('%s: %o, %i ms, level %i: %o', (_, signal, lateMs, level, heard) => {
    expect(heardLate(given(signal), lateMs, level)).toEqual(heard && given(heard))
  })
})

describe('what is told', () => {
  it('is news once, as long as it is noted', () => {
    const noted = new Set(['a', 'b'])
    const first = newsOf([], [telling('a'), telling('b'), telling('gone')], noted)
    expect(first).toEqual({ news: [telling('a'), telling('b')], remembered: ['a', 'b'] })
    expect(newsOf(first.remembered, [telling('b')], noted)).toEqual({ news: [], remembered: ['a', 'b'] })
  })

  it('is remembered while it is noted, however many came after it, and a hundred are in any case', () => {
    const before = Array.from({ length: 100 }, (_, n) => `${n}`)
    expect(agedOf(before, 0)).toEqual([])
    expect(agedOf(before, 2)).toEqual(['0', '1'])
    const told = [telling('x'), telling('y')]
    const { remembered } = newsOf(before, told, new Set(['0', 'x', 'y']))
    expect(remembered).toEqual(['0', ...before.slice(2), 'x', 'y'])
    expect(agedOf(remembered, 0)).toEqual(['0'])
  })
})
