import { describe, expect, it } from 'vitest'
import {
  declaring,
  decodeKey,
  decodeKeyLog,
  encodeKey,
  encodeKeyLog,
  gateIn,
  limitIn,
  ruleName,
} from '../../../src/core/flow/document.ts'
import { atRest } from '../../../src/core/flow/key.ts'
import { KeyLife, THROTTLED } from './key-given.ts'

describe('the document of a key', () => {
  it('says nothing of what is at rest, and comes back as it was', () => {
    const quiet = { declared: undefined, byHand: undefined, record: atRest('k') }
    expect(encodeKey(quiet)).toBe('{}')
    expect(decodeKey('k', '{}')).toEqual(quiet)
    expect(decodeKey('k', '')).toEqual(quiet)
    const { key: record } = new KeyLife().hears(THROTTLED)
    const slow = { declared: { concurrency: 8 }, byHand: { weight: 2 }, record }
    expect(decodeKey(record.key, encodeKey(slow))).toEqual(slow)
  })

  it('has what was set by hand in force, else what the type declares, else nothing', () => {
    const record = atRest('k')
    expect(limitIn({ declared: { concurrency: 8 }, byHand: { concurrency: 2 } })).toEqual({ concurrency: 2 })
    expect(gateIn({ declared: { concurrency: 8 }, byHand: undefined, record })).toMatchObject({ cap: 8 })
    expect(gateIn({ declared: undefined, byHand: undefined, record })).toMatchObject({ cap: undefined })
  })

  it('keeps each number of code that was not set by hand', () => {
    const rate = { most: 5, perMs: 1_000 }
    expect(limitIn({ declared: { concurrency: 8, rate }, byHand: { concurrency: 2 } })).toEqual({
      concurrency: 2,
      rate,
    })
  })

  it('follows the type that has numbers for it, and no other', () => {
    const quiet = { declared: undefined, byHand: undefined, record: atRest('k') }
    expect(declaring(quiet, 'a', {})).toBeUndefined()
    expect(declaring(quiet, 'a', { concurrency: 8 })).toEqual({
      ...quiet,
      declared: { concurrency: 8 },
      declaredBy: 'a',
    })
    const ofA = { ...quiet, declared: { concurrency: 8 }, declaredBy: 'a' }
    expect(declaring(ofA, 'a', { concurrency: 8 })).toBeUndefined()
    expect(declaring(ofA, 'b', { concurrency: 2 })).toBeUndefined()
    expect(declaring({ ...ofA, declaredBy: undefined }, 'b', { weight: 2 })?.declaredBy).toBe('b')
    const without = declaring(ofA, 'a', {})
    expect(without?.declared).toEqual({})
    expect(declaring(without ?? ofA, 'b', { rate: { most: 1, perMs: 1_000 } })?.declaredBy).toBe('b')
  })

  it('follows a rule before every type, whoever was first, and the first of two rules', () => {
    const ofType = { declared: { concurrency: 1_000 }, declaredBy: 'a', byHand: undefined, record: atRest('k') }
    const ruled = declaring(ofType, ruleName('cap'), { concurrency: 1 })
    expect(ruled).toMatchObject({ declared: { concurrency: 1 }, declaredBy: 'rule,cap' })
    expect(declaring(ruled ?? ofType, 'a', { concurrency: 1_000 })).toBeUndefined()
    expect(declaring(ruled ?? ofType, ruleName('other'), { concurrency: 9 })).toBeUndefined()
    expect(declaring(ruled ?? ofType, ruleName('cap'), { concurrency: 2 })?.declared).toEqual({ concurrency: 2 })
  })

  it('keeps the last hundred changes that are told, and no counts', () => {
    const [slowed] = new KeyLife().hears(THROTTLED).events
    if (slowed === undefined) throw new Error('it was slowed')
    const counted = { ...slowed, type: 'counted', payload: { strikes: 1, struckAt: 0, good: 0 } } as const
    expect(encodeKeyLog(undefined, [counted])).toBeUndefined()
    let log: string | undefined
    for (let n = 0; n < 110; n += 1) log = encodeKeyLog(log, [{ ...slowed, rev: n }])
    expect(decodeKeyLog(log).map(({ rev }) => rev)).toEqual(Array.from({ length: 100 }, (_, i) => i + 10))
    expect(decodeKeyLog(undefined)).toEqual([])
  })
})

it('a document keeps whose signals came behind their ends, where some did', () => {
  const quiet = decodeKey('k', '')
  expect(decodeKey('k', encodeKey(quiet))).toEqual(quiet)
  const told = { ...quiet, heardBehind: ['pj_1/2'] }
  expect(decodeKey('k', encodeKey(told))).toEqual(told)
})
