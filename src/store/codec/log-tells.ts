/**
 * Whether the log of an ended job tells its record, which then need not be kept: the job's own row is its first event, the
 * row of its end has all the others. So it is where nothing lies in between but a claim of the store's own, which an adapter
 * writes down with the end.
 */
import type { Job } from '../../core/job.ts'

export const ENQUEUED_REV = 1
/** The revision of a job to which nothing has happened but its first claim. */
export const CLAIMED_REV = 2

export const logTells = ({ rev, state }: Job, after: Job): boolean =>
  after.endedAt !== undefined && (rev === ENQUEUED_REV || (rev === CLAIMED_REV && state === 'claimed'))
