/** `heartbeat`: renews the lease and tells the owner of a requested cancel. */
import type { Heartbeat } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { leaseEnd, leaseWindowMs } from '../timers.ts'

export function decideHeartbeat(d: Draft, job: Job): Ruling {
  observe(d, 'heartbeat', {
    leaseExpiresAt: leaseEnd(d.at, leaseWindowMs(job.spec.kind.policy)),
    count: 1,
    firstAt: d.at,
    cancelDelivered: job.cancel !== undefined && job.cancel.deliveredAt === undefined,
  })
  return undefined
}

/**
 * Whether a heartbeat of this job renews its lease and says nothing else, so that a store may do it by itself. Any other is
 * decided here: there is a cancel to be told.
 */
export const isMereRenewal = (job: Job): boolean => job.cancel === undefined

/**
 * "Still here", said by a fence alone. Who says it, and of which revision (document 001 wants to hear it), is what the record
 * says: whoever has the fence is the owner, and a heartbeat is about no change that its owner could have missed.
 */
export const stillHere = ({ owner, rev }: Job, fence: string, requestId: string): Heartbeat => ({
  type: 'heartbeat',
  actor: owner === undefined ? 'worker' : `worker:${owner.workerId}`,
  requestId,
  fence,
  expectedRev: rev,
})
