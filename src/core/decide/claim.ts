/** `claim`: `queued`, `retrying`, `stalled` → `claimed`. One guard, `isClaimable`; attempt + 1, a fence and a lease. */
import type { Claim } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import { fenceOf } from '../fence.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { isClaimable, leaseEnd, leaseWindowMs } from '../timers.ts'

export function decideClaim(d: Draft, job: Job, command: Claim): Ruling {
  if (!isClaimable(job, d.at)) return notReady(d, job)
  const attempt = job.attempt + 1
  const payload = {
    owner: { workerId: command.workerId },
    fence: fenceOf(job.generation, attempt, command.nonce),
    leaseExpiresAt: leaseEnd(d.at, leaseWindowMs(job.spec.kind.policy)),
  }
  change(d, 'claimed', 'claimed', payload, { attempt })
  return undefined
}

function notReady({ at }: Draft, { id, state, readyAt }: Job): Ruling {
  if (readyAt === undefined) return { code: 'NOT_READY', message: `Job ${id} is ${state}, and no worker may have it.` }
  if (readyAt <= at) return { code: 'NOT_READY', message: `Job ${id} is ${state}, and its time is over.` }
  const retryAfterMs = readyAt - at
  return { code: 'NOT_READY', message: `Job ${id} is ${state}, and claimable in ${retryAfterMs} ms.`, retryAfterMs }
}
