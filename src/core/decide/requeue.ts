/** `requeue`: what becomes of an orphan: `queued` or `retrying` while the budget lasts, else an ending. */
import { spent } from '../budget.ts'
import { change, type Draft } from '../draft.ts'
import { cancelled, compensationFailed, conclude, deadLettered, failed, failureOf, timedOut } from '../ending.ts'
import { TIMEOUT_CODE } from '../errors.ts'
import type { Job } from '../job.ts'
import { retryAt } from '../retry.ts'
import type { Ruling } from '../ruling.ts'

const LOST = 'The worker lost its lease: it died, was cut off, or blocked its event loop for too long.'

export function decideRequeue(d: Draft, job: Job): Ruling {
  const { policy } = job.spec.kind
  if (job.cancel !== undefined && job.phase === 'run') {
    conclude(d, cancelled(job.cancel))
  } else if (policy.onStall === 'timed_out' && job.phase === 'run') {
    conclude(d, timedOut(d, 'lease_expired', LOST))
  } else if (spent(job)) {
    const error = failureOf(d, policy.onStall === 'retry' ? TIMEOUT_CODE : 'lease_expired', LOST, 'exec')
    if (job.phase === 'compensate') conclude(d, compensationFailed(error))
    else if (policy.onExhausted === 'failed') conclude(d, failed('infrastructure_failure', error))
    else conclude(d, deadLettered('infrastructure_failure', error))
  } else if (policy.onStall === 'retry') {
    const failure = failureOf(d, TIMEOUT_CODE, LOST, 'exec')
    change(
      d,
      'retry_scheduled',
      'retrying',
      { failure, runAt: retryAt(job, failure, d.at, undefined), executionMs: 0 },
      { reason: TIMEOUT_CODE },
    )
  } else {
    change(d, 'requeued', 'queued', { runAt: d.at }, { reason: 'lease_expired' })
  }
  return undefined
}
