/** Words of a closed list, as people type them; a wrong one is answered with the nearest right ones. */
import { dialectNamed, READING_NAMES, type Reading, readingNamed } from '../core/dialects/registry.ts'
import { EVENT_TYPES, type EventType } from '../core/event.ts'
import { STATES, type State } from '../core/job.ts'
import { nearest } from '../core/nearest.ts'
import { DIALECT_NAMES, type DialectName } from '../core/policy.ts'
import { SORTS, type Sort } from '../core/search.ts'
import { Usage } from './exit.ts'

export function chosen<T extends string>(what: string, word: string, known: readonly T[]): T {
  const found = known.find((each) => each === word) ?? known.find((each) => each.toLowerCase() === word.toLowerCase())
  if (found !== undefined) return found
  const near = nearest(word, known)
  const hint = near.length === 0 ? `Known: ${known.join(', ')}.` : `Did you mean ${near.join(' or ')}?`
  throw new Usage(`There is no ${what} ${word}. ${hint}`)
}

export function statesOf(text: string | undefined): readonly State[] | undefined {
  return text?.split(',').map((word) => chosen('state', ALSO[word] ?? word, STATES))
}

/** How others spell them. */
const ALSO: Readonly<Record<string, State>> = {
  canceled: 'cancelled',
  dead: 'dead_lettered',
  'dead-lettered': 'dead_lettered',
  completed: 'succeeded',
}

export const sortOf = (word: string | undefined): Sort =>
  word === undefined ? 'created' : chosen('order', word, SORTS)

export function eventTypesOf(text: string | undefined): readonly EventType[] | undefined {
  return text?.split(',').map((word) => chosen('event', word, EVENT_TYPES))
}

/** In whose words something is read: a document's, or its other reading's. */
export const readingOf = (name: string | undefined): Reading | undefined =>
  name === undefined ? undefined : (readingNamed(name) ?? chosen('dialect', name, READING_NAMES))

export const dialectOf = (name: string | undefined): DialectName | undefined =>
  name === undefined ? undefined : (dialectNamed(name) ?? chosen('dialect', name, DIALECT_NAMES))

export function labelsOf(pairs: readonly string[] | undefined): Readonly<Record<string, string>> | undefined {
  if (pairs === undefined || pairs.length === 0) return undefined
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) throw new Usage(`A label is name=value, not ${pair}.`)
      return [pair.slice(0, at), pair.slice(at + 1)]
    }),
  )
}

export const listOf = (text: string | undefined): readonly string[] | undefined =>
  text?.split(',').filter((word) => word !== '')

export function countOf(
  what: string,
  text: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const n = Number(text)
  if (!Number.isSafeInteger(n) || n < min || n > max)
    throw new Usage(`${what} is a whole number from ${min} to ${max}, not ${text}.`)
  return n
}
