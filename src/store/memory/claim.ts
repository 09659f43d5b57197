import { assert } from '../../core/assert.ts'
import { decide } from '../../core/decide.ts'
import type { Job, Time } from '../../core/job.ts'
import { isClaimable } from '../../core/timers.ts'
import { sideLanes } from '../side-lanes.ts'
import { type ClaimAnswer, type ClaimedJob, type Grant, type Lane, queueKey } from '../store.ts'
import type { Shelf, Shelves } from './shelves.ts'

/** Lane by lane in the order asked, with its side lanes before it, each from its front, until there is enough. What is not ready is not looked at. */
export function claim(shelves: Shelves, grant: Grant, now: Time): ClaimAnswer {
  const again = repeated(shelves, grant, now)
  if (again.length > 0) return { now, replayed: true, jobs: withInputs(shelves, again, grant.maxInputBytes) }
  const taken: ClaimedJob[] = []
  for (const lane of grant.lanes) {
    if (paused(shelves, lane)) continue
    for (const agenda of [...sideLanes(shelves.lanes.beside(lane), grant), shelves.lanes.main(lane)]) {
      for (let next = agenda?.first(); next !== undefined && taken.length < grant.limit; next = agenda?.first()) {
        if (next.at > now) break
        const { job } = shelves.jobs.get(next.name) as Shelf
        if (isClaimable(job, now)) taken.push(take(shelves, job, grant, now))
        // The ticker's, and no worker's any more.
        else shelves.lanes.leave(job)
      }
    }
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

function paused(shelves: Shelves, { tenant, queue }: Lane): boolean {
  const text = shelves.settings.get('queue')?.get(queueKey(tenant, queue))?.text
  const document: unknown = text === undefined ? undefined : JSON.parse(text)
  return typeof document === 'object' && document !== null && 'paused' in document && document.paused === true
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
  return jobs.map((claimed) => {
    const input = shelves.jobs.get(claimed.before.id)?.bodies.get('input')
    const bytes = input === undefined ? 0 : Buffer.byteLength(input)
    if (input === undefined || bytes > leftBytes) return claimed
    leftBytes -= bytes
    return { ...claimed, input }
  })
}
