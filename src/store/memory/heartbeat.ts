import { isMereRenewal, stillHere } from '../../core/decide/heartbeat.ts'
import { decide } from '../../core/decide.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Beat, Beaten } from '../store.ts'
import type { Shelves } from './shelves.ts'

/** Renews a lease if core says so. Whatever core refuses, the sender is not the owner any more. */
export function heartbeat(shelves: Shelves, { id, fence, requestId }: Beat, now: Time): Beaten {
  const job = shelves.jobs.get(id)?.job
  if (job?.owner === undefined || job.lease.fence !== fence) return { status: 'lost' }
  const decision = decide(job, stillHere(job, fence, requestId), now)
  if (decision.kind === 'refused') return { status: 'lost' }
  if (!isMereRenewal(job)) return { status: 'careful' }
  if (decision.kind === 'replayed') return renewed(job, true)
  return renewed(shelves.place(decision.job, decision.events, true).job, false)
}

function renewed({ lease, rev }: Job, replayed: boolean): Beaten {
  if (lease === undefined) return { status: 'lost' }
  return { status: 'renewed', rev, beats: lease.beats, leaseExpiresAt: lease.expiresAt, replayed }
}
