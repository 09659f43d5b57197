import { decide } from '../../core/decide.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Beat, Beaten } from '../store.ts'
import type { Shelves } from './shelves.ts'

/** Renews a lease if core says so. Whatever core refuses, the sender is not the owner any more. */
export function heartbeat(shelves: Shelves, { id, fence, requestId }: Beat, now: Time): Beaten {
  const job = shelves.jobs.get(id)?.job
  if (job?.owner === undefined || job.lease.fence !== fence) return { status: 'lost' }
  const actor = `worker:${job.owner.workerId}`
  // The fence says who speaks; the revision it speaks about is the one this call has before it (001 wants to hear it).
  const decision = decide(job, { type: 'heartbeat', actor, requestId, fence, expectedRev: job.rev }, now)
  switch (decision.kind) {
    case 'accepted':
      return renewed(shelves.place(decision.job, decision.events).job, false)
    case 'replayed':
      return renewed(job, true)
    case 'refused':
      return { status: 'lost' }
  }
}

function renewed({ lease, rev, cancel }: Job, replayed: boolean): Beaten {
  if (lease === undefined) return { status: 'lost' }
  return { status: 'renewed', rev, beats: lease.beats, leaseExpiresAt: lease.expiresAt, cancel, replayed }
}
