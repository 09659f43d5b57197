/** `askApproval`: a policy lets the job in once somebody has approved it. What was asked for before is void. */

import type { AskApproval } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import { jobHashOf } from '../job-hash.ts'
import type { Ruling } from '../ruling.ts'

export function decideAskApproval(d: Draft, job: Job, command: AskApproval): Ruling {
  const { rule, policyHash, expiresMs, notBy, reason } = command
  const approval = { rule, policyHash, jobHash: jobHashOf(job), expiresAt: d.at + expiresMs, notBy, reason }
  observe(d, 'approval_asked', { approval }, { reason: rule })
  return undefined
}
