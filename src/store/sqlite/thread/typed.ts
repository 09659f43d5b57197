/**
 * Events of some types in a span of time, oldest first: the index of moments names entries of the feed, the entries name
 * jobs and revisions, and each stretch of a log that has some of them is read once. So many entries are opened for a page
 * and no more, whichever tenants they are about.
 */
import { storable } from '../../codec/text.ts'
import type { JobRow, LogRow } from '../job-row.ts'
import type { Answered, Asked, Spot } from '../protocol.ts'
import { type Group, groupsOf } from './feed.ts'
import type { Reading } from './reading.ts'
import { all, one, type Row } from './rows.ts'
import { Room, stretchAt } from './stretches.ts'

/** Entries opened for one page, and jobs named in them; about. */
const ENTRIES = 500
const ITEMS = 20_000
/** Moments of a type that are read ahead. */
const AHEAD = 64

interface Item {
  readonly spot: Spot
  readonly job: number
  readonly rev: number
}

export function typed(reading: Reading, asked: Asked<'typed'>): Answered<'typed'> {
  const { found, next } = itemsOf(reading, asked)
  return { ...logsOf(reading, found, next), purged: reading.purged() }
}

function itemsOf(reading: Reading, asked: Asked<'typed'>): { found: readonly Item[]; next: Spot | null } {
  const { limit } = asked
  const [afterAt, afterPosition, afterPlace] = asked.after ?? BEFORE_ALL
  const tenant = asked.tenant === null ? undefined : storable(asked.tenant)
  const types = new Set(asked.types)
  const found: Item[] = []
  const entries = new Map<number, readonly Group[]>()
  let looked = 0
  let last: Spot | undefined
  for (const [at, position] of momentsOf(reading, asked)) {
    if (last !== undefined && (entries.size >= ENTRIES || looked >= ITEMS)) return { found, next: last }
    const groups = entries.get(position) ?? groupsOf(one(reading.sql.entryAt, position)?.[0] ?? '[]')
    entries.set(position, groups)
    let place = 0
    for (const [rev, type, kind, happened, ...jobs] of groups) {
      looked += jobs.length
      if (happened !== at || !types.has(type) || (tenant !== undefined && reading.kinds.get(kind).tenant !== tenant)) {
        place += jobs.length
        continue
      }
      for (const job of jobs) {
        place += 1
        if (at === afterAt && position === afterPosition && place <= afterPlace) continue
        if (found.length === limit) return { found, next: found.at(-1)?.spot ?? null }
        found.push({ spot: [at, position, place], job, rev })
      }
    }
    last = [at, position, Number.MAX_SAFE_INTEGER]
  }
  return { found, next: null }
}

/** Times and entries in which there is any of the types, in order, each once. */
function* momentsOf({ sql }: Reading, { types, from, to, after }: Asked<'typed'>): Generator<Moment> {
  const [at, position] = after ?? BEFORE_ALL
  const begin: Moment = at < from ? [from, 0] : [at, position]
  const lines = types.map((type) => new Line((since) => all(sql.moments, type, ...since, to, AHEAD), begin))
  for (;;) {
    let next: Moment | undefined
    for (const line of lines) next = earlier(next, line.first())
    if (next === undefined) return
    for (const line of lines) line.pass(next)
    yield next
  }
}

type Moment = readonly [at: number, position: number]

const BEFORE_ALL: Spot = [Number.NEGATIVE_INFINITY, 0, 0]

const earlier = (a: Moment | undefined, b: Moment | undefined): Moment | undefined => {
  if (a === undefined || b === undefined) return a ?? b
  const [at, position] = a
  const [otherAt, otherPosition] = b
  return otherAt < at || (otherAt === at && otherPosition < position) ? b : a
}

/** The moments of one type, read ahead. */
class Line {
  readonly #read: (since: Moment) => readonly Row[]
  #since: Moment
  #rows: readonly Row[] = []
  #next = 0
  #ended = false

  constructor(read: (since: Moment) => readonly Row[], since: Moment) {
    this.#read = read
    this.#since = since
  }

  first(): Moment | undefined {
    if (this.#next === this.#rows.length && !this.#ended) {
      this.#rows = this.#read(this.#since)
      this.#next = 0
      this.#ended = this.#rows.length < AHEAD
    }
    const row = this.#rows[this.#next]
    return row && (row as Moment & Row)
  }

  pass([at, position]: Moment): void {
    const [firstAt, firstPosition] = this.first() ?? []
    if (firstAt !== at || firstPosition !== position) return
    this.#next += 1
    this.#since = [at, position + 1]
  }
}

/** The jobs of these items, with each stretch of their logs that has one of them, as far as there is room. */
function logsOf(reading: Reading, items: readonly Item[], end: Spot | null): Omit<Answered<'typed'>, 'purged'> {
  const room = new Room(Number.POSITIVE_INFINITY)
  const logs = new Map<number, Stretched | undefined>()
  const found: [job: number, rev: number][] = []
  let next = end
  for (const [i, { job, rev }] of items.entries()) {
    if (room.isFull) {
      next = items[i - 1]?.spot ?? end
      break
    }
    if (!logs.has(job)) logs.set(job, stretched(reading, job))
    const log = logs.get(job)
    // The job may have been purged since the feed named it.
    if (log === undefined) continue
    found.push([job, rev])
    if (rev === 1 || log.reaches.some(([from, to]) => from <= rev && rev <= to)) continue
    const stretch = stretchAt(reading, job, rev)
    if (stretch === undefined) continue
    room.take(stretch)
    log.stretches.push(stretch)
    log.reaches.push([rev, stretch[0]])
  }
  const jobs = [...logs.values()].flatMap((log) =>
    log === undefined ? [] : [{ job: log.row, log: log.stretches, complete: true }],
  )
  return { jobs, found, next }
}

interface Stretched {
  readonly row: JobRow
  readonly stretches: LogRow[]
  /** Revisions that are in one of them for certain. */
  readonly reaches: (readonly [from: number, to: number])[]
}

function stretched(reading: Reading, job: number): Stretched | undefined {
  const row = reading.whole(job)
  return row && { row, stretches: [], reaches: [] }
}
