/** `heartbeat`: renews the lease and tells the owner of a requested cancel. */
import { assert } from '../assert.ts'
import type { Heartbeat } from '../command.ts'
import { bondOf } from '../dialects/bond.ts'
import { type Draft, observe } from '../draft.ts'
import { isOwned, type Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { renewedUntil } from '../timers.ts'

export function decideHeartbeat(d: Draft, job: Job): Ruling {
  assert(isOwned(job), 'the table lets only owned jobs have a heartbeat')
  observe(d, 'heartbeat', {
    leaseExpiresAt: renewedUntil(job, d.at),
    count: 1,
    firstAt: d.at,
    cancelDelivered: job.cancel !== undefined && job.cancel.deliveredAt === undefined,
  })
  return undefined
}

/**
 * Whether a heartbeat of this job renews its lease and says nothing else, so that a store may do it by itself. Any other is
 * decided here: there is a cancel to be told, or its document wants to read of each, or has it start soon after its claim.
 */
export function isMereRenewal({ cancel, state, spec }: Job): boolean {
  const { logsHeartbeats, startsAfterClaim } = bondOf(spec.kind.policy)
  return cancel === undefined && !logsHeartbeats && !(startsAfterClaim && state !== 'running')
}

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
