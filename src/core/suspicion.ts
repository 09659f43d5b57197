/**
 * Suspicion. An attempt that ends without a word from its handler (its lease was lost, or its process died) may have
 * taken its worker with it, and whatever else ran there. Nobody can tell from outside which of them it was. So each of
 * them runs apart the next time: where a crash harms nobody else, and is that job's own failure. A job that has shown
 * itself, by an attempt that its handler ended in whatever way, is under suspicion no more; one that was only handed back
 * has shown nothing.
 */
import { CRASH_CODE } from './errors.ts'
import type { Event } from './event.ts'
import type { Job, LastClaim } from './job.ts'

/** Whether its next, or current, attempt must run apart. */
export const runsApart = ({ lastClaim }: Pick<Job, 'lastClaim'>): boolean => (lastClaim?.silences ?? 0) > 0

/** Silent although it ran apart: there was nobody else to blame. The five documents have no words for that. */
export const crashedApart = ({ lastClaim, spec }: Job): boolean =>
  spec.kind.policy.dialect === undefined && (lastClaim?.silences ?? 0) > 1

/** How many claims in a row have ended in silence once this event has ended the current one. More than two are two. */
export function silencesAfter({ lastClaim }: Job, event: Event): LastClaim['silences'] {
  const before = lastClaim?.silences ?? 0
  if (event.type === 'released' && event.reason !== 'snoozed') return before
  if (event.type !== 'stalled' && !isCrash(event)) return 0
  return before === 0 ? 1 : 2
}

/** Of this very attempt: a job that has undone its steps ends by what went wrong before. */
function isCrash(event: Event): boolean {
  switch (event.type) {
    case 'retry_scheduled':
    case 'failed':
    case 'dead_lettered':
      return event.payload.failure.code === CRASH_CODE && event.payload.failure.attempt === event.attempt
    default:
      return false
  }
}
