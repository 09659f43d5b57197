/**
 * Job ids. Stores hand out numbers; people and other systems see short text: `pj_` and the number in base 32. The
 * prefix keeps them apart from ids that producers choose, so one lookup serves both.
 */
import { assert } from './assert.ts'
import type { JobId } from './job.ts'

const PREFIX = 'pj_'
const PATTERN = /^pj_[1-9a-v][0-9a-v]{0,10}$/

export function idText(number: number): JobId {
  assert(Number.isSafeInteger(number) && number > 0, 'a job number is a positive safe integer')
  return PREFIX + number.toString(32)
}

/** The number behind an id, or undefined where the text is not one of ours. */
export function idNumber(text: string): number | undefined {
  if (!PATTERN.test(text)) return undefined
  const number = Number.parseInt(text.slice(PREFIX.length), 32)
  return Number.isSafeInteger(number) ? number : undefined
}

export const isId = (text: string): boolean => idNumber(text) !== undefined
export const isReserved = (alias: string): boolean => alias.startsWith(PREFIX)
