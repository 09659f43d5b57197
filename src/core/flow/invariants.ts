/** What always holds of keys and of what they let in, numbered. The model checker judges by these very functions. */
import type { Time } from '../job.ts'
import type { KeyEvent } from './event.ts'
import type { KeyCircumstances, KeyRecord } from './key.ts'
import { calmMs, LEVEL_MAX, mostOf } from './numbers.ts'

export const FLOW_INVARIANTS = {
  F1: 'What is owned or stands under a key never grows beyond its gate; when a limit falls, never above the larger of both, and only falling.',
  F2: 'In every half-open window (t - W, t] at most n claims of a key with rate n per W, by the store’s clock; across a change the larger of both.',
  F3: 'Slots taken = jobs standing or owned that name the key.',
  F4: 'All of a job’s slots change in one commit; a held job has none.',
  F5: 'Nothing stands, and nothing is claimed, for a broken or spent key, but for claims under way when it became so.',
  F6: 'Probing: at most one slot let in since the cool-down ended.',
  F7: 'session + 1 only by an attempt that ran under the present one; it never decreases while the record lives.',
  F8: '1 ≤ allowed ≤ concurrency outside open; the level is between 0 and 7.',
  F9: 'Broken ends only in slow, or by hand; open is reached only from slow, with all of its concurrency allowed, after calm.',
  F10: 'until never moves nearer but by hand; cool-downs grow until the key is open.',
  F11: 'A flow with a held job has somebody who will look: an arrival, its nextAt, a key without room whose wakeAt is not too late, a full lane, or a paused queue.',
  F12: 'FIFO by (readyAt, id) within a flow, among what was visible; taking back keeps the place.',
  F13: 'Once faults stop, every key opens given traffic, and nothing is held for ever.',
  F14: 'Unlimited jobs touch none of this.',
} as const

export type FlowInvariantName = keyof typeof FLOW_INVARIANTS

export interface FlowBreach {
  readonly invariant: FlowInvariantName
  readonly what: string
}

/** `claimedAt`: of the attempt that caused it; absent where somebody did it by hand. */
export function keyBreaches(
  before: KeyRecord,
  event: KeyEvent,
  after: KeyRecord,
  around: KeyCircumstances,
  claimedAt: Time | undefined,
): readonly FlowBreach[] {
  const found: FlowBreach[] = []
  const breach = (invariant: FlowInvariantName, what: string) => found.push({ invariant, what })
  const byHand = claimedAt === undefined
  const most = mostOf(after, around)
  if (
    after.session !== before.session &&
    (after.session !== before.session + 1 || byHand || claimedAt < before.freshFrom)
  )
    breach('F7', `session ${before.session} → ${after.session}`)
  if (after.state !== 'open' && (after.allowed < 1 || after.allowed > most))
    breach('F8', `${after.allowed} of ${most} allowed while ${after.state}`)
  if (after.level < 0 || after.level > LEVEL_MAX) breach('F8', `level ${after.level}`)
  if (before.state === 'broken' && after.state === 'open' && !byHand) breach('F9', 'broken → open')
  if (before.state === 'broken' && after.state === 'slow' && after.allowed > 1)
    breach('F9', `a probe let in ${after.allowed}`)
  if (before.state === 'slow' && after.state === 'open' && !byHand) {
    if (before.allowed < mostOf(before, around)) breach('F9', `opened with ${before.allowed} allowed`)
    if (event.at - before.freshFrom < calmMs(before.level)) breach('F9', 'opened before it was calm')
  }
  if (after.state === 'broken') {
    if (before.state === 'broken' && after.until < before.until && !byHand) breach('F10', 'until moved nearer')
    if (after.freshFrom !== after.until) breach('F10', 'signals from before its end would count')
  }
  if (after.level < before.level && after.state !== 'open') breach('F10', `level ${before.level} → ${after.level}`)
  return found
}
