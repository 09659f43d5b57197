/**
 * Steps of the store's clock: somebody set it forward, and time was skipped that nobody has lived. What waits for an hour
 * of the day, or for a while, waits no longer for it. But whoever owns a job is owed all of its time: a lease is as long as
 * it was when it was last renewed, and an attempt as when it began, whatever the clock says in between.
 *
 * A clock that is set back is the store's own affair: its time goes on (S13).
 */
import { violated } from './assert.ts'
import type { Job, Time } from './job.ts'
import { leaseRenewedAt, leaseWindowMs } from './timers.ts'

export interface Step {
  /** The store's clock just before: a lease that was granted or renewed until then has lived through it. */
  readonly at: Time
  readonly byMs: number
}

export const NO_STEPS: readonly Step[] = []

/** Whether it matters to a job that the clock was set: somebody owns it, and is owed the time. */
export const isOwed = ({ lease }: Job): boolean => lease !== undefined

/** When the lease of an owned job really ends. */
export function leaseEndsAt({ id, lease, spec }: Job, steps: readonly Step[]): Time {
  if (lease === undefined) violated(`job ${id} is owned`)
  if (steps.length === 0) return lease.expiresAt
  return lease.expiresAt + skippedSince(leaseRenewedAt(lease.expiresAt, leaseWindowMs(spec.kind.policy)), steps)
}

/** The hour by which the time limits of a job are judged. */
export function livedUntil({ lease }: Job, now: Time, steps: readonly Step[]): Time {
  return lease === undefined || steps.length === 0 ? now : now - skippedSince(lease.grantedAt, steps)
}

function skippedSince(time: Time, steps: readonly Step[]): number {
  let skippedMs = 0
  for (const { at, byMs } of steps) if (at >= time) skippedMs += byMs
  return skippedMs
}
