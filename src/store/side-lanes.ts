/**
 * Side lanes. A job that needs something stands in a lane of its own kind, (queue, priority, need), beside the lane of its
 * queue and priority: so a claim walks over nothing that it could not do, and no statement has to filter.
 */
import { areTypes, servedBy } from '../core/needs.ts'
import type { Grant } from './store.ts'

/** Side lanes that a claim walks at most: names are made up by users, and a claim that serves all may meet many. */
export const SIDES_AT_ONCE = 10_000

/**
 * What stands in the side lanes that a claim walks, of those there are, by need. In an order that another claim has
 * otherwise: where claims never come to the end, the last would be served never.
 */
export function sideLanes<Side>(
  there: ReadonlyMap<string, Side>,
  { serves, nonce, lanes }: Pick<Grant, 'serves' | 'nonce'> & { readonly lanes: readonly unknown[] },
): readonly Side[] {
  if (there.size === 0) return NONE
  const met: Side[] = []
  if (serves !== undefined && areTypes(serves)) {
    for (const need of new Set(serves)) {
      const side = there.get(need)
      if (side !== undefined) met.push(side)
    }
  } else {
    const isServed = servedBy(serves)
    for (const [need, side] of there) if (isServed(need)) met.push(side)
  }
  const first = met.length < 2 ? 0 : firstSide(nonce) % met.length
  return [...met.slice(first), ...met.slice(0, first)].slice(0, Math.ceil(SIDES_AT_ONCE / lanes.length))
}

/**
 * Whether a claim looks at the lane of jobs that were let in before the lane beside it, of jobs that need no letting in. Each
 * goes first in half of the claims, so that neither starves where both are always full.
 */
export const letInFirst = ({ nonce }: Pick<Grant, 'nonce'>): boolean => Number.parseInt(nonce.slice(-1), 16) % 2 === 0

const NONE: readonly never[] = []

/** Where a claim begins, of any number of them. The nonce is random, and the claim's own: repeated, or looked at again, it walks them as before. */
export const firstSide = (nonce: string): number => Number.parseInt(nonce.slice(-8), 16)
