import { describe, expect, it } from 'vitest'
import { eventId } from '../../src/core/event.ts'
import { idNumber, idText, isId, isReserved } from '../../src/core/id.ts'
import { given } from './given.ts'

describe('ids', () => {
  it('are numbers in short text, back and forth', () => {
    for (const n of [1, 31, 32, 123_456_789, Number.MAX_SAFE_INTEGER]) expect(idNumber(idText(n))).toBe(n)
  })

  it('are nothing else', () => {
    for (const text of ['', 'pj_', 'pj_0', 'pj_01', 'pj_W', 'PJ_1', 'x', 'pj_vvvvvvvvvvv', `pj_${'1'.repeat(12)}`])
      expect(isId(text)).toBe(false)
    expect(() => idText(0)).toThrow()
    expect(() => idText(1.5)).toThrow()
    expect(isReserved('pj_hello')).toBe(true)
    expect(isReserved('job-1')).toBe(false)
  })

  it('give each event one of its own', () => {
    expect(given().starts().events.map(eventId)).toEqual(['pj_1/1', 'pj_1/2', 'pj_1/3'])
  })
})
