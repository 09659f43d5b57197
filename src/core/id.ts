/**
 * Job ids. Stores hand out numbers; people and other systems see short text: `pj_` and the number in base 32. The
 * prefix keeps them apart from ids that producers choose, so one lookup serves both.
 */
import { assert } from './assert.ts'
import type { JobId } from './job.ts'

const PREFIX = 'pj_'
const BASE = 32
const LONGEST = PREFIX.length + 11
const ZERO = 48
const A = 97

export function idText(number: number): JobId {
  assert(Number.isSafeInteger(number) && number > 0, 'a job number is a positive safe integer')
  if (number < LOW) return PREFIX + number.toString(BASE)
  // In two parts, the lower one from a table: `toString` takes four times as long for what does not fit into 31 bits.
  const high = Math.floor(number / LOW)
  const low = number - high * LOW
  return `${PREFIX}${high.toString(BASE)}${PAIRS[low >>> 20]}${PAIRS[(low >>> 10) & 1_023]}${PAIRS[low & 1_023]}`
}

const LOW = 2 ** 30
const PAIRS: readonly string[] = Array.from({ length: BASE * BASE }, (_, i) => i.toString(BASE).padStart(2, '0'))

/** The number behind an id, or undefined where the text is not one of ours. */
export function idNumber(text: string): number | undefined {
  if (text.length <= PREFIX.length || text.length > LONGEST || !text.startsWith(PREFIX)) return undefined
  let number = 0
  for (let i = PREFIX.length; i < text.length; i += 1) {
    const digit = digitOf(text.charCodeAt(i))
    if (digit === undefined || (digit === 0 && number === 0)) return undefined
    number = number * BASE + digit
  }
  return Number.isSafeInteger(number) ? number : undefined
}

/** By hand: it is asked several times about every job, and an expression took three times as long. */
function digitOf(code: number): number | undefined {
  if (code >= ZERO && code < ZERO + 10) return code - ZERO
  return code >= A && code < A + BASE - 10 ? code - A + 10 : undefined
}

export const isId = (text: string): boolean => idNumber(text) !== undefined
export const isReserved = (alias: string): boolean => alias.startsWith(PREFIX)
