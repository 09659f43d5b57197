/**
 * `requeue`: what becomes of an orphan: `queued` or `retrying` while the budget lasts, else an ending. One that was lost
 * while it ran apart has itself to blame: that is told as a failure of its own, and tried again as slowly as any.
 */
import { spent } from '../budget.ts'
import { canTell } from '../dialects/telling.ts'
import { change, type Draft } from '../draft.ts'
import { cancelled, compensationFailed, conclude, deadLettered, failed, failureOf, timedOut } from '../ending.ts'
import { CRASH_CODE, LEASE_CODE, SOFT_TIMEOUT_CODE, TIMEOUT_CODE } from '../errors.ts'
import type { Failure, Job } from '../job.ts'
import { retryAt } from '../retry.ts'
import type { Ruling } from '../ruling.ts'
import { concludeTimedOut } from '../successor.ts'
import { crashedApart } from '../suspicion.ts'
import { isTooLate } from '../timers.ts'

const LOST = 'The worker lost its lease: it died, was cut off, or blocked its event loop for too long.'
const LOST_APART =
  'The lease was lost again, where nothing but this job was to run: it is taken for a crash of its own.'

export function decideRequeue(d: Draft, job: Job): Ruling {
  const { policy } = job.spec.kind
  if (job.cancel !== undefined && job.phase === 'run') {
    conclude(d, cancelled(job.cancel))
  } else if (policy.onStall === 'timed_out' && job.phase === 'run' && canTell(job, 'timed_out', 'timed_out')) {
    const reason = job.startedAt === undefined ? 'not_started' : 'lease_expired'
    return concludeTimedOut(d, job, timedOut(d, reason, LOST), !spent(job))
  } else if (spent(job) && canTell(job, exhausted(job), exhausted(job))) {
    const error = lostForGood(d, job)
    if (job.phase === 'compensate') conclude(d, compensationFailed(error))
    else if (policy.onExhausted === 'failed') conclude(d, failed('infrastructure_failure', error))
    else conclude(d, deadLettered('infrastructure_failure', error))
  } else if (policy.onStall === 'retry' || crashedApart(job)) {
    const failure = lost(d, job)
    if (crashedApart(job) && failure.class === 'permanent') conclude(d, failed(failure.code, failure))
    else {
      const runAt = retryAt(job, failure, d.at, undefined)
      if (isTooLate(job, runAt) && canTell(job, 'failed', 'failed'))
        conclude(d, failed('wall_clock', lostForGood(d, job)))
      else change(d, 'retry_scheduled', 'retrying', { failure, runAt, executionMs: 0 }, { reason: failure.code })
    }
  } else {
    change(d, 'requeued', 'queued', { runAt: d.at }, { reason: 'lease_expired' })
  }
  return undefined
}

/** How a job ends whose budget is spent. A document that has no such move has it tried again: `countsStall`. */
const exhausted = ({ phase, spec }: Job): 'failed' | 'dead_lettered' =>
  phase === 'compensate' ? 'dead_lettered' : spec.kind.policy.onExhausted

/** While there is a next attempt: with the budget spent nothing soft is left about it. */
const lost = (d: Draft, job: Job): Failure => lostAs(d, job, SOFT_TIMEOUT_CODE)

const lostForGood = (d: Draft, job: Job): Failure =>
  lostAs(d, job, job.spec.kind.policy.onStall === 'retry' ? TIMEOUT_CODE : LEASE_CODE)

const lostAs = (d: Draft, job: Job, code: string): Failure =>
  crashedApart(job) ? failureOf(d, CRASH_CODE, LOST_APART, 'exec') : failureOf(d, code, LOST, 'exec')
