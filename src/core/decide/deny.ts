/** `deny`: `pending` → `denied`; also from `queued` as long as nobody has ever claimed the job. */
import type { Deny } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideDeny(d: Draft, job: Job, command: Deny): Ruling {
  if (job.attempt > 0 && job.state === 'queued') {
    return {
      code: 'ILLEGAL_TRANSITION',
      message: `Job ${job.id} has been claimed ${job.attempt} times; it is too late to deny it.`,
    }
  }
  const { rule, policyHash, reason } = command
  change(d, 'denied', 'denied', { verdict: { rule, policyHash, reason } }, { reason: rule })
  return undefined
}
