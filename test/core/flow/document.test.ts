import { describe, expect, it } from 'vitest'
import { decodeKey, decodeKeyLog, encodeKey, encodeKeyLog, gateIn, limitIn } from '../../../src/core/flow/document.ts'
import { atRest } from '../../../src/core/flow/key.ts'
import { KeyLife, THROTTLED } from './key-given.ts'

describe('the document of a key', () => {
  it('says nothing of what is at rest, and comes back as it was', () => {
    const quiet = { declared: undefined, byHand: undefined, record: atRest('k') }
    expect(encodeKey(quiet)).toBe('{}')
    expect(decodeKey('k', '{}')).toEqual(quiet)
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
