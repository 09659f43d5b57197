/** `claim`: `queued`, `retrying`, `stalled` → `claimed`. One guard, `readyAt`; attempt + 1, a fence and a lease. */
import type { Claim } from '../command.ts'
import { change, type Draft } from '../draft.ts'
import type { Job } from '../job.ts'
import { fenceOf } from '../ownership.ts'
import type { Ruling } from '../ruling.ts'
import { leaseWindowMs } from '../timers.ts'

export function decideClaim(d: Draft, job: Job, command: Claim): Ruling {
  if (job.readyAt === undefined || job.readyAt > d.at) {
    const when = job.readyAt === undefined ? 'not claimable at all' : `claimable in ${job.readyAt - d.at} ms`
    return { code: 'NOT_READY', message: `Job ${job.id} is ${job.state} and ${when}.` }
  }
  const attempt = job.attempt + 1
  const payload = {
    owner: { workerId: command.workerId },
    fence: fenceOf(job.generation, attempt, command.nonce),
    leaseExpiresAt: d.at + leaseWindowMs(job.spec.kind.policy),
  }
  change(d, 'claimed', 'claimed', payload, { attempt })
  return undefined
}
