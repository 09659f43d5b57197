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
  /** Limit keys there are. */
  readonly keys: readonly string[]
  /** Members of the inputs of the types that are asked for. */
  readonly inputs: readonly string[]
  /** What a document calls the states, and which of ours it means: both are understood. */
  readonly words: readonly (readonly [word: string, states: readonly string[]])[]
}

const OFFERED = 12

export function offersFor(text: string, known: Known): readonly Offer[] {
  const term = lastTerm(text)
  const minus = term.startsWith('-') ? '-' : ''
  const colon = term.indexOf(':')
  if (colon < 0) return fieldsFor(term.slice(minus.length), minus, known)
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

function fieldsFor(begun: string, minus: string, { inputs }: Known): readonly Offer[] {
  if (begun.startsWith(INPUT)) return inputsFor(begun.slice(INPUT.length), inputs)
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

const INPUT = 'input.'

const inputsFor = (begun: string, inputs: readonly string[]): readonly Offer[] =>
  inputs
    .filter((path) => path.startsWith(begun))
    .slice(0, OFFERED)
    .map((path) => ({ text: `${INPUT}${path}:`, note: 'of the input, by its schema', isOpen: true }))

/** Values with what is known of them, those there are most of first. */
function valuesFor(field: string, value: string, known: Known): readonly (readonly [value: string, note: string])[] {
  if (field === 'state' && !value.includes(',')) {
    const said = known.words.filter(([word]) => value !== '' && word.toLowerCase().startsWith(value.toLowerCase()))
    if (said.length > 0 && !valuesOf(field).some((name) => name.startsWith(value)))
      return said.map(([word, states]) => [states.join(','), word] as const)
  }
  const counts = countsOf(field, known)
  const names = [...new Set([...counts.keys(), ...(field === 'key' ? known.keys : []), ...valuesOf(field)])]
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
