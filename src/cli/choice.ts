/** Words of a closed list, as people type them; a wrong one is answered with the nearest right ones. */
import { dialectNamed, READING_NAMES, type Reading, readingNamed } from '../core/dialects/registry.ts'
import { EVENT_TYPES, type EventType } from '../core/event.ts'
import { STATES, type State } from '../core/job.ts'
import { DIALECT_NAMES, type DialectName } from '../core/policy.ts'
import { Usage } from './exit.ts'

export function chosen<T extends string>(what: string, word: string, known: readonly T[]): T {
  const found = known.find((each) => each === word) ?? known.find((each) => each.toLowerCase() === word.toLowerCase())
  if (found !== undefined) return found
  const near = nearest(word, known)
  const hint = near.length === 0 ? `Known: ${known.join(', ')}.` : `Did you mean ${near.join(' or ')}?`
  throw new Usage(`There is no ${what} ${word}. ${hint}`)
}

/** The words that are a slip of the finger away, nearest first. */
export function nearest<T extends string>(word: string, known: readonly T[]): readonly T[] {
  const wanted = word.toLowerCase()
  const most = Math.max(1, Math.floor(wanted.length * 0.4))
  const ranked = known
    .map((each) => ({ each, away: distance(wanted, each.toLowerCase()) }))
    .filter(({ away }) => away <= most)
    .sort((a, b) => a.away - b.away)
  return ranked
    .filter(({ away }) => away === ranked[0]?.away)
    .map(({ each }) => each)
    .slice(0, 3)
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

/** Edits between two words: a letter put in, left out, changed, or two of them swapped. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const [up, left, diagonal] = [rows[i - 1]?.[j] ?? 0, row[j - 1] ?? 0, rows[i - 1]?.[j - 1] ?? 0]
      let best = Math.min(up + 1, left + 1, diagonal + (a[i - 1] === b[j - 1] ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, (rows[i - 2]?.[j - 2] ?? 0) + 1)
      row.push(best)
    }
    rows.push(row)
  }
  return rows[a.length]?.[b.length] ?? 0
}
