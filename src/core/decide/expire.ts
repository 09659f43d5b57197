/** `expire`: a time limit has passed: the job's deadline, its start, its attempt, or its wait. */
import { attemptMsOf } from '../admission.ts'
import { change, type Draft } from '../draft.ts'
import { compensationFailed, conclude, failureOf, timedOut } from '../ending.ts'
import { TIMEOUT_CODE } from '../errors.ts'
import { isOwned, type Job, type Time, type Wait } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { livedUntil } from '../steps.ts'
import { attemptEndsAt, deadlineOf } from '../timers.ts'
import { failAttempt } from './fail.ts'
import { orphan } from './stall.ts'

export function decideExpire(d: Draft, job: Job): Ruling {
  const until = livedUntil(job, d.at, d.steps)
  if (passed(deadlineOf(job), until)) return deadline(d, job)
  if (passed(job.startBy, until) && (job.state === 'queued' || job.state === 'claimed')) return notStarted(d, job)
  if (passed(attemptEndsAt(job), until)) return attemptTimedOut(d, job)
  if (job.wait !== undefined && passed(job.wait.timeoutAt, until)) return waitTimedOut(d, job.wait)
  return { code: 'NOT_DUE', message: `No time limit of job ${job.id} has passed.` }
}

const passed = (time: Time | undefined, until: Time): boolean => time !== undefined && time <= until

function deadline(d: Draft, job: Job): Ruling {
  if (job.phase === 'compensate') {
    conclude(
      d,
      compensationFailed(failureOf(d, TIMEOUT_CODE, 'The compensation did not finish before its deadline.', 'exec')),
    )
  } else {
    conclude(d, timedOut(d, 'deadline', `The job did not end within ${job.spec.kind.policy.deadlineMs} ms.`))
  }
  return undefined
}

function notStarted(d: Draft, job: Job): Ruling {
  const { policy } = job.spec.kind
  if (isOwned(job) && policy.onNotStarted === 'stalled') {
    orphan(d, job, 'not_started')
  } else {
    conclude(d, timedOut(d, 'not_started', `The job was not started within ${policy.startWithinMs} ms.`))
  }
  return undefined
}

function attemptTimedOut(d: Draft, job: Job): Ruling {
  const attemptMs = attemptMsOf(job)
  const message = `The attempt ran longer than ${attemptMs} ms.`
  return failAttempt(d, job, { code: TIMEOUT_CODE, message, stage: 'exec' }, attemptMs)
}

function waitTimedOut(d: Draft, wait: Wait): Ruling {
  // A compensation ends where it was going: a strict wait inside it is told to its handler instead.
  if (wait.onTimeout === 'timed_out' && d.job.phase === 'run') {
    conclude(d, timedOut(d, 'wait_timeout', `No signal ${wait.name} came in time.`))
    return undefined
  }
  d.bodies = [...d.bodies, { name: `step/${wait.memo}`, text: JSON.stringify({ timedOut: true }) }]
  change(d, 'wait_timed_out', 'queued', { memo: wait.memo })
  return undefined
}
