/**
 * A state as data: where a record stands in the database (which table) and how far it has come (the forward-only triple
 * as one number). Nothing here judges a record.
 */
import { isTerminal, type Job, RANK } from '../../../core/job.ts'

/** `r` ready, `l` lease, `s` rest, `p` past. */
export type Place = 'r' | 'l' | 's' | 'p'

export const placeOf = (job: Job): Place =>
  isTerminal(job.state) ? 'p' : job.lease !== undefined ? 'l' : job.readyAt !== undefined ? 'r' : 's'

/** The places of a step, in bits: the rank at its end, then the attempt, then the generation. */
export const STEP_BITS = { attempt: 4, generation: 36 } as const

const ATTEMPT = 2 ** STEP_BITS.attempt
const GENERATION = 2 ** STEP_BITS.generation

export const stepOf = (job: Job): number => packed(job.generation, job.attempt, RANK[job.state])

/** As `stepOf`, from the three numbers. */
export const packed = (generation: number, attempt: number, rank: number): number =>
  generation * GENERATION + attempt * ATTEMPT + rank

/** A step without its rank: which of its claims a job is at. `step >> {{bits.attempt}}` in SQL. */
export const claimOf = (generation: number, attempt: number): number => packed(generation, attempt, 0) / ATTEMPT
