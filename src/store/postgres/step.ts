/**
 * A state as data: where a record stands in the database (which table) and how far it has come (the forward-only triple
 * as one number). Nothing here judges a record.
 */
import { isTerminal, type Job, RANK } from '../../core/job.ts'

/** `r` ready, `l` lease, `s` rest, `p` past. */
export type Place = 'r' | 'l' | 's' | 'p'

export const placeOf = (job: Job): Place =>
  isTerminal(job.state) ? 'p' : job.lease !== undefined ? 'l' : job.readyAt !== undefined ? 'r' : 's'

const ATTEMPT = 2 ** 4
const GENERATION = 2 ** 36

export const stepOf = (job: Job): number => job.generation * GENERATION + job.attempt * ATTEMPT + RANK[job.state]

export const attemptOf = (step: number): number => Math.floor((step % GENERATION) / ATTEMPT)
