import { assert } from '../../core/assert.ts'
import { decide } from '../../core/decide.ts'
import type { Job, Time } from '../../core/job.ts'
import { isClaimable } from '../../core/timers.ts'
import { letInFirst, sideLanes } from '../side-lanes.ts'
import { type ClaimAnswer, type ClaimedJob, type Grant, type Lane, queueKey } from '../store.ts'
import type { Lanes } from './lanes.ts'
import type { Shelf, Shelves } from './shelves.ts'

/** Lane by lane in the order asked, with its side lanes before it, each from its front, until there is enough. What is not ready is not looked at. */
export function claim(shelves: Shelves, grant: Grant, now: Time): ClaimAnswer {
  const again = repeated(shelves, grant, now)
  if (again.length > 0) return { now, replayed: true, jobs: withInputs(shelves, again, grant.maxInputBytes) }
  const taken: ClaimedJob[] = []
  let limited = 0
  const walk = (lanes: Lanes, lane: Lane, most: number): number => {
    const before = taken.length
    const main = lanes.main(lane)
    const beside = lanes.beside(lane)
    if (main === undefined && beside.size === 0) return 0
    for (const agenda of [...sideLanes(beside, grant), main]) {
      for (let next = agenda?.first(); next !== undefined && taken.length < before + most; next = agenda?.first()) {
        if (next.at > now) break
        const { job } = shelves.jobs.get(next.name) as Shelf
        if (isClaimable(job, now)) taken.push(take(shelves, job, grant, now))
        // The ticker's, and no worker's any more.
        else lanes.leave(job)
      }
    }
    return taken.length - before
  }
  const walkLetIn = (lane: Lane) => {
    const most = Math.min(grant.limit - taken.length, (grant.limited ?? grant.limit) - limited)
    limited += walk(shelves.hall.lanes, lane, most)
  }
  // While nobody was let in, a claim walks the lanes of jobs that need no letting in, and no others.
  const isAnyLetIn = !shelves.hall.lanes.isEmpty
  const isLetInFirst = letInFirst(grant)
  for (const lane of grant.lanes) {
    if (shelves.isPaused(queueKey(lane.tenant, lane.queue))) continue
    if (isAnyLetIn && isLetInFirst) walkLetIn(lane)
    walk(shelves.lanes, lane, grant.limit - taken.length)
    if (isAnyLetIn && !isLetInFirst) walkLetIn(lane)
  }
  return { now, replayed: false, jobs: withInputs(shelves, taken, grant.maxInputBytes) }
}

/** The jobs that an earlier call with this request id was given and still owns. */
function repeated(shelves: Shelves, { requestId }: Grant, now: Time): readonly ClaimedJob[] {
  const again: ClaimedJob[] = []
  for (const id of shelves.claims.get(requestId) ?? []) {
    const shelf = shelves.jobs.get(id)
    if (shelf?.claim !== undefined && (shelf.job.lease?.expiresAt ?? 0) > now) again.push(shelf.claim.answer)
  }
  return again
}

function take(shelves: Shelves, before: Job, grant: Grant, now: Time): ClaimedJob {
  const { actor, requestId, workerId, nonce } = grant
  const decision = decide(before, { type: 'claim', actor, requestId, workerId, nonce }, now)
  assert(decision.kind === 'accepted', `${before.id} was ready and could not be claimed`)
  const shelf = shelves.place(decision.job, decision.events)
  const { rev, attempt, lease } = shelf.job
  assert(lease !== undefined, `${before.id} was claimed and has no lease`)
  const answer: ClaimedJob = { before, rev, attempt, leaseExpiresAt: lease.expiresAt, at: now, input: undefined }
  shelves.rememberClaim(shelf, requestId, lease.fence, answer)
  return answer
}

/** Inputs ride along while there is room; the others are loaded when their turn comes. */
function withInputs(shelves: Shelves, jobs: readonly ClaimedJob[], maxBytes: number): readonly ClaimedJob[] {
  let leftBytes = maxBytes
  return jobs.map((job) => {
    const claimed = job.before.spec.flow === undefined ? job : { ...job, flow: shelves.hall.told(job.before) }
    const input = shelves.jobs.get(claimed.before.id)?.bodies.get('input')
    const bytes = input === undefined ? 0 : Buffer.byteLength(input)
    if (input === undefined || bytes > leftBytes) return claimed
    leftBytes -= bytes
    return { ...claimed, input }
  })
}
