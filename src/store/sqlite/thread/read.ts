import type { Answered, Asked } from '../protocol.ts'
import type { JobRow, LoadedRow, LoadRow, LogRow } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import { all, one } from './rows.ts'

export function load(ledger: Ledger, rows: Asked<'load'>): Answered<'load'> {
  return rows.map((row) => loadOne(ledger, row))
}

function loadOne(ledger: Ledger, [id, key, purpose, tenant, names, saying]: LoadRow): LoadedRow | null {
  const number = id ?? (one(ledger.sql.named, tenant, purpose, key)?.[0] as number | undefined)
  const job = number === undefined ? undefined : ledger.whole(number)
  if (job === undefined) return null
  const bodies = names.flatMap((name) => bodiesNamed(ledger, job[0], name))
  return [job, bodies, saying === null ? [] : logSaying(ledger, job[0], saying)]
}

function logSaying({ sql }: Ledger, id: number, saying: string): readonly LogRow[] {
  const past = all(sql.pastSaying, id, saying) as readonly (readonly unknown[])[] as LogRow[]
  const done = one(sql.doneLog, id, id) as LogRow | undefined
  return done === undefined ? past : [...past, done]
}

const ALL = Number.MAX_SAFE_INTEGER

type NamedBody = readonly [name: string, text: string]

/** A name that ends in `/` stands for all that begin with it. */
function bodiesNamed(ledger: Ledger, id: number, name: string): readonly NamedBody[] {
  const { sql } = ledger
  if (name.endsWith('/')) {
    const plain = all(sql.bodiesFrom, id, name, after(name))
    const begin = `\u0001${JSON.stringify(name).slice(0, -1)}`
    return [...plain, ...all(sql.bodiesFrom, id, begin, after(begin))] as readonly (readonly unknown[])[] as NamedBody[]
  }
  const inline = name === 'input' ? one(sql.input, id) : name === 'output' ? one(sql.output, id, id) : undefined
  if (typeof inline?.[0] === 'string') return [[name, inline[0]]]
  const found = one(sql.body, id, name)
  return found === undefined ? [] : [[found[0] as string, found[1] as string]]
}

/** The first text after all that begin with this one, which ends in an ASCII character. */
const after = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1)

/** The stretches after a revision; the first event is in the job's own row, what a lease has not logged in the lease's. */
export function logOf(ledger: Ledger, job: JobRow, afterRev: number, limit: number): readonly LogRow[] {
  const { sql } = ledger
  const [id] = job
  const past = all(sql.pastFrom, id, afterRev, limit) as readonly (readonly unknown[])[] as LogRow[]
  const done = past.length < limit ? (one(sql.doneLog, id, id) as LogRow | undefined) : undefined
  return done === undefined || done[0] <= afterRev ? past : [...past, done]
}

export function log(ledger: Ledger, { id, afterRev, limit }: Asked<'log'>): Answered<'log'> {
  const job = ledger.whole(id)
  const purged = ledger.purged()
  return job === undefined ? { job: null, log: [], purged } : { job, log: logOf(ledger, job, afterRev, limit), purged }
}

/** The stretch an event is in: none for those told by the job's or the lease's row. */
export function logAt(ledger: Ledger, id: number, rev: number): LogRow | null {
  const { sql } = ledger
  const past = one(sql.pastAt, id, rev) ?? one(sql.doneLog, id, id)
  return past === undefined || (past[0] as number) < rev ? null : (past as LogRow & typeof past)
}

export function annotations(ledger: Ledger, id: Asked<'annotations'>): Answered<'annotations'> {
  return { texts: all(ledger.sql.annotations, id).map(([text]) => text as string), purged: ledger.purged() }
}

/** Jobs with this correlation id, or with events that have it, whole. */
export function correlated(ledger: Ledger, asked: Asked<'correlated'>): Answered<'correlated'> {
  const { sql } = ledger
  const ids = new Set<number>(asked.ownId === null ? [] : [asked.ownId])
  for (const [id] of all(sql.correlatedJobs, asked.correlation)) ids.add(id as number)
  for (const [id] of all(sql.echoes, asked.correlation)) ids.add(id as number)
  const found: LoadedRow[] = []
  for (const id of ids) {
    const job = ledger.whole(id)
    if (job === undefined || asked.kinds?.includes(job[1]) === false) continue
    found.push([job, [], logOf(ledger, job, 0, ALL)])
  }
  return { jobs: found, purged: ledger.purged() }
}
