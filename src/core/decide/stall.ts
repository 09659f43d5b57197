/** `stall`: `claimed`, `running` → `stalled`, once the lease has expired by the store's clock. */
import { assert } from '../assert.ts'
import { change, type Draft } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'
import { leaseEndsAt } from '../steps.ts'

export function decideStall(d: Draft, job: Job): Ruling {
  assert(job.lease !== undefined, 'the table lets only owned jobs stall')
  const endsAt = leaseEndsAt(job, d.steps)
  if (d.at < endsAt)
    return { code: 'NOT_DUE', message: `The lease of job ${job.id} is live for another ${endsAt - d.at} ms.` }
  change(d, 'stalled', 'stalled', { leaseExpiresAt: job.lease.expiresAt }, { reason: 'lease_expired' })
  return undefined
}
