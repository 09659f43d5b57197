/** Ownership is the fence, never the worker's name; and it ends with the lease, whoever has noticed. */
import type { Command } from './command.ts'
import { isOwned, type Job, type Time } from './job.ts'

export interface Trespass {
  readonly code: 'STALE_FENCE' | 'LEASE_EXPIRED'
  readonly message: string
  /** Which attempt spoke, where the fence is one that may have existed. */
  readonly claim: { readonly generation: number; readonly attempt: number } | undefined
}

/** Why this command may not speak for the job; undefined where it may, or does not claim to. */
export function ownership(job: Job, command: Command, clock: Time): Trespass | undefined {
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
  if (command.type !== 'stall' && now >= job.lease.expiresAt) {
    const overMs = now - job.lease.expiresAt
    return {
      code: 'LEASE_EXPIRED',
      message: `Job ${job.id}: the lease ended ${overMs} ms ago.`,
      claim: attemptOf(command.fence, job),
    }
  }
  return undefined
}

const FENCE = /^(\d{1,9})\.(\d{1,9})\.[0-9a-f]{16}$/

/** Which attempt a fence was given to; undefined where it is none of ours. */
export function attemptIn(fence: string): { readonly generation: number; readonly attempt: number } | undefined {
  const match = FENCE.exec(fence)
  return match === null ? undefined : { generation: Number(match[1]), attempt: Number(match[2]) }
}

/** Only attempts that the job has really had are worth a note. */
function attemptOf(fence: string, job: Job): Trespass['claim'] {
  const claim = attemptIn(fence)
  if (claim === undefined) return undefined
  const { generation, attempt } = claim
  return generation <= job.generation && attempt <= job.attempt && attempt > 0 ? claim : undefined
}

/** The last one is remembered: one nonce serves a whole claim, and nearly all jobs of it are at the same attempt. */
export function fenceOf(generation: number, attempt: number, nonce: string): string {
  if (last.nonce !== nonce || last.attempt !== attempt || last.generation !== generation) {
    last = { generation, attempt, nonce, fence: `${generation}.${attempt}.${nonce}` }
  }
  return last.fence
}

let last = { generation: 0, attempt: 0, nonce: '', fence: '0.0.' }

/** Requests that a worker names after its fence keep what is not secret of it: which attempt, which word. */
export const withoutNonce = (requestId: string): string => requestId.replaceAll(/(\d+\.\d+)\.[0-9a-f]{16}/g, '$1.…')
