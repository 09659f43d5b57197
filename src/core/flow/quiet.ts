/** When a key may be forgotten: nothing would be lost but what nobody has asked about for a day. */
import type { Time } from '../job.ts'
import type { KeyDocument } from './document.ts'
import { lastHeardAt } from './key.ts'
import { HEARD_MS } from './numbers.ts'
import type { Count } from './slots.ts'

export const QUIET_MS = 24 * 60 * 60 * 1_000

/**
 * Open and at rest, nothing taken or counted of it, for a day nothing was learnt of it, and nobody has set anything for it. The next
 * job that names it brings what its type declares; what somebody set by hand is nowhere else.
 */
export function isQuiet({ record, byHand }: KeyDocument, count: Count, now: Time): boolean {
  const { state, strikes } = record
  if (state !== 'open' || strikes > 0 || byHand !== undefined) return false
  if (count.taken > 0 || count.started > 0 || count.spent > 0) return false
  // It may have been heard of for as long again as nothing is noted.
  return now - lastHeardAt(record) >= QUIET_MS + HEARD_MS
}
