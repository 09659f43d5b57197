import { decide } from '../../core/decide.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Beat, Beaten, Store } from '../store.ts'

const TRIES = 5

/**
 * A heartbeat that says more than "still here" (it delivers a cancel, or a dialect judges it) is core's to decide. `now`
 * is when it was heard, also where it has to be decided again.
 */
export async function beatCarefully(store: Store, { id, fence, requestId }: Beat, now: Time): Promise<Beaten> {
  for (let tried = 0; tried < TRIES; tried++) {
    const { items } = await store.load([{ id }])
    const before = items[0]?.job
    if (before?.owner === undefined) return { status: 'lost' }
    const actor = `worker:${before.owner.workerId}`
    const decision = decide(before, { type: 'heartbeat', actor, requestId, fence, expectedRev: before.rev }, now)
    if (decision.kind === 'refused') return { status: 'lost' }
    if (decision.kind === 'replayed') return renewed(before, true)
    const { job: after, events } = decision
    const notAfter = before.lease?.expiresAt
    const nothing = { bodies: [], give: [], take: [], spawn: undefined }
    const { verdicts } = await store.commit([{ kind: 'move', before, after, events, notAfter, ...nothing }])
    if (verdicts[0]?.status === 'applied') return renewed(after, false)
    if (verdicts[0]?.status === 'late') return { status: 'lost' }
  }
  return { status: 'busy' }
}

function renewed({ lease, rev, cancel }: Job, replayed: boolean): Beaten {
  if (lease === undefined) return { status: 'lost' }
  return { status: 'renewed', rev, beats: lease.beats, leaseExpiresAt: lease.expiresAt, cancel, replayed }
}
