/**
 * How a job ends unhappily. One place decides between ending now and undoing its steps first, so that no way out
 * forgets the compensations.
 */
import { assert, unreachable } from './assert.ts'
import { bondOf } from './dialects/bond.ts'
import { change, type Draft, observe } from './draft.ts'
import { classify, TIMEOUT_CODE } from './errors.ts'
import {
  type CancelRequest,
  DEAD_LETTER_REASONS,
  type DeadLetter,
  type DeadLetterReason,
  type Ending,
  type Failure,
  type Job,
  type Stage,
} from './job.ts'

/** Ends the job, or sends it to undo its steps on the way there. */
export function conclude(d: Draft, ending: Ending, executionMs = 0): void {
  if (d.job.phase === 'run' && d.job.compensations.length > 0) return compensateFirst(d, ending, executionMs)
  finish(d, ending, executionMs)
}

/** Ends the job as intended, whatever there is to undo. */
export function finish(d: Draft, intended: Ending, executionMs = 0): void {
  const { state, reason, error, deadLetter, cancel } = forwarded(d.job, intended)
  switch (state) {
    case 'failed':
    case 'timed_out':
      assert(error !== undefined, `${state} has an error`)
      return change(d, state, state, { failure: error, executionMs }, { reason })
    case 'dead_lettered':
      assert(error !== undefined && deadLetter !== undefined, 'a dead letter has a reason and an error')
      return change(
        d,
        state,
        state,
        { failure: error, deadLetter: letter(d.job, deadLetter, error), executionMs },
        { reason },
      )
    case 'cancelled':
      assert(cancel !== undefined, 'a cancelled job was cancelled by somebody')
      return change(d, state, state, { cancel: stopped(d, cancel), executionMs, failure: error }, { reason })
    default:
      return unreachable(state)
  }
}

/**
 * Where a document forwards what has failed (000B), that is a dead letter, in the one list of them that everybody reads: with
 * the reason it has, or, of an error that is not tried again, that no try is left.
 */
function forwarded({ spec }: Job, ending: Ending): Ending {
  if (ending.state !== 'failed' || !bondOf(spec.kind.policy).forwardsFailed) return ending
  const deadLetter = DEAD_LETTER_REASONS.find((reason) => reason === ending.reason) ?? 'exhausted_retries'
  return { ...ending, state: 'dead_lettered', deadLetter }
}

function compensateFirst(d: Draft, ending: Ending, executionMs: number): void {
  const deadlineAt = d.at + d.job.spec.kind.policy.compensateWithinMs
  const payload = { intended: ending, deadlineAt, runAt: d.at, executionMs }
  if (d.job.state === 'queued') observe(d, 'compensating', payload, { reason: ending.reason })
  else change(d, 'compensating', 'queued', payload, { reason: ending.reason })
}

/** The ending of a compensation that did not work out. */
export const compensationFailed = (error: Failure): Ending => deadLettered('compensation_failed', error)

export const timedOut = (d: Draft, reason: string, message: string): Ending & { readonly error: Failure } => {
  const error = failureOf(d, TIMEOUT_CODE, message, 'exec')
  return { ...ending('timed_out', reason, error), error }
}

export const cancelled = (cancel: CancelRequest, reason = 'cancel_requested'): Ending => ({
  ...ending('cancelled', reason, undefined),
  cancel,
})

export const failed = (reason: string, error: Failure): Ending => ending('failed', reason, error)

export const deadLettered = (reason: DeadLetterReason, error: Failure): Ending => ({
  ...ending('dead_lettered', reason, error),
  deadLetter: reason,
})

const ending = (state: Ending['state'], reason: string, error: Failure | undefined): Ending => ({
  state,
  reason,
  error,
  deadLetter: undefined,
  cancel: undefined,
})

/** An error that no handler threw: time limits, lost leases, an operator's word. */
export const failureOf = (d: Draft, code: string, message: string, stage: Stage): Failure => ({
  code,
  class: classify(d.job.spec.kind.policy, { code, class: undefined }),
  message,
  stage,
  context: undefined,
  at: d.at,
  attempt: d.job.attempt,
  worker: workerOf(d.job),
  body: undefined,
})

/** Whose attempt goes wrong: the owner, or who has just lost it. Nobody, where no attempt was under way. */
export const workerOf = ({ state, owner, lastClaim }: Job): string | undefined =>
  owner?.workerId ?? (state === 'stalled' ? lastClaim?.owner.workerId : undefined)

function letter(job: Job, reason: DeadLetterReason, lastError: Failure): DeadLetter {
  const last = job.lease === undefined ? job.lastClaim : { owner: job.owner, leaseExpiresAt: job.lease.expiresAt }
  return {
    reason,
    stage: lastError.stage,
    lastError,
    attempts: job.attempt,
    lastOwner: last?.owner.workerId ?? null,
    lastLeaseExpiresAt: last?.leaseExpiresAt ?? null,
    correlationId: job.spec.correlationId,
  }
}

/** Hard: nobody was asked. Soft: an owner that lets go has acknowledged it. */
function stopped(d: Draft, cancel: CancelRequest): CancelRequest {
  if (d.command.type === 'cancel' && d.command.mode === 'hard') return { ...cancel, mode: 'hard' }
  return d.job.lease === undefined ? cancel : { ...cancel, acknowledgedAt: d.at }
}
