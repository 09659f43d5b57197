/**
 * `approve`: a person's word that the job may be let in, which the policy then does if it still says so. It is for the very job and
 * the very policy that were asked about: whoever approves names both.
 */
import { approvalAmiss } from '../admission.ts'
import type { Approve } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import { isAsAsked } from '../job-hash.ts'
import type { Ruling } from '../ruling.ts'

export function decideApprove(d: Draft, job: Job, command: Approve): Ruling {
  const message = approvalAmiss(job, command, d.at)
  if (message !== undefined) return { code: 'NOT_APPROVABLE', message }
  if (!isAsAsked(job)) return { code: 'NOT_APPROVABLE', message: changed(job) }
  observe(d, 'approved', { reason: command.reason })
  return undefined
}

const changed = ({ id }: Job): string =>
  `Job ${id} has another input than was asked about. It is judged, and asked about, anew: look at that, and name its hashes.`
