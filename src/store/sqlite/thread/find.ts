/**
 * Jobs by what is known of them, in order of their numbers. The narrowest index drives; what it does not cover is
 * judged row by row. Where nothing but the numbers themselves could drive, a page looks at so many jobs and no more,
 * and goes on from its cursor: no question keeps the writer waiting.
 */
import type { Answered } from '../protocol.ts'
import type { FindRow, JobRow } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import { all, type Cell, one } from './rows.ts'
import { WHOLE } from './statements.ts'

const SCAN = 20_000
const WALKS = 5
/** Index ranges to merge at most; with more, walking the jobs is cheaper. */
const RANGES = 400

/** Walks on, a stated number of times, while it has found nothing: an empty page with a cursor helps nobody. */
export function find(ledger: Ledger, query: FindRow): Answered<'find'> {
  let page = findOnce(ledger, query)
  for (let walks = 1; walks < WALKS && page.rows.length === 0 && page.cursor !== null; walks += 1) {
    page = findOnce(ledger, { ...query, after: page.cursor })
  }
  return page
}

function findOnce(ledger: Ledger, query: FindRow): Answered<'find'> {
  const states = query.endedBefore === null ? query.states : endedStates(ledger, query)
  if (states?.length === 0 || query.kinds?.length === 0) return { rows: [], cursor: null }
  const narrowed = { ...query, states }
  const driver = byWords(narrowed) ?? byPlace(ledger, narrowed) ?? byNumber(narrowed)
  const { where, values } = residual(narrowed)
  const order = query.newest ? 'DESC' : 'ASC'
  const statement = ledger.adHoc(
    `${WHOLE} WHERE j.id IN (${driver.sql}) ${where} ORDER BY j.id ${order} LIMIT ${query.limit + 1}`,
  )
  const rows = all(statement, ...driver.values, ...values).map((row) => ledger.jobRow(row))
  if (rows.length > query.limit)
    return { rows: rows.slice(0, query.limit), cursor: (rows[query.limit - 1] as JobRow)[0] }
  return { rows, cursor: driver.bounded ? lastSeen(ledger, driver) : null }
}

interface Driver {
  readonly sql: string
  readonly values: readonly Cell[]
  readonly bounded?: true
}

/** Where the walk by numbers stopped, if it stopped before the end. */
function lastSeen(ledger: Ledger, { sql, values }: Driver): number | null {
  const seen = one(ledger.adHoc(`SELECT count(*), min(id), max(id) FROM (${sql})`), ...values)
  if (seen === undefined || (seen[0] as number) < SCAN) return null
  return (sql.includes('DESC') ? seen[1] : seen[2]) as number
}

/** Retention asks this all the time, mostly in vain: states in which nothing has ended that early are out. */
function endedStates(ledger: Ledger, { states, endedBefore }: FindRow): readonly string[] {
  const ended = (states ?? ENDED).filter((state) => ENDED.includes(state))
  const any = ledger.adHoc('SELECT 1 FROM ending WHERE state = ? AND ended_at < ? LIMIT 1') // ending_ended
  return ended.filter((state) => one(any, state, endedBefore) !== undefined)
}

const READY = ['q', 't', 'l']
const OWNED = ['c', 'r']
const RESTING = ['n', 'w', 'p', 'l', 'q', 't']
const ENDED = ['S', 'F', 'C', 'T', 'D', 'L']

/** job_correlation, job_parent, job_workflow, job_dedupe, label; done_code, ready_code, rest_code. Owned jobs are few. */
function byWords(query: FindRow): Driver | undefined {
  const { clause, values } = beyond('id', query)
  const label = query.labels[0]
  if (query.correlation !== null) {
    const own = query.ownId === null ? '' : ' UNION ALL SELECT id FROM job WHERE id = ?'
    return {
      sql: `SELECT id FROM job WHERE correlation = ? ${clause}${own}`,
      values: [query.correlation, ...values, ...(query.ownId === null ? [] : [query.ownId])],
    }
  }
  if (query.parent !== null) {
    return { sql: `SELECT id FROM job WHERE parent = ? ${clause}`, values: [query.parent, ...values] }
  }
  if (query.workflow !== null) {
    return { sql: `SELECT id FROM job WHERE workflow = ? ${clause}`, values: [query.workflow, ...values] }
  }
  if (query.dedupe !== null) {
    return { sql: `SELECT id FROM job WHERE dedupe = ? ${clause}`, values: [query.dedupe, ...values] }
  }
  if (query.code !== null) {
    const codes = ['done', 'ready', 'rest', 'lease'].map((table) => `SELECT id FROM ${table} WHERE code = ? ${clause}`)
    return { sql: codes.join(' UNION ALL '), values: codes.flatMap(() => [query.code, ...values]) }
  }
  if (label === undefined) return undefined
  const later = beyond('job', query)
  return {
    sql: `SELECT job FROM label WHERE name = ? AND value = ? ${later.clause}`,
    values: [...label, ...later.values],
  }
}

