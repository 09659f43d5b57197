import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { leaseEnd, leaseRenewedAt } from '../../src/core/timers.ts'
import { leaseEndText, leaseRenewedAtText } from '../../src/store/lease-text.ts'

it('what statements say of the end of a lease is what core says', () => {
  using database = new DatabaseSync(':memory:')
  const said = database.prepare(
    `SELECT ${leaseEndText('at', 'window')} AS "end", ${leaseRenewedAtText('at', 'window')} AS renewed FROM (SELECT ? AS at, ? AS window)`,
  )
  fc.assert(
    fc.property(fc.nat(2 ** 42), fc.integer({ min: 1, max: 2 ** 31 }), (at, window) => {
      expect(said.get(at, window)).toEqual({ end: leaseEnd(at, window), renewed: leaseRenewedAt(at, window) })
    }),
  )
})
