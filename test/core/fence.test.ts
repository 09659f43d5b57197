import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  attemptOf,
  fenceOf,
  hiddenFence,
  isNonce,
  missingFence,
  nonceIn,
  parseFence,
  withNonce,
  withoutNonce,
} from '../../src/core/fence.ts'
import { given, NONCE } from './given.ts'

const number = fc.integer({ min: 0, max: 999_999_999 })
const nonce = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 16, maxLength: 16 })

describe('a fence', () => {
  it('says what it was made of', () => {
    fc.assert(
      fc.property(number, number, nonce, (generation, attempt, nonce) => {
        const fence = fenceOf(generation, attempt, nonce)
        expect(parseFence(fence)).toEqual({ generation, attempt, nonce })
        expect(nonceIn(fence)).toBe(nonce)
        expect(isNonce(nonce)).toBe(true)
        expect(attemptOf(fence)).toEqual({ generation, attempt })
        expect(attemptOf(hiddenFence(generation, attempt))).toEqual({ generation, attempt })
        expect(attemptOf(`${generation}.${attempt}`)).toBeUndefined()
      }),
    )
  })

  it('is written in one way only: whatever can be read is what would be written', () => {
    const almost = fc.stringMatching(/^0{0,2}\d{0,3}\.0?\d{0,3}\.[0-9a-f]{15,17}$/)
    fc.assert(
      fc.property(fc.oneof(almost, fc.string()), (text) => {
        const fence = parseFence(text)
        if (fence !== undefined) expect(fenceOf(fence.generation, fence.attempt, fence.nonce)).toBe(text)
      }),
      { numRuns: 1_000 },
    )
  })

  it.each([
    '',
    '0.1',
    '0.01.0123456789abcdef',
    '00.1.0123456789abcdef',
    '0.1.0123456789abcde',
    '0.1.0123456789abcdef0',
    '0.1.0123456789ABCDEF',
    '0.1.0123456789abcdef\n',
    ' 0.1.0123456789abcdef',
    '-1.1.0123456789abcdef',
    '0.1234567890.0123456789abcdef',
  ])('is not %j', (text) => {
    expect(parseFence(text)).toBeUndefined()
  })

  it('can be named without being told', () => {
    expect(withoutNonce('0.1.0123456789abcdef/complete')).toBe('0.1.…/complete')
    expect(withoutNonce('a request of somebody’s own')).toBe('a request of somebody’s own')
  })

  it('of a word that came without one names the attempt, and no lease', () => {
    expect(parseFence(missingFence(2, 3))).toEqual({ generation: 2, attempt: 3, nonce: '0'.repeat(16) })
  })

  it('can be given another name where its log goes elsewhere, and nothing else changes', () => {
    const { events } = given()
      .does({ type: 'claim', workerId: 'w', nonce: NONCE })
      .does({ type: 'start', fence: 'mine' })
    const [enqueued, claimed, started] = events.map((event) => withNonce(event, 'b'.repeat(16)))
    expect([enqueued, started]).toEqual([events[0], events[2]])
    expect(claimed).toEqual({
      ...events[1],
      payload: { ...events[1]?.payload, fence: fenceOf(0, 1, 'b'.repeat(16)) },
    })
  })
})
