/**
 * Who goes back from the lane to where it was held, with its place kept: what stands at a key that is shut or above its gate,
 * the newest first; and what nobody claims while others wait. Owners are never disturbed.
 */
import type { JobId, Time } from '../job.ts'
import { type Flow, PATIENCE_MS } from './hall.ts'
import { isBeyond } from './room.ts'
import { type Counted, oneLess, type Slot } from './slots.ts'

/** Jobs that must leave their lane for this key's sake, of those that stand, which come the newest first. */
export function takenBack({ gate, count }: Counted, standing: Iterable<Slot>, now: Time): readonly JobId[] {
  const back: JobId[] = []
  let left = count
  if (!isBeyond(gate, left, now)) return back
  for (const slot of standing) {
    back.push(slot.job)
    left = oneLess(left, gate, slot)
    if (!isBeyond(gate, left, now)) break
  }
  return back
}

/** Whether a job that stands has stood long enough without being claimed, where another flow waits for what it holds. */
export const isOutOfPatience = ({ letInAt }: Slot, now: Time): boolean => now - letInAt >= PATIENCE_MS

/**
 * The flow of one that gave way is out of turn for a while, also where more of it wait for the same slot: else it would be let in
 * again before those it gave way to, and where nobody claims its jobs, they would wait for as long as it has any.
 */
export const afterGivingWay = <Given extends Pick<Flow, 'waitsAt' | 'nextAt'>>(flow: Given, now: Time): Given => ({
  ...flow,
  waitsAt: undefined,
  nextAt: now + PATIENCE_MS,
})

export const isStanding = ({ claimedAt }: Slot): boolean => claimedAt === undefined

export const newestFirst = (a: Slot, b: Slot): number => b.letInAt - a.letInAt || (a.job < b.job ? 1 : -1)
/** In which they give way: who has gone waits nowhere, and the next may be in nobody's way any more. */
export const oldestFirst = (a: Slot, b: Slot): number => newestFirst(b, a)
