/**
 * Who goes back from the lane to where it was held, with its place kept: what stands at a key that is shut or above its gate,
 * the newest first; and what nobody claims while others wait. Owners are never disturbed.
 */
import type { JobId, Time } from '../job.ts'
import { PATIENCE_MS } from './hall.ts'
import { isBeyond } from './room.ts'
import { countOf, type KeyUse, type Slot, withoutSlot } from './slots.ts'

/** Jobs that must leave their lane for this key's sake, the newest first. */
export function takenBack(use: KeyUse, now: Time): readonly JobId[] {
  const back: JobId[] = []
  let left = use
  for (const { job } of use.slots.filter(isStanding).sort(newestFirst)) {
    if (!isBeyond(left.gate, countOf(left, now), now)) break
    left = withoutSlot(left, job, now)
    back.push(job)
  }
  return back
}

/** Jobs of the key that stood long enough without being claimed, where another flow waits for what they hold. */
export const outOfPatience = (use: KeyUse, now: Time): readonly JobId[] =>
  use.slots.filter((slot) => isStanding(slot) && now - slot.letInAt >= PATIENCE_MS).map(({ job }) => job)

const isStanding = ({ claimedAt }: Slot): boolean => claimedAt === undefined

const newestFirst = (a: Slot, b: Slot): number => b.letInAt - a.letInAt || (a.job < b.job ? 1 : -1)
