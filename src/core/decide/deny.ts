/**
 * `deny`: `pending` → `denied`; also from `queued` as long as nobody has ever claimed the job. A document that refuses only
 * what was scheduled has both told of, in one commit (002: SCHEDULED → DENIED).
 */
import type { Deny } from '../command.ts'
import { bondOf } from '../dialects/bond.ts'
import { change, type Draft } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { admission } from './admit.ts'

export function decideDeny(d: Draft, job: Job, command: Deny): Ruling {
  if (job.attempt > 0 && job.state === 'queued') {
    return {
      code: 'ILLEGAL_TRANSITION',
      message: `Job ${job.id} has been claimed ${job.attempt} times; it is too late to deny it.`,
    }
  }
  const { rule, policyHash, reason } = command
  if (job.state === 'pending' && bondOf(job.spec.kind.policy).deniesScheduledOnly) admission(d, job, command)
  change(d, 'denied', 'denied', { verdict: { rule, policyHash, reason } }, { reason: rule })
  return undefined
}
