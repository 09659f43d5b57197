/**
 * An id as it lies in Redis: its digits, all of one length, so that sorted sets have them in the order of their numbers. It carries
 * its partition, which is the rest of its number by how many there are: one, on a single server.
 */
import { idNumber } from '../../../core/id.ts'
import type { JobId } from '../../../core/job.ts'

const PREFIX = 'pj_'
const DIGITS = 11
const ZEROES = '0'.repeat(DIGITS)

/** Undefined where the text is not an id. */
export const idDigits = (id: JobId): string | undefined => (idNumber(id) === undefined ? undefined : digitsOf(id))

/** Of what is known to be an id. */
export const digitsOf = (id: JobId): string => `${ZEROES.slice(id.length - PREFIX.length)}${id.slice(PREFIX.length)}`

export function idOf(digits: string): JobId {
  let first = 0
  while (digits.charCodeAt(first) === ZERO) first += 1
  return PREFIX + digits.slice(first)
}

const ZERO = 48
