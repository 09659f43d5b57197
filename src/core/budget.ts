/** How often a job may go wrong. Handler errors and lost leases are counted apart unless the policy shares them. */
import { maxAttemptsOf } from './admission.ts'
import { DIALECTS } from './dialects/registry.ts'
import { tellsFrom } from './dialects/telling.ts'
import type { Job } from './job.ts'

/** True once no further attempt is allowed, given what has been counted so far. */
export function spent(job: Counted): boolean {
  const policy = job.spec.kind.policy
  const maxAttempts = maxAttemptsOf(job)
  return policy.budget === 'shared'
    ? job.failures + job.stalls >= maxAttempts
    : job.failures >= maxAttempts || job.stalls > policy.maxStalls
}

/** Would one more handler error be the last? */
export const spentByFailure = (job: Job): boolean => spent({ ...pick(job), failures: job.failures + 1 })

/**
 * Whether losing this lease uses up budget. Not where the job's document has no move by which an orphan of its kind ends: a
 * budget that must not be spent is none, and such a job is claimed again as often as it takes.
 */
export function countsStall({ state, phase, spec }: Job): boolean {
  const { dialect, onExhausted } = spec.kind.policy
  if (dialect === undefined) return true
  const ending = phase === 'compensate' ? 'dead_lettered' : onExhausted
  return tellsFrom(DIALECTS[dialect], ending, 'stalled', ending, state === 'running' ? 'ran' : 'first')
}

type Counted = Pick<Job, 'failures' | 'stalls' | 'spec' | 'terms'>

const pick = (job: Job): Counted => ({
  failures: job.failures,
  stalls: job.stalls,
  spec: job.spec,
  terms: job.terms,
})
