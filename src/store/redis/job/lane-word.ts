import type { Job } from '../../../core/job.ts'

/** A job's lane within its queue: the priority's digit, and what it needs, quoted. */
export const laneWord = ({ priority, needs }: Pick<Job, 'priority' | 'needs'>): string =>
  `${priority}${needs === undefined ? '' : needWord(needs)}`

export const needWord = (need: string): string => JSON.stringify(need)