/** A range per kind and state in each place: ready_kind, rest_kind, done. Owned jobs are few. */
function byPlace(ledger: Ledger, query: FindRow): Driver | undefined {
  const { kinds, states } = query
  if (kinds === null && states === null) return undefined
  // Times of creation follow the numbers closely enough: a walk by number with a stated end.
  if (query.createdFrom !== null || query.createdTo !== null) return undefined
  const numbers = kinds ?? all(ledger.adHoc('SELECT id FROM kind')).map(([id]) => id as number)
  const wanted = states ?? [...new Set([...READY, ...OWNED, ...RESTING, ...ENDED])]
  const parts: string[] = []
  const values: Cell[] = []
  const { clause, values: cursor } = beyond('id', query)
  const { done, doneValues } = endedToo(query)
  const tail = `ORDER BY id ${query.newest ? 'DESC' : 'ASC'} LIMIT ${query.limit + 1}`
  for (const kind of numbers) {
    for (const state of wanted) {
      for (const [table, there] of [
        ['ready', READY],
        ['rest', RESTING],
        ['done', ENDED],
      ] as const) {
        if (!there.includes(state)) continue
        const ended = table === 'done'
        parts.push(
          `SELECT id FROM (SELECT id FROM ${table} WHERE kind = ? AND state = ? ${clause} ${ended ? done : ''} ${tail})`,
        )
        values.push(kind, state, ...cursor, ...(ended ? doneValues : []))
      }
    }
  }
  if (parts.length > RANGES) return undefined
  if (wanted.some((state) => OWNED.includes(state))) {
    parts.push(`SELECT id FROM lease WHERE id > 0 ${clause}`)
    values.push(...cursor)
  }
  return parts.length === 0 ? undefined : { sql: parts.join(' UNION ALL '), values }
}

/** Judged where the range is read, so that the range's limit counts only what matches. */
function endedToo(query: FindRow): { done: string; doneValues: readonly Cell[] } {
  return query.endedBefore === null
    ? { done: '', doneValues: [] }
    : { done: 'AND ended_at < ?', doneValues: [query.endedBefore] }
}

function byNumber(query: FindRow): Driver {
  const { clause, values } = beyond('id', query)
  const order = query.newest ? 'DESC' : 'ASC'
  return {
    sql: `SELECT id FROM (SELECT id FROM job WHERE id > 0 ${clause} ORDER BY id ${order} LIMIT ${SCAN})`,
    values,
    bounded: true,
  }
}

function beyond(column: string, { after, newest }: FindRow): { clause: string; values: readonly Cell[] } {
  return after === null
    ? { clause: '', values: [] }
    : { clause: `AND ${column} ${newest ? '<' : '>'} ?`, values: [after] }
}

function residual(query: FindRow): { where: string; values: readonly Cell[] } {
  const clauses: string[] = []
  const values: Cell[] = []
  const add = (clause: string, ...more: readonly Cell[]) => {
    clauses.push(`AND ${clause}`)
    values.push(...more)
  }
  const { clause, values: cursor } = beyond('j.id', query)
  if (clause !== '') clauses.push(clause)
  values.push(...cursor)
  if (query.kinds !== null) add('j.kind IN (SELECT value FROM json_each(?))', JSON.stringify(query.kinds))
  if (query.states !== null) {
    add(
      'coalesce(d.state, l.state, r.state, s.state) IN (SELECT value FROM json_each(?))',
      JSON.stringify(query.states),
    )
  }
  if (query.correlation !== null) add('(j.correlation = ? OR j.id = ?)', query.correlation, query.ownId ?? 0)
  if (query.parent !== null) add('j.parent = ?', query.parent)
  if (query.workflow !== null) add('j.workflow = ?', query.workflow)
  if (query.dedupe !== null) add('j.dedupe = ?', query.dedupe)
  for (const label of query.labels) {
    add('EXISTS (SELECT 1 FROM label x WHERE x.name = ? AND x.value = ? AND x.job = j.id)', ...label)
  }
  if (query.code !== null) add('coalesce(d.code, l.code, r.code, s.code) = ?', query.code)
  if (query.createdFrom !== null) add('j.at >= ?', query.createdFrom)
  if (query.createdTo !== null) add('j.at < ?', query.createdTo)
  if (query.endedBefore !== null) add('d.ended_at < ?', query.endedBefore)
  return { where: clauses.join(' '), values }
}
