import type { Claim } from '../core/command.ts'
import { decide } from '../core/decide.ts'
import { flowOf } from '../core/flow/gate.ts'
import { servedWords } from '../core/needs.ts'
import { inputOf } from '../core/newer.ts'
import { leaseEndsAt } from '../core/steps.ts'
import { validate } from '../core/validate.ts'
import type { ClaimAnswer, ClaimedJob } from '../store/store.ts'
import type { Random } from '../system/random.ts'
import type { Assignment, ClaimRequest } from './engine.ts'
import type { ExecutorParts } from './execute.ts'

/** Inputs that ride along with a claim, all together. The rest is loaded when its turn comes. */
export const MAX_INPUT_BYTES = 8 * 1024 * 1024

/**
 * The one transition a store performs by itself. What it gave away is evolved here from the record as it was; that the
 * two agree is checked for every job: one of which they do not is logged, and left to its lease.
 */
export async function claim(
  parts: ExecutorParts,
  random: Random,
  request: ClaimRequest,
): Promise<readonly Assignment[]> {
  const { requestId, workerId, actor = `worker:${workerId}`, pool, capabilities, ...rest } = request
  const nonce = random.hex64()
  // Validated before the store is asked: jobs claimed by a command that core refuses would be left to their leases.
  const found = validate({ type: 'claim', actor, requestId, workerId, nonce }, parts.clock.now())
  if (found.length > 0) throw new TypeError(`claim: ${found.map(({ field, rule }) => `${field} ${rule}`).join('; ')}`)
  const askedMs = parts.clock.asked()
  const serves = servedWords(rest.serves, { pool, capabilities })
  const stamp = { requestId, workerId, actor, nonce }
  const answer = await parts.store.claim({ ...rest, ...stamp, serves, maxInputBytes: MAX_INPUT_BYTES })
  parts.clock.heard(answer.now, askedMs)
  if (answer.contended === true) parts.observer.contended()
  if (answer.replayed) return replayed(parts, answer)
  const { waitedMs } = answer
  const command: Claim = { type: 'claim', actor, requestId, workerId, nonce }
  const assignments: Assignment[] = []
  for (const job of answer.jobs) {
    const assignment = granted(parts, command, job)
    if (assignment !== undefined) assignments.push(waitedMs === undefined ? assignment : { ...assignment, waitedMs })
  }
  return assignments
}

/**
 * Undefined where store and core disagree. That is a defect of ours, and said aloud; the job is left to its lease, and
 * its neighbours, which were claimed with it, go their way.
 */
function granted(parts: ExecutorParts, command: Claim, claimed: ClaimedJob): Assignment | undefined {
  const { before, rev, attempt, leaseExpiresAt, at } = claimed
  const decision = decide(before, command, at)
  const job = decision.kind === 'accepted' ? decision.job : undefined
  const agreed = job?.rev === rev && job.attempt === attempt && job.lease?.expiresAt === leaseExpiresAt
  if (decision.kind !== 'accepted' || job?.lease === undefined || !agreed) {
    const core = job === undefined ? 'refuses' : `rev ${job.rev}, attempt ${job.attempt}, until ${job.lease?.expiresAt}`
    const store = `rev ${rev}, attempt ${attempt}, until ${leaseExpiresAt}`
    parts.log.error('store and core disagree about a claim', { job_id: before.id, store, core })
    return undefined
  }
  parts.held.keep(job)
  parts.observer.committed(decision.events, before, job)
  return assignment(parts, job, claimed)
}

/** The answer to an earlier call with this id was lost: its fences are on the records. */
async function replayed(parts: ExecutorParts, { jobs }: ClaimAnswer): Promise<readonly Assignment[]> {
  const askedMs = parts.clock.asked()
  if (jobs.length === 0) return []
  const { now, items } = await parts.store.load(jobs.map(({ before }) => ({ id: before.id })))
  parts.clock.heard(now, askedMs)
  const assignments: Assignment[] = []
  for (const [i, claimed] of jobs.entries()) {
    const job = items[i]?.job
    if (job?.lease === undefined || job.attempt !== claimed.attempt || leaseEndsAt(job, parts.steps.known) <= now)
      continue
    parts.held.keep(job)
    assignments.push(assignment(parts, job, claimed))
  }
  return assignments
}

/** What came along with the claim is what it was enqueued with: a newer input is loaded. */
function assignment(parts: ExecutorParts, job: Assignment['job'], { input: first, flow }: ClaimedJob): Assignment {
  const input = job.newer?.input === undefined ? first : undefined
  const inputLater = input === undefined && inputOf(job) !== undefined
  const { fence = '', expiresAt = 0 } = job.lease ?? {}
  const given = { job, fence, leaseExpiresAt: expiresAt, input, inputLater }
  const record = flow === undefined ? undefined : parts.flowKeys.claimed(job.spec.kind.tenant, flow)
  return record === undefined ? given : { ...given, flow: flowOf(record, parts.clock.now()) }
}
