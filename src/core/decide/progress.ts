/** `progress`: where the work stands; counters add up. */
import type { ReportProgress } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import { SIZES } from '../limits.ts'
import type { Ruling } from '../ruling.ts'

export function decideProgress(d: Draft, job: Job, command: ReportProgress): Ruling {
  const { progress, counters } = command
  if (tooManyCounters(job, counters))
    return { code: 'LIMIT_REACHED', message: `Job ${job.id} would have more than ${SIZES.counters} counters.` }
  observe(d, 'progressed', { progress, counters })
  return undefined
}

export const tooManyCounters = (job: Job, more: Readonly<Record<string, number>> | undefined): boolean =>
  more !== undefined && new Set([...Object.keys(job.counters), ...Object.keys(more)]).size > SIZES.counters
