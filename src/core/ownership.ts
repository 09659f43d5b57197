/** Ownership is the fence, never the worker's name; and it ends with the lease, whoever has noticed. */
import type { Command } from './command.ts'
import { parseFence } from './fence.ts'
import { isOwned, type Job, type Time } from './job.ts'
import { leaseEndsAt, NO_STEPS, type Step } from './steps.ts'

export interface Trespass {
  readonly code: 'STALE_FENCE' | 'LEASE_EXPIRED'
  readonly message: string
  /** Which attempt spoke, where the fence is one that may have existed. */
  readonly claim: { readonly generation: number; readonly attempt: number } | undefined
}

/** Why this command may not speak for the job; undefined where it may, or does not claim to. */
export function ownership(
  job: Job,
  command: Command,
  clock: Time,
  steps: readonly Step[] = NO_STEPS,
): Trespass | undefined {
  // A clock that is set back gives nobody a lease again that the job's own log has outlived.
  const now = Math.max(clock, job.updatedAt)
  // A reaper names the fence it judged; an owner names its own. Only `stall` is about somebody else's.
  if (!('fence' in command) || command.fence === undefined) return undefined
  if (!isOwned(job) || job.lease.fence !== command.fence) {
    const now_ = isOwned(job)
      ? `${job.owner.workerId} owns it at attempt ${job.attempt}`
      : `nobody owns it, it is ${job.state}`
    return {
      code: 'STALE_FENCE',
      message: `Job ${job.id}: the fence is not the current one; ${now_}.`,
      claim: attemptOf(command.fence, job),
    }
  }
  if (command.type !== 'stall' && now >= job.lease.expiresAt && now >= leaseEndsAt(job, steps)) {
    const overMs = now - leaseEndsAt(job, steps)
    return {
      code: 'LEASE_EXPIRED',
      message: `Job ${job.id}: the lease ended ${overMs} ms ago.`,
      claim: attemptOf(command.fence, job),
    }
  }
  return undefined
}

/** Under a fence of its own: a reaper's `stall` names somebody else's. */
export const speaksAsOwner = (command: Command): boolean =>
  'fence' in command && command.fence !== undefined && command.type !== 'stall'

/** Only attempts that the job has really had are worth a note. */
function attemptOf(fence: string, job: Job): Trespass['claim'] {
  const spoken = parseFence(fence)
  if (spoken === undefined) return undefined
  const { generation, attempt } = spoken
  return generation <= job.generation && attempt <= job.attempt && attempt > 0 ? { generation, attempt } : undefined
}
