/**
 * A job as it lies in Redis: one text of lines, which no word of a user can break, because those are JSON or stand in the last.
 * Scripts read the first of them (`job.lua`).
 *
 *   numbers   as in `NUMBERS`
 *   claim     of a lease that a claim gave, as the log will tell it (`codec/opening.ts`)
 *   worker    whose lease it is, quoted
 *   beat      the request of the last heartbeat, quoted
 *   head      the first event (`codec/enqueued.ts`)
 *   before    the record before the claim, once the owner's words have made another
 *   record    absent: what the first event makes it, or, of an ended job, what its log does. Of a lease whose claim the log does
 *             not tell yet: the record before the claim
 *   opening, log, requests
 *             the last stretch of its log; those before it are in the stream `past:<id>`
 *   output    `=` and the body of that name, where it is small and one line; `@`: among the bodies
 *   input     `=` and the body of that name, where it is small; `@`: among the bodies; `-`: there is none
 */
import { assert } from '../../../core/assert.ts'

const NUMBERS = [
  'rev',
  'seq',
  'state',
  'generation',
  'attempt',
  'kind',
  'bornAt',
  'priority',
  'careful',
  'window',
  'tick',
  'fence',
  'expires',
  'beatsAll',
  'beats',
  'beatsFrom',
  'beatsTo',
  'logged',
  'tailRev',
  'claimRequest',
  'beatRequest',
] as const

const LINES = [
  'claim',
  'worker',
  'beat',
  'head',
  'before',
  'record',
  'opening',
  'log',
  'requests',
  'output',
  'input',
] as const

export type JobText = Readonly<Record<(typeof NUMBERS)[number] | (typeof LINES)[number], string>>

export const NONE = '-'
export const INLINE = '='
export const APART = '@'
/** The request of a stretch that may be any: ends are not indexed by it, because an ended job has its end at hand. */
export const ANY_REQUEST = '0'

export function jobTextIn(value: string): JobText {
  const end = value.indexOf('\n')
  const numbers = value.slice(0, end).split(' ')
  assert(numbers.length === NUMBERS.length, 'a job begins with its numbers')
  const text: Partial<Record<keyof JobText, string>> = {}
  for (const [i, name] of NUMBERS.entries()) text[name] = numbers[i] as string
  let from = end + 1
  for (const name of LINES) {
    const to = name === 'input' ? value.length : value.indexOf('\n', from)
    text[name] = value.slice(from, to)
    from = to + 1
  }
  return text as JobText
}

/** What a new job begins with, and the lines that only callers read. */
export function newJobText(
  fields: Pick<JobText, 'state' | 'kind' | 'bornAt' | 'priority' | 'careful' | 'window' | 'tick' | 'head' | 'input'>,
): {
  readonly numbers: string
  readonly rest: string
} {
  const { state, kind, bornAt, priority, careful, window, tick, head, input } = fields
  return {
    numbers: `1 1 ${state} 0 0 ${kind} ${bornAt} ${priority} ${careful} ${window} ${tick} - 0 0 0 0 0 0 1 0 0`,
    rest: `${head}\n\n\n\n\n\n\n${input}`,
  }
}
