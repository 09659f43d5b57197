/**
 * Where the candidates of a search come from: walks of an index in order of the jobs' numbers, merged. The narrowest index
 * there is drives; where it is not narrow, so many rows are looked at and no more.
 */
import type { StatementSync } from 'node:sqlite'
import { hash53 } from '../../../core/hash.ts'
import { idNumber } from '../../../core/id.ts'
import { STATE_CODES } from '../../codec/codes.ts'
import { codeMark, correlationMark, marksOf } from '../../codec/marks.ts'
import { original } from '../../codec/text.ts'
import type { JobQuery } from '../../store.ts'
import { ENDED, OWNED, READY, RESTING } from './letters.ts'
import type { Reading } from './reading.ts'
import { all, type Cell } from './rows.ts'
import type { Scope } from './scope.ts'
import type { Walks } from './statements.ts'

/** Numbers between two, exclusive. */
export interface Span {
  readonly low: number
  readonly high: number
}

/** Looks at up to `most` rows; `last` is where it stopped, if it stopped before the end. */
export type Source = (
  span: Span,
  most: number,
) => { readonly ids: readonly number[]; readonly last: number | undefined; readonly looked: number }

/** Index ranges that are merged at most; with more, walking the jobs is cheaper. */
const RANGES = 400
export function sourcesOf(reading: Reading, query: JobQuery, scope: Scope): readonly Source[] {
  const walks = reading.walks(query.order === 'newest')
  return byWord(query, scope, walks) ?? byPlace(reading, query, scope, walks) ?? [filtered(walks.jobs, scope)]
}

/** A word that a job has said narrows more than anything else; each tenant has its own. */
function byWord(query: JobQuery, scope: Scope, walks: Walks): readonly Source[] | undefined {
  const tenants = () => scope.tenants().map(original)
  const { correlationId, code } = query
  if (correlationId !== undefined) {
    const own = idNumber(correlationId)
    const marks = tenants().map((tenant) => hash53(correlationMark(tenant, correlationId)))
    const others = marks.map((mark) => range(walks.correlation, mark))
    return own === undefined ? others : [just(own), ...others]
  }
  // `marksOf` begins with what is rarest.
  if (marksOf('', query).length > 0) {
    return tenants().map((tenant) => range(walks.mark, hash53(marksOf(tenant, query)[0] ?? '')))
  }
  if (code === undefined) return undefined
  const { doneCode, readyCode, restCode, leaseCode } = walks
  return tenants()
    .map((tenant) => hash53(codeMark(tenant, code)))
    .flatMap((mark) => [doneCode, readyCode, restCode, leaseCode].map((walk) => range(walk, mark)))
}

/** A range for each kind, state and table that has jobs, by the counts. */
function byPlace(reading: Reading, query: JobQuery, scope: Scope, walks: Walks): readonly Source[] | undefined {
  const kinds = scope.kinds()
  if (kinds === undefined) return undefined
  const wanted = statesOf(reading, query)
  const sources: Source[] = []
  let owned = false
  for (const kind of kinds) {
    for (const [state] of all<[state: string]>(reading.sql.statesOf, kind)) {
      if (wanted?.includes(state) === false) continue
      if (OWNED.includes(state)) owned = true
      if (READY.includes(state)) sources.push(range(walks.ready, kind, state))
      if (RESTING.includes(state)) sources.push(range(walks.rest, kind, state))
      if (ENDED.includes(state)) sources.push(range(walks.done, kind, state))
    }
    if (sources.length > RANGES) return undefined
  }
  // Leases of all kinds are walked together: an index by kind would cost every claim, and owned jobs are few.
  return owned ? [filtered(walks.leases, scope), ...sources] : sources
}

/** Retention asks this all the time, mostly in vain: states in which nothing has ended that early are out. */
function statesOf({ sql }: Reading, { states, endedBefore }: JobQuery): readonly string[] | undefined {
  const wanted = states?.map((state) => STATE_CODES[state])
  if (endedBefore === undefined) return wanted
  const ended = (wanted ?? ENDED).filter((state) => ENDED.includes(state))
  return ended.filter((state) => all(sql.anyEnded, state, endedBefore).length > 0)
}

/** Every row of it is a candidate. */
const range =
  (walk: StatementSync, ...values: readonly Cell[]): Source =>
  ({ low, high }, most) => {
    const ids = all(walk, ...values, low, high, most).map(([id]) => id as number)
    return { ids, last: ids.length < most ? undefined : ids.at(-1), looked: ids.length }
  }

/** Rows of all kinds, of which those in scope are candidates. */
const filtered =
  (walk: StatementSync, scope: Scope): Source =>
  ({ low, high }, most) => {
    const rows = all<[id: number, kind: number]>(walk, low, high, most)
    const ids = rows.filter(([, kind]) => scope.has(kind)).map(([id]) => id)
    return { ids, last: rows.length < most ? undefined : rows.at(-1)?.[0], looked: rows.length }
  }

const just =
  (id: number): Source =>
  ({ low, high }) => ({ ids: id > low && id < high ? [id] : [], last: undefined, looked: 1 })
