import { decide } from '../../core/decide.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Beat, Beaten, Store } from '../store.ts'

const TRIES = 5

export interface Heard {
  readonly beaten: Beaten
  /** As of when that is so. */
  readonly now: Time
}

/**
 * A heartbeat that says more than "still here" (it delivers a cancel, or a dialect judges it) is core's to decide. `now`
 * is when it was heard, also where it has to be decided again.
 */
export async function beatCarefully(store: Store, { id, fence, requestId }: Beat, now: Time): Promise<Heard> {
  for (let tried = 0; tried < TRIES; tried++) {
    const { items } = await store.load([{ id }])
    const before = items[0]?.job
    if (before?.owner === undefined) return { now, beaten: { status: 'lost' } }
    const actor = `worker:${before.owner.workerId}`
    const decision = decide(before, { type: 'heartbeat', actor, requestId, fence, expectedRev: before.rev }, now)
    if (decision.kind === 'refused') return { now, beaten: { status: 'lost' } }
    if (decision.kind === 'replayed') return { now, beaten: renewed(before, true) }
    const { job: after, events } = decision
    const notAfter = before.lease?.expiresAt
    const nothing = { bodies: [], give: [], take: [], spawn: undefined }
    const { verdicts, now: told } = await store.commit([{ kind: 'move', before, after, events, notAfter, ...nothing }])
    if (verdicts[0]?.status === 'applied') return { now, beaten: renewed(after, false) }
    // The lease ended on the way: later than it was heard, and the answer says when.
    if (verdicts[0]?.status === 'late') return { now: told, beaten: { status: 'lost' } }
  }
  return { now, beaten: { status: 'busy' } }
}

function renewed({ lease, rev, cancel }: Job, replayed: boolean): Beaten {
  if (lease === undefined) return { status: 'lost' }
  return { status: 'renewed', rev, beats: lease.beats, leaseExpiresAt: lease.expiresAt, cancel, replayed }
}
