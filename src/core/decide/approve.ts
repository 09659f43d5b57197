/**
 * `approve`: a person's word that the job may be let in, which the policy then does if it still says so. It is for the very job and
 * the very policy that were asked about: whoever approves names both.
 */
import { eyesAmiss } from '../admission.ts'
import type { Approve } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideApprove(d: Draft, job: Job, command: Approve): Ruling {
  const message = whyNot(d, job, command)
  if (message !== undefined) return { code: 'NOT_APPROVABLE', message }
  observe(d, 'approved', { reason: command.reason })
  return undefined
}

function whyNot({ at }: Draft, { id, approval }: Job, { actor, policyHash, jobHash }: Approve): string | undefined {
  if (approval === undefined) return `Nobody has asked for an approval of job ${id}.`
  if (approval.given !== undefined) return `Job ${id} was approved by ${approval.given.by}.`
  if (approval.expiresAt <= at) return `The time to approve job ${id} is over.`
  if (approval.policyHash !== policyHash)
    return `What is asked for now is by policy ${approval.policyHash}, not ${policyHash}.`
  if (approval.jobHash !== jobHash) return `What is asked for now is about ${approval.jobHash}, not ${jobHash}.`
  return eyesAmiss(approval, actor)
}
