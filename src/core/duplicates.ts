/** What becomes of a second enqueue under a dedupe key, from what people say to what the policy has. */
import type { Duration } from './duration.ts'
import { DURATIONS } from './limits.ts'
import type { Policy } from './policy.ts'
import { duration, oneOf, part } from './policy-words.ts'
import type { Violation } from './refusal.ts'

/** What becomes of a second enqueue under a dedupe key that is held. */
export interface DuplicatesInput {
  /**
   * How long the key is held: while the job lives, for ever, or for so long from its enqueue.
   * @default 'live'
   */
  readonly for?: 'live' | 'forever' | Duration | undefined
  /**
   * `keep`: nothing, the job there is is the answer. `replace`: the newer input takes the place of its input, while nobody has begun with it; once
   * somebody has, it is kept for a job that is enqueued with the end of this one. `debounce`: the same, and each duplicate moves the time it runs at.
   * @default 'keep'
   */
  readonly onDuplicate?: 'keep' | 'replace' | 'debounce' | undefined
  /**
   * With `debounce`: it runs so long after the last duplicate.
   * @default none: it must be given
   */
  readonly within?: Duration | undefined
  /**
   * With `debounce`: it runs at the latest so long after the first.
   * @default ten times `within`
   */
  readonly atMost?: Duration | undefined
}

const DUPLICATE_WORDS = ['key', 'for', 'onDuplicate', 'within', 'atMost']
const AT_MOST = 10

/** What they were called before they had a place of their own. */
export const FORMER = 'dedupeFor'

export function duplicates(
  v: Violation[],
  words: { readonly dedupe?: DuplicatesInput | undefined },
  base: Policy,
): Pick<Policy, 'dedupe' | 'onDuplicate'> {
  const input: Partial<DuplicatesInput> = part(v, 'dedupe', words.dedupe, DUPLICATE_WORDS)
  if (FORMER in words) v.push({ field: FORMER, rule: 'is written dedupe: { for: … }' })
  const { for: held, onDuplicate } = input
  const dedupe = held === 'live' || held === 'forever' ? held : duration(v, 'dedupe.for', held, DURATIONS.dedupe)
  const does = oneOf(v, 'dedupe.onDuplicate', onDuplicate, ['keep', 'replace', 'debounce'])
  const withinMs = duration(v, 'dedupe.within', input.within, DURATIONS.within)
  const atMostMs = duration(v, 'dedupe.atMost', input.atMost, DURATIONS.atMost)
  if (does !== 'debounce' && (withinMs ?? atMostMs) !== undefined)
    v.push({ field: 'dedupe.within', rule: 'is for onDuplicate: debounce alone' })
  if (does === 'debounce' && withinMs === undefined)
    v.push({ field: 'dedupe.within', rule: 'must be given: how long a debounced job waits for another duplicate' })
  const rule = onDuplicate === undefined ? base.onDuplicate : ruleOf(does, withinMs, atMostMs)
  return { dedupe: dedupe ?? base.dedupe, onDuplicate: rule }
}

function ruleOf(does: string | undefined, withinMs = 0, atMostMs = AT_MOST * withinMs): Policy['onDuplicate'] {
  if (does === 'replace') return { does }
  return does === 'debounce' ? { does, withinMs, atMostMs } : undefined
}
