import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { idText } from '../../src/core/id.ts'
import { DURATIONS } from '../../src/core/limits.ts'
import { type LeasePlace, type LeaseRow, LeaseTable } from '../../src/worker/lease-table.ts'

const table = (capacity: number) => new LeaseTable(new SharedArrayBuffer(LeaseTable.bytes(capacity)))

const nonce = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 16, maxLength: 16 })
const lease: fc.Arbitrary<LeaseRow> = fc
  .record({
    number: fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    generation: fc.nat(1_000_000),
    attempt: fc.integer({ min: 1, max: 1_000_000 }),
    nonce,
    expiresMs: fc.double({ min: 0, max: 1e13, noNaN: true }),
    windowMs: fc.integer({ min: 1_000, max: 86_400_000 }),
    beatEveryMs: fc.nat(3_600_000),
    limitMs: fc.integer({ min: 1, max: DURATIONS.attemptMs.max }),
  })
  .map(({ number, nonce: text, ...rest }) => ({
    ...rest,
    id: idText(number),
    fence: `${rest.generation}.${rest.attempt}.${text}`,
  }))

describe('the lease table', () => {
  it('gives back what was put in', () => {
    fc.assert(
      fc.property(fc.array(lease, { minLength: 1, maxLength: 20 }), (leases) => {
        const all = table(leases.length)
        const places = leases.map((each) => all.add(each))
        expect(all.room).toBe(0)
        for (const [i, { row, seq }] of places.entries()) {
          const { expiresMs, ...rest } = leases[i] as LeaseRow
          expect(all.read(row, seq)).toMatchObject(rest)
          expect(Math.abs(all.leftMs({ row, seq }, expiresMs - 5_000) - 5_000)).toBeLessThanOrEqual(1)
        }
        for (const place of places) all.remove(place)
        expect(all.room).toBe(leases.length)
      }),
    )
  })

  it('keeps a renewal from a lease that is in its row by now', () => {
    fc.assert(
      fc.property(lease, lease, (first, second) => {
        const all = table(1)
        const old = all.add(first)
        all.remove(old)
        const young = all.add(second)
        all.renew(old, 123)
        expect(young.seq).not.toBe(old.seq)
        expect(Math.abs(all.leftMs(young, second.expiresMs))).toBeLessThanOrEqual(1)
        expect(all.read(old.row, old.seq)).toBeUndefined()
        all.renew(young, second.expiresMs + 60_000)
        expect(Math.abs(all.leftMs(young, second.expiresMs) - 60_000)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('refuses what it has no room for, and to forget twice', () => {
    const all = table(1)
    const one: LeaseRow = {
      id: 'pj_1',
      generation: 0,
      attempt: 1,
      fence: '0.1.0000000000000000',
      expiresMs: 0,
      windowMs: 1_000,
      beatEveryMs: 500,
      limitMs: 300_000,
    }
    const place: LeasePlace = all.add(one)
    expect(() => all.add(one)).toThrow(/never claims more/)
    all.remove(place)
    expect(() => all.remove(place)).toThrow(/once/)
  })
})
