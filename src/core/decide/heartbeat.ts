/** `heartbeat`: renews the lease and tells the owner of a requested cancel. */
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
