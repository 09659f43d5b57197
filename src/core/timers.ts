/**
 * All of a job's clocks. A record carries one `nextTickAt`, the earliest of them; one service asks the store for what
 * is due; `decideTick` says what the tick means. Adding a timer is a change here and in `decide/expire.ts`, nowhere else.
 */
import { attemptMsOf } from './admission.ts'
import { spent } from './budget.ts'
import { bondOf } from './dialects/bond.ts'
import { canTell } from './dialects/telling.ts'
import type { Job, Owned, Time } from './job.ts'
import { isAsAsked } from './job-hash.ts'
import { LEASE_MARGIN_MS } from './limits.ts'
import type { Policy } from './policy.ts'

/** "Two missed heartbeats" and "the lease expired" are one clock: whichever is shorter. */
export const leaseWindowMs = (policy: Policy): number =>
  policy.heartbeat
    ? Math.min(policy.leaseMs, policy.missedHeartbeats * policy.heartbeatMs + LEASE_MARGIN_MS)
    : policy.leaseMs

/** When a lease ends that was granted or renewed at `at`, if nothing is heard of it and nobody sets the clock. */
export const leaseEnd = (at: Time, windowMs: number): Time => at + windowMs

/** When a lease that ends at `expiresAt` was granted or last renewed. */
export const leaseRenewedAt = (expiresAt: Time, windowMs: number): Time => expiresAt - windowMs

/** When to send the next heartbeat: on the interval, but never later than half of what remains of the lease. */
export const heartbeatInMs = (policy: Pick<Policy, 'heartbeatMs'>, remainingMs: number): number =>
  Math.max(0, Math.min(policy.heartbeatMs, remainingMs / 2))

/** The attempt's own time limit, while it runs. Where only its owner fails a job, the worker alone keeps it. */
export const attemptEndsAt = (job: Job): Time | undefined =>
  job.state === 'running' && job.startedAt !== undefined && !bondOf(job.spec.kind.policy).failedByOwner
    ? job.startedAt + attemptMsOf(job)
    : undefined

/** The job's deadline, where it ends the job: one that is bound goes on until its document has a move for that. */
export function deadlineOf(job: Job): Time | undefined {
  if (job.deadlineAt === undefined) return undefined
  const late = job.phase === 'run' ? 'timed_out' : 'dead_lettered'
  return canTell(job, late, late) ? job.deadlineAt : undefined
}

/** By when a job that may run from `runAt` on must have started. */
export const startByFor = (policy: Policy, runAt: Time): Time | undefined =>
  policy.startWithinMs === undefined || bondOf(policy).startsAfterClaim ? undefined : runAt + policy.startWithinMs

/** When a lease that is renewed at `at` ends; of a job that must start soon after its claim, no later than that. */
export function renewedUntil({ state, lease, spec }: Owned, at: Time): Time {
  const { policy } = spec.kind
  const end = leaseEnd(at, leaseWindowMs(policy))
  return state === 'claimed' && policy.startWithinMs !== undefined && bondOf(policy).startsAfterClaim
    ? Math.max(lease.expiresAt, Math.min(end, lease.grantedAt + policy.startWithinMs))
    : end
}

/** The deadline a job is born or reopened with. */
export const deadlineFrom = (policy: Policy, at: Time): Time | undefined =>
  policy.deadlineMs === undefined || bondOf(policy).deadlineFromStart ? undefined : at + policy.deadlineMs

/** The deadline that a start brings, where it is a wall clock and this is the first. */
export function deadlineOnStart({ deadlineAt, spec }: Job, at: Time): Time | undefined {
  const { policy } = spec.kind
  return deadlineAt === undefined && policy.deadlineMs !== undefined && bondOf(policy).deadlineFromStart
    ? at + policy.deadlineMs
    : deadlineAt
}

/** A retry that its wall clock would not live to see is none. */
export const isTooLate = ({ deadlineAt, spec }: Job, runAt: Time): boolean =>
  deadlineAt !== undefined && runAt >= deadlineAt && bondOf(spec.kind.policy).deadlineFromStart

/** When a softly requested cancel turns hard, while somebody owns the job. */
export const cancelHardensAt = (job: Job): Time | undefined =>
  job.lease !== undefined && job.phase === 'run' && job.cancel !== undefined
    ? job.cancel.requestedAt + job.spec.kind.policy.cancelGraceMs
    : undefined

/**
 * Whether a worker may have the job at this time: it is ready, and none of its own clocks has run out. One whose deadline has
 * passed is the ticker's, which ends it: work that nobody waits for any more is not begun because the ticker was late.
 * Stores compare the same two times.
 */
export const isClaimable = ({ readyAt: ready, nextTickAt: tick }: Job, at: Time): boolean =>
  ready !== undefined && ready <= at && (tick === undefined || tick > at)

/** From when on a worker may claim the job; undefined whenever none may. */
export function readyAt(job: Job): Time | undefined {
  switch (job.state) {
    case 'queued':
    case 'retrying':
      return job.runAt
    case 'stalled':
      return mustNotRunAgain(job) ? undefined : job.updatedAt
    default:
      return undefined
  }
}

export function nextTickAt(job: Job): Time | undefined {
  switch (job.state) {
    case 'pending':
    case 'retrying':
      return deadlineOf(job)
    case 'queued':
      return earliest(deadlineOf(job), job.startBy)
    case 'claimed':
      return earliest(earliest(job.lease.expiresAt, deadlineOf(job)), earliest(job.startBy, cancelHardensAt(job)))
    case 'running':
      return earliest(
        earliest(job.lease.expiresAt, deadlineOf(job)),
        earliest(attemptEndsAt(job), cancelHardensAt(job)),
      )
    case 'waiting':
    case 'parked':
      return earliest(deadlineOf(job), job.wait.timeoutAt)
    case 'stalled':
      return mustNotRunAgain(job) ? job.updatedAt : deadlineOf(job)
    default:
      return undefined
  }
}

/** The same but for the end of the lease, which heartbeats put off: what a store must not forget meanwhile. */
export function tickBesidesLease(job: Job): Time | undefined {
  if (job.lease === undefined) return nextTickAt(job)
  const tick = nextTickAt({ ...job, lease: { ...job.lease, expiresAt: Number.POSITIVE_INFINITY } } as Job)
  return tick === Number.POSITIVE_INFINITY ? undefined : tick
}

/** From when on a job waits for a policy's word; undefined of one that does not. No clock of the job's: time alone decides nothing. */
export function judgeAt(job: Job): Time | undefined {
  const { state, approval, updatedAt } = job
  if (state !== 'pending') return undefined
  // One that waits for an approval is looked at when that is given, or its time is over; or at once, where it is not what was asked about.
  return approval === undefined || !isAsAsked(job) ? updatedAt : (approval.given?.at ?? approval.expiresAt)
}

/** A stalled job that no worker may have as it is is the ticker's: it ends, or goes where its dialect sends it. */
const mustNotRunAgain = (job: Job): boolean =>
  spent(job) ||
  (job.cancel !== undefined && job.phase === 'run') ||
  job.spec.kind.policy.onStall !== 'requeue' ||
  !canTell(job, 'claimed', 'claimed')

const earliest = (a: Time | undefined, b: Time | undefined): Time | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b)

/** Who puts a job off puts off the time by which it must have started. */
export function startByFrom({ startBy, spec }: Job, runAt: Time): Time | undefined {
  const { startWithinMs } = spec.kind.policy
  return startBy === undefined || startWithinMs === undefined ? startBy : Math.max(startBy, runAt + startWithinMs)
}
