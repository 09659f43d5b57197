/** How often a job may go wrong. Handler errors and lost leases are counted apart unless the policy shares them. */
import type { Job } from './job.ts'

/** True once no further attempt is allowed, given what has been counted so far. */
export function spent(job: Pick<Job, 'failures' | 'stalls' | 'spec'>): boolean {
  const policy = job.spec.kind.policy
  return policy.budget === 'shared'
    ? job.failures + job.stalls >= policy.maxAttempts
    : job.failures >= policy.maxAttempts || job.stalls > policy.maxStalls
}

/** Would one more handler error be the last? */
export const spentByFailure = (job: Job): boolean => spent({ ...pick(job), failures: job.failures + 1 })

const pick = (job: Job): Pick<Job, 'failures' | 'stalls' | 'spec'> => ({
  failures: job.failures,
  stalls: job.stalls,
  spec: job.spec,
})
