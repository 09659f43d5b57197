/** The ledger's log, written into tables for reading: strictly in order, and what entries carry, by no rule of its own. */
import { assert } from '../../core/assert.ts'
import type { Account } from './account.ts'
import type { Entry } from './entry.ts'

/** Of a stretch of the ledger's log: what is to be written next. */
export function unfolded<E extends Entry>({ folded, head }: Account, stretch: readonly E[]): readonly E[] {
  const next = stretch.filter(({ seq }) => seq > folded && seq <= head.seq)
  for (const [i, { seq }] of next.entries()) assert(seq === folded + 1 + i, 'nothing is left out of the fold')
  return next
}

/** A step is taken only from where the fold has come to: who was overtaken would write what was over what is. */
export const mayFold = ({ folded }: Account, from: number): boolean => folded === from

/** What was folded long enough ago may be forgotten. */
export const withForgotten = (account: Account, upTo: number): Account => {
  assert(upTo <= account.folded, 'nothing is forgotten that was not folded')
  return { ...account, keptFrom: Math.max(account.keptFrom, upTo + 1) }
}

export const withFolded = (account: Account, entries: readonly Entry[]): Account => ({
  ...account,
  folded: entries.at(-1)?.seq ?? account.folded,
})
