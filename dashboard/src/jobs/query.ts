/** A query as text, and what a tick in the rail does to it. */

import { matches, parseSearch, type Search, type Term } from '../../../src/gateway/contract/search.ts'
import type { TallyAnswer } from '../api/wire.ts'

export {
  FIELD_NAMES,
  FIELDS,
  isSifted,
  matches,
  PREFIXES,
  parseSearch,
  SORTS,
  type Sort,
  valuesOf,
} from '../../../src/gateway/contract/search.ts'
export type { Search, Term }

export type Ticked = 'state' | 'queue' | 'type'

/** Whether a name is among what the query asks for. */
export const isTicked = (terms: readonly Term[], field: Ticked, name: string): boolean =>
  terms.some((term) => term.field === field && !term.not && term.values.some((value) => matches(value, name)))

/** The query with this name taken in, or left out; everything else stays as it was written. */
export function toggled(query: string, field: Ticked, name: string): string {
  const search = parseSearch(query)
  const terms = search.ok ? search.terms : []
  const own = terms.find((term) => term.field === field && !term.not)
  const values = own?.values ?? []
  const next = isTicked(terms, field, name) ? values.filter((value) => !matches(value, name)) : [...values, name]
  const rest = terms.filter((term) => term !== own).map(({ text }) => text)
  const text = next.length === 0 ? [] : [`${field}:${next.map(quoted).join(',')}`]
  return [...text, ...rest].join(' ')
}

/** A value as the grammar takes it for one. */
export const quoted = (value: string): string =>
  needsQuotes(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value

export const needsQuotes = (value: string): boolean => /[\s",]/.test(value)

/** Fields that a tally knows: what else is asked is not in the rail's counts. */
const TALLIED: ReadonlySet<string> = new Set(['state', 'queue', 'type'])

export const untallied = (terms: readonly Term[]): readonly string[] => [
  ...new Set(terms.map(({ field }) => field).filter((field) => !TALLIED.has(field))),
]

/** The names there are of those a query leaves, those with the most jobs first. */
export function namesWithin(terms: readonly Term[], tally: TallyAnswer | undefined, field: Ticked): readonly string[] {
  const counts = new Map<string, number>()
  for (const each of tally?.counts ?? [])
    if (isWithin(terms, each, undefined)) counts.set(each[field], (counts.get(each[field]) ?? 0) + each.count)
  return [...counts].sort(([, m], [, n]) => n - m).map(([name]) => name)
}

/** Whether a count of the tally is of jobs that the query asks for, but for one field. */
export function isWithin(
  terms: readonly Term[],
  count: { readonly state: string; readonly queue: string; readonly type: string },
  except: Ticked | undefined,
): boolean {
  return terms.every(({ field, values, not }) => {
    if (!TALLIED.has(field) || field === except) return true
    return values.some((value) => matches(value, count[field as Ticked])) !== not
  })
}
