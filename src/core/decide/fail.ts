/** `fail`: → `retrying`, or one of the endings, by error class, budget and policy. */
import { spentByFailure } from '../budget.ts'
import type { DeadLetterNow, Fail, Fault, Unstamped } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import { cancelled, compensationFailed, conclude, deadLettered, failed, finish, timedOut, workerOf } from '../ending.ts'
import { classify, DEPENDENCY_CODES, TIMEOUT_CODE } from '../errors.ts'
import type { DeadLetterReason, Ending, Failure, Job } from '../job.ts'
import type { Policy } from '../policy.ts'
import { retryAt } from '../retry.ts'
import type { Ruling } from '../ruling.ts'
import { concludeTimedOut, maySucceedItself, successorOf } from '../successor.ts'
import { isTooLate } from '../timers.ts'
import { startImplicitly } from './start.ts'

export function decideFail(d: Draft, job: Job, command: Fail): Ruling {
  startImplicitly(d, command.startedAt)
  return failAttempt(d, job, command.fault, command.executionMs ?? 0, command.level)
}

/** Also what an attempt's time limit comes to. */
export function failAttempt(d: Draft, job: Job, fault: Fault, executionMs: number, level = 0): Ruling {
  const failure = failureFrom(d, fault)
  if (job.cancel !== undefined && job.phase === 'run') {
    conclude(d, { ...cancelled(job.cancel), error: failure }, executionMs)
    return undefined
  }
  const retryable = isRetryable(d.job, failure)
  if (endsByTimeLimit(d.job, failure)) {
    const ending = { ...timedOut(d, 'timeout', failure.message), error: failure }
    return concludeTimedOut(d, job, ending, retryable, executionMs)
  }
  if (!retryable) {
    conclude(d, endingOf(d, failure), executionMs)
    return undefined
  }
  if (maySucceedItself(d.job) && !d.job.spec.kind.policy.idempotent) {
    finish(d, failed('retried_as_new_job', failure), executionMs)
    return { successor: successorOf(d, job, failure, fault.retryAfterMs, level) }
  }
  const runAt = retryAt(d.job, failure, d.at, fault.retryAfterMs, level)
  if (isTooLate(d.job, runAt)) {
    conclude(d, failed('wall_clock', failure), executionMs)
    return undefined
  }
  change(d, 'retry_scheduled', 'retrying', { failure, runAt, executionMs }, { reason: failure.code })
  return undefined
}

function failureFrom(d: Draft, fault: Fault): Failure {
  return {
    code: fault.code,
    class: classify(d.job.spec.kind.policy, fault),
    message: fault.message,
    stage: fault.stage ?? 'exec',
    context: fault.context,
    at: d.at,
    attempt: d.job.attempt,
    worker: workerOf(d.job),
    body: fault.body,
  }
}

/** Worker and ticker watch the same limit: what becomes of the job must not depend on who is faster. */
const endsByTimeLimit = (job: Job, failure: Failure): boolean =>
  failure.code === TIMEOUT_CODE && job.spec.kind.policy.onAttemptTimeout === 'timed_out' && job.phase === 'run'

const isRetryable = (job: Job, failure: Failure): boolean =>
  job.spec.kind.policy.retryFailures &&
  failure.class !== 'permanent' &&
  failure.class !== 'validation' &&
  !spentByFailure(job)

function endingOf(d: Draft, failure: Failure): Ending {
  const { phase, spec } = d.job
  const { policy } = spec.kind
  if (phase === 'compensate') return compensationFailed(failure)
  if (failure.class === 'validation') return byPolicy(policy.onInvalid, 'validation_failed', failure)
  if (failure.class === 'permanent' || !policy.retryFailures) return failed(failure.code, failure)
  return byPolicy(policy.onExhausted, exhaustedReason(failure), failure)
}

/** What can be wrong with an input: it cannot be read, or is not what its type wants. */
export type InvalidInput = Extract<DeadLetterReason, 'parse_error' | 'validation_failed'>

/**
 * What an owner says of an invalid input, before it has started anything: `deadLetter`, which fakes no start, unless the policy
 * wants such jobs to fail; the documents that know no dead letters know no other way for a job to end.
 */
export const wordForInvalidInput = (
  { onInvalid }: Policy,
  reason: InvalidInput,
  fault: Fault,
  timing: Pick<Fail, 'startedAt' | 'executionMs'>,
): Omit<Unstamped<Fail>, 'fence'> | Omit<Unstamped<DeadLetterNow>, 'fence'> =>
  onInvalid === 'failed'
    ? { type: 'fail', fault, ...timing }
    : { type: 'deadLetter', reason, stage: 'input', message: fault.message }

const byPolicy = (state: 'failed' | 'dead_lettered', reason: DeadLetterReason, error: Failure): Ending =>
  state === 'failed' ? failed(reason, error) : deadLettered(reason, error)

function exhaustedReason(failure: Failure): DeadLetterReason {
  if (failure.code === TIMEOUT_CODE) return 'timeout'
  return DEPENDENCY_CODES.has(failure.code) ? 'dependency_unavailable' : 'exhausted_retries'
}
