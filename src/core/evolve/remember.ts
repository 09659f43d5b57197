import type { Event } from '../event.ts'
import type { Job, Receipt } from '../job.ts'
import { SIZES } from '../limits.ts'

/** The last eight answers under this lease. */
export const remember = (job: Job, event: Event): readonly Receipt[] => {
  const { requestId, command, digest, rev, state, at } = event
  const receipt = { requestId, command, digest, rev, state, at }
  return job.recent.length === 0 ? [receipt] : [...job.recent, receipt].slice(-SIZES.recent)
}
