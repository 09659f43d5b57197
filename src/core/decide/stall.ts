/** `stall`: `claimed`, `running` → `stalled`, once the lease has expired by the store's clock. */
import { assert } from '../assert.ts'
import { change, type Draft } from '../draft.ts'
import type { Job } from '../job.ts'
import type { Ruling } from '../ruling.ts'

export function decideStall(d: Draft, job: Job): Ruling {
  assert(job.lease !== undefined, 'the table lets only owned jobs stall')
  const { expiresAt } = job.lease
  if (d.at < expiresAt)
    return { code: 'NOT_DUE', message: `The lease of job ${job.id} is live for another ${expiresAt - d.at} ms.` }
  change(d, 'stalled', 'stalled', { leaseExpiresAt: expiresAt }, { reason: 'lease_expired' })
  return undefined
}
