import type { Event } from '../event.ts'
import type { Job, Receipt } from '../job.ts'
import { SIZES } from '../limits.ts'

/** The last eight answers under this lease. Of a word with several events the last one tells where it led. */
export const remember = ({ recent }: Job, event: Event): readonly Receipt[] => {
  const { requestId, command, digest, rev, state, at } = event
  const receipt = { requestId, command, digest, rev, state, at }
  if (recent.length === 0) return [receipt]
  const others = recent.at(-1)?.requestId === requestId ? recent.slice(0, -1) : recent
  return [...others, receipt].slice(-SIZES.recent)
}
