/** What an approval names: the policy and the job as the caller looked at them, or, of what was not named, as they are now: nobody need have looked at that. */
import type { Job } from '../core/job.ts'
import type { ApproveOptions } from './asked.ts'

interface Named {
  readonly policyHash: string
  readonly jobHash: string
}

export async function approving(
  { policyHash, jobHash }: Pick<ApproveOptions, 'policyHash' | 'jobHash'>,
  load: () => Promise<Job | undefined>,
): Promise<Named> {
  if (policyHash !== undefined && jobHash !== undefined) return { policyHash, jobHash }
  const approval = (await load())?.approval
  return {
    policyHash: policyHash ?? approval?.policyHash ?? NOT_ASKED,
    jobHash: jobHash ?? approval?.jobHash ?? NOT_ASKED,
  }
}

/** Of a job that nobody asks about: the refusal says so. */
const NOT_ASKED = 'none'
