/** What may be written next: fields of the grammar, then values, those that are known by their counts. */
import type { TallyAnswer, TrafficAnswer } from '../api/wire.ts'
import { count } from '../words/format.ts'
import { FIELD_NAMES, FIELDS, needsQuotes, PREFIXES, quoted, valuesOf } from './query.ts'

export interface Offer {
  /** The whole term, as far as it goes. */
  readonly text: string
  readonly note: string
  /** A value is still to come. */
  readonly isOpen: boolean
}

export interface Known {
  readonly tally: TallyAnswer | undefined
  readonly failures: TrafficAnswer['failures']
}

const OFFERED = 12

export function offersFor(text: string, known: Known): readonly Offer[] {
  const term = lastTerm(text)
  const minus = term.startsWith('-') ? '-' : ''
  const colon = term.indexOf(':')
  if (colon < 0) return fieldsFor(term.slice(minus.length), minus)
  const field = term.slice(minus.length, colon)
  return valuesFor(field, term.slice(colon + 1), known).map(([value, note]) => ({
    text: `${minus}${field}:${value}`,
    note,
    isOpen: false,
  }))
}

/** What stands before the term that is being written. */
export const before = (text: string): string => text.slice(0, text.length - lastTerm(text).length)

/** What comes behind the last space that is not within quotes. */
const lastTerm = (text: string): string => /(?:[^\s"]|"(?:[^"\\]|\\.)*("|$))*$/.exec(text)?.[0] ?? ''

function fieldsFor(begun: string, minus: string): readonly Offer[] {
  const fields = FIELD_NAMES.filter((name) => name.startsWith(begun)).map((name) => ({
    text: `${minus}${name}:`,
    note: FIELDS[name].means,
    isOpen: true,
  }))
  const prefixes = Object.entries(PREFIXES)
    .filter(([name]) => name.startsWith(begun))
    .map(([name, { means }]) => ({ text: `${name}.`, note: means, isOpen: true }))
  return minus === '' ? [...fields, ...prefixes] : fields
}

/** Values with what is known of them, those there are most of first. */
function valuesFor(field: string, value: string, known: Known): readonly (readonly [value: string, note: string])[] {
  const counts = countsOf(field, known)
  const names = [...new Set([...counts.keys(), ...valuesOf(field)])]
  const isQuoted = value.startsWith('"')
  const first = isQuoted || !value.includes(',') ? '' : value.slice(0, value.lastIndexOf(',') + 1)
  const begun = isQuoted ? value.slice(1) : value.slice(first.length)
  return (
    names
      .filter((name) => name.startsWith(begun) && name !== begun)
      // Of several values none can have quotes.
      .filter((name) => first === '' || !needsQuotes(name))
      .sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
      .slice(0, OFFERED)
      .map((name) => [`${first}${quoted(name)}`, counts.has(name) ? count(counts.get(name) ?? 0) : ''] as const)
  )
}

function countsOf(field: string, { tally, failures }: Known): ReadonlyMap<string, number> {
  if (field === 'code') return new Map(failures.map(({ code, count: n }) => [code, n]))
  const counts = new Map<string, number>()
  if (field !== 'state' && field !== 'queue' && field !== 'type') return counts
  for (const each of tally?.counts ?? []) counts.set(each[field], (counts.get(each[field]) ?? 0) + each.count)
  return counts
}
