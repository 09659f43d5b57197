/** `progress`: where the work stands; counters add up. */
import type { ReportProgress } from '../command.ts'
import { type Draft, observe } from '../draft.ts'
import type { Job } from '../job.ts'
import { SIZES } from '../limits.ts'
import { quota } from '../quota.ts'
import type { Ruling } from '../ruling.ts'

export function decideProgress(d: Draft, job: Job, command: ReportProgress): Ruling {
  const { progress, counters } = command
  const overflow = counterOverflow(job, counters)
  if (overflow !== undefined) return overflow
  const full = quota(job)
  if (full !== undefined) return full
  observe(d, 'progressed', { progress, counters })
  return undefined
}

/** Counters are bounded in number, and each stays one: what has no end could not be kept as JSON. */
export function counterOverflow(job: Job, more: Readonly<Record<string, number>> | undefined): Ruling {
  if (more === undefined) return undefined
  if (new Set([...Object.keys(job.counters), ...Object.keys(more)]).size > SIZES.counters) {
    return { code: 'LIMIT_REACHED', message: `Job ${job.id} would have more than ${SIZES.counters} counters.` }
  }
  const endless = Object.entries(more).find(([name, value]) => !Number.isFinite(countOf(job, name) + value))?.[0]
  if (endless === undefined) return undefined
  return { code: 'LIMIT_REACHED', message: `Counter ${endless} of job ${job.id} would be too large for a number.` }
}

const countOf = ({ counters }: Job, name: string): number =>
  Object.hasOwn(counters, name) ? (counters[name] as number) : 0
