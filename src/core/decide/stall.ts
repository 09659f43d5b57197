/** `stall`: `claimed`, `running` → `stalled`, once the lease has expired by the store's clock. */
import { assert } from '../assert.ts'
import { neededUnlessHandedBack } from '../dialects/bond.ts'
import { change, type Draft } from '../draft.ts'
import { isOwned, type Job, type Owned } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { leaseEndsAt } from '../steps.ts'

export function decideStall(d: Draft, job: Job): Ruling {
  assert(isOwned(job), 'the table lets only owned jobs stall')
  const endsAt = leaseEndsAt(job, d.steps)
  if (d.at < endsAt)
    return { code: 'NOT_DUE', message: `The lease of job ${job.id} is live for another ${endsAt - d.at} ms.` }
  orphan(d, job, 'lease_expired')
  return undefined
}

/** Whoever has not even begun may not know the type. */
export function orphan(d: Draft, job: Owned, reason: string): void {
  const needs = job.state === 'claimed' ? neededUnlessHandedBack(job) : undefined
  change(d, 'stalled', 'stalled', { leaseExpiresAt: job.lease.expiresAt, needs }, { reason })
}
