/**
 * Jobs by what is known of them, in order of their numbers. Candidates come from an index (`sources.ts`) and are judged by
 * what the tables say; a page looks at so many rows and no more, and goes on from its cursor.
 */
import { hash53 } from '../../../core/hash.ts'
import { idNumber, idText } from '../../../core/id.ts'
import { STATE_CODES } from '../../codec/codes.ts'
import { codeMark, correlationMark, marksOf } from '../../codec/marks.ts'
import { original } from '../../codec/text.ts'
import type { JobQuery } from '../../store.ts'
import type { JobRow } from '../job-row.ts'
import type { Answered } from '../protocol.ts'
import type { Reading } from './reading.ts'
import { all, one } from './rows.ts'
import { Scope } from './scope.ts'
import { type Source, type Span, sourcesOf } from './sources.ts'

/** Rows looked at for one page, about. */
const LOOKED_AT = 10_000
/** Rows read of each source at first; more are read where few of them match. */
const FIRST = 8
const MORE = 4
const MOST = 1_000

export function find(reading: Reading, query: JobQuery): Answered<'find'> {
  if (query.longEnded !== undefined) return longEnded(reading, query, query.longEnded)
  const scope = new Scope(reading, query)
  const sources = sourcesOf(reading, query, scope)
  const wants = judge(reading, query, scope)
  const rows: JobRow[] = []
  let last = 0
  let span = spanOf(reading, query)
  // All sources together are asked for twice as many rows as are wanted.
  let most = Math.max(FIRST, Math.ceil((2 * (query.limit + 1)) / Math.max(1, sources.length)))
  for (let looked = 0; ; most = Math.max(most, Math.min(MOST, most * MORE))) {
    const candidates = merged(sources, span, most, query.order === 'newest')
    looked += candidates.looked
    for (const id of candidates.ids) {
      if (!wants(id)) continue
      if (rows.length === query.limit) return { rows, cursor: idText(last) }
      const row = reading.whole(id)
      if (row === undefined) continue
      rows.push(row)
      last = id
    }
    const { horizon } = candidates
    if (horizon === undefined) return { rows, cursor: null }
    if (looked >= LOOKED_AT) return { rows, cursor: idText(horizon) }
    span = beyond(span, horizon, query)
  }
}

/** Ended jobs with long logs, by the time of their end. The cursor is the end and number of the last one. */
function longEnded(reading: Reading, { limit, cursor }: JobQuery, { from, to }: LongEnded): Answered<'find'> {
  const [at, id] = cursor === undefined ? [from, 0] : cursor.split('.').map(Number)
  const found = all(reading.sql.longEnded, at ?? from, id ?? 0, to, limit)
  const rows = found.map(([, id]) => reading.whole(id as number)).filter((row) => row !== undefined)
  return { rows, cursor: found.length < limit ? null : (found.at(-1)?.join('.') ?? null) }
}

type LongEnded = NonNullable<JobQuery['longEnded']>

/** Numbers of all sources in order, each once, up to the number that every source has been read to. */
function merged(sources: readonly Source[], span: Span, most: number, newest: boolean) {
  const ids = new Set<number>()
  let horizon: number | undefined
  let looked = 0
  for (const source of sources) {
    const read = source(span, most)
    looked += read.looked
    for (const id of read.ids) ids.add(id)
    if (read.last === undefined) continue
    if (horizon === undefined || (newest ? read.last > horizon : read.last < horizon)) horizon = read.last
  }
  const reached = [...ids].filter((id) => horizon === undefined || (newest ? id >= horizon : id <= horizon))
  return { ids: reached.sort((a, b) => (newest ? b - a : a - b)), horizon, looked }
}

function spanOf(reading: Reading, query: JobQuery): Span {
  const { roughlyBornBefore, cursor } = query
  const high = roughlyBornBefore === undefined ? Number.MAX_SAFE_INTEGER : bornBefore(reading, roughlyBornBefore) + 1
  const span = { low: 0, high }
  return cursor === undefined ? span : beyond(span, idNumber(cursor) ?? 0, query)
}

const beyond = ({ low, high }: Span, number: number, { order }: JobQuery): Span =>
  order === 'newest' ? { low, high: Math.min(high, number) } : { low: Math.max(low, number), high }

/** About the last job born before a time: numbers rise with time, but for those of blocks that lay idle. */
function bornBefore({ sql }: Reading, time: number): number {
  let low = 0
  let high = (one(sql.lastJob)?.[0] as number | undefined) ?? 0
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [id, at] = (one(sql.bornAfter, middle) ?? [high, time]) as readonly [number, number]
    if (at < time) low = id
    else high = middle
  }
  return low
}

/** Judges candidates by the hashes that tables have. The main thread compares what is left with the search itself (`matches.ts`). */
function judge({ sql, kinds }: Reading, query: JobQuery, scope: Scope): (id: number) => boolean {
  const { correlationId, code, createdFrom, createdTo, endedBefore } = query
  const states = query.states?.map((state) => STATE_CODES[state])
  const own = correlationId === undefined ? undefined : idNumber(correlationId)
  const marks = remembered((tenant) => marksOf(tenant, query).map(hash53))
  const correlation = remembered((tenant) => hash53(correlationMark(tenant, correlationId ?? '')))
  const codes = remembered((tenant) => hash53(codeMark(tenant, code ?? '')))
  return (id) => {
    const row = one(sql.heads, id)
    if (row === undefined) return false
    const [kind, at, correlated, state, error, endedAt] = row as Heads
    if (!scope.has(kind) || states?.includes(state) === false) return false
    const { tenant } = kinds.get(kind)
    if (createdFrom !== undefined && at < createdFrom) return false
    if (createdTo !== undefined && at >= createdTo) return false
    if (endedBefore !== undefined && (endedAt === null || endedAt >= endedBefore)) return false
    if (code !== undefined && error !== codes(tenant)) return false
    if (correlationId !== undefined && correlated !== (id === own ? null : correlation(tenant))) return false
    return marks(tenant).every((mark) => one(sql.marked, mark, id) !== undefined)
  }
}

type Heads = readonly [
  kind: number,
  at: number,
  correlation: number | null,
  state: string,
  code: number | null,
  endedAt: number | null,
]

/** `make`, called once for each tenant. Tenants as they are stored. */
function remembered<Value>(make: (tenant: string) => Value): (tenant: string) => Value {
  const made = new Map<string, Value>()
  return (tenant) => {
    const known = made.get(tenant)
    if (known !== undefined) return known
    const value = make(original(tenant))
    made.set(tenant, value)
    return value
  }
}
