import { assert } from '../core/assert.ts'
import type { Claim } from '../core/command.ts'
import { decide } from '../core/decide.ts'
import type { ClaimAnswer, ClaimedJob } from '../store/store.ts'
import type { Random } from '../system/random.ts'
import type { Assignment, ClaimRequest } from './engine.ts'
import type { ExecutorParts } from './execute.ts'

/** Inputs that ride along with a claim, all together. The rest is loaded when its turn comes. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024

/**
 * The one transition a store performs by itself. What it gave away is evolved here from the record as it was; that the
 * two agree is asserted for every job.
 */
export async function claim(
  parts: ExecutorParts,
  random: Random,
  { requestId, workerId, lanes, limit }: ClaimRequest,
): Promise<readonly Assignment[]> {
  const nonce = random.hex64()
  const actor = `worker:${workerId}`
  const grant = { requestId, workerId, actor, nonce, lanes, limit, maxInputBytes: MAX_INPUT_BYTES }
  const answer = await parts.store.claim(grant)
  parts.clock.heard(answer.now)
  if (answer.replayed) return replayed(parts, answer)
  const command: Claim = { type: 'claim', actor, requestId, workerId, nonce }
  const assignments: Assignment[] = new Array(answer.jobs.length)
  for (let i = 0; i < answer.jobs.length; i += 1) {
    assignments[i] = granted(parts, command, answer.jobs[i] as ClaimedJob)
  }
  return assignments
}

function granted(parts: ExecutorParts, command: Claim, claimed: ClaimedJob): Assignment {
  const { before, rev, attempt, leaseExpiresAt, at } = claimed
  const decision = decide(before, command, at)
  assert(decision.kind === 'accepted', `the store gave job ${before.id} away, core would not have`)
  const { job, events } = decision
  assert(
    job.lease !== undefined && job.rev === rev && job.attempt === attempt && job.lease.expiresAt === leaseExpiresAt,
    `job ${before.id} is not what the store stamped`,
  )
  parts.held.keep(job)
  parts.observer.committed(events, before, job)
  return assignment(parts, job, job.lease.fence, claimed.input)
}

/** The answer to an earlier call with this id was lost: its fences are on the records. */
async function replayed(parts: ExecutorParts, { jobs }: ClaimAnswer): Promise<readonly Assignment[]> {
  const { now, items } = await parts.store.load(jobs.map(({ before }) => ({ id: before.id })))
  parts.clock.heard(now)
  const assignments: Assignment[] = []
  for (const [i, claimed] of jobs.entries()) {
    const job = items[i]?.job
    if (job?.lease === undefined || job.attempt !== claimed.attempt || job.lease.expiresAt <= now) continue
    parts.held.keep(job)
    assignments.push(assignment(parts, job, job.lease.fence, claimed.input))
  }
  return assignments
}

const assignment = (
  { codec }: ExecutorParts,
  job: Assignment['job'],
  fence: string,
  input: string | undefined,
): Assignment => ({
  job,
  fence,
  leaseExpiresAt: job.lease?.expiresAt ?? 0,
  input: input === undefined ? undefined : codec.decode(input),
  inputLater: input === undefined && job.spec.input !== undefined,
})
