/**
 * `cancel`. Soft: a flag for the owner, who is told with its next heartbeat; where nobody owns the job it ends at
 * once. Hard, or by the owner itself: it ends now, and every fence is dead.
 */
import type { Cancel } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import { cancelled, conclude, finish } from '../ending.ts'
import { type CancelRequest, isOwned, type Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideCancel(d: Draft, job: Job, command: Cancel): Ruling {
  const { mode, reason, actor } = command
  const asked: CancelRequest = job.cancel ?? {
    mode,
    reason,
    by: actor,
    requestedAt: d.at,
    deliveredAt: undefined,
    acknowledgedAt: undefined,
  }
  const cancel: CancelRequest = command.next === 'drop' ? { ...asked, dropsNext: true } : asked
  if (mode === 'hard') {
    finish(d, cancelled(cancel, reason))
    return undefined
  }
  if (job.phase === 'compensate') {
    return {
      code: 'WRONG_PHASE',
      message: `Job ${job.id} is already undoing its steps; only a hard cancel interrupts that.`,
    }
  }
  if (!isOwned(job) || command.fence !== undefined) conclude(d, cancelled(cancel, reason))
  else observe(d, 'cancel_requested', { cancel })
  return undefined
}
