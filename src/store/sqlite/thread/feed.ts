import type { Answered, Asked, FeedRows, Spot } from '../protocol.ts'
import type { LogRow } from '../rows.ts'
import type { Ledger } from './ledger.ts'
import { logAt } from './read.ts'
import { all, each, one, type Row } from './rows.ts'

/** `[rev, type, kind, at, job, job, …]` */
type Group = readonly [rev: number, type: string, kind: number, at: number, ...jobs: number[]]

const groupsOf = (items: unknown): readonly Group[] => JSON.parse(items as string) as readonly Group[]

export function feed(ledger: Ledger, { after, limit }: Asked<'feed'>): Answered<'feed'> {
  const end = one(ledger.sql.lastPosition)?.[0] as number
  const purged = ledger.purged()
  const items: FeedRows['items'][number][] = []
  if (after === null) return { items, end, purged }
  const [from, seen] = after
  // One after the other: an entry may hold a whole page.
  for (const [position, text] of each(ledger.sql.entriesFrom, from)) {
    let index = 0
    for (const [rev, type, kind, , ...jobs] of groupsOf(text)) {
      for (const id of jobs) {
        index += 1
        if (position === from && index <= seen) continue
        if (items.length === limit) return { items, end, purged }
        ledger.kinds.tell(kind)
        items.push([position as number, index, id, rev, type, kind])
      }
    }
  }
  return { items, end, purged }
}

export function tally(ledger: Ledger): Answered<'tally'> {
  const rows = all(ledger.sql.tally) as readonly (readonly unknown[])[] as readonly [number, string, number][]
  for (const [kind] of rows) ledger.kinds.tell(kind)
  const end = one(ledger.sql.lastPosition)?.[0] as number
  return { rows, end, purged: ledger.purged() }
}

/** Lane by lane, each by its first row: as many steps as there are lanes with something in them. */
export function backlog(ledger: Ledger, lanes: number): Answered<'backlog'> {
  const since = new Map<number, number>()
  let lane = -1
  for (let looked = 0; looked < lanes; looked += 1) {
    const first = one(ledger.sql.nextLane, lane)
    if (first === undefined) break
    lane = first[0] as number
    const at = first[1] as number
    const queue = Math.floor(lane / 10)
    if (at <= ledger.now) since.set(queue, Math.min(at, since.get(queue) ?? at))
  }
  const rows = [...since].map(([queue, at]): [string, string, number] => {
    const [tenant, name] = one(ledger.sql.queueNames, queue) as readonly [string, string]
    return [tenant, name, at]
  })
  return { rows, purged: ledger.purged() }
}

/** Marks looked at in one go; a page that needs more goes on from its cursor. */
const MARKS = 500

interface Mark {
  readonly type: string
  readonly at: number
  readonly position: number
}

/**
 * Events of some types in a span of time, oldest first. The index names the entries, the entries name the jobs. A
 * moment is opened whole or not at all, so that ties are ordered by job and revision, not by luck.
 */
export function typed(ledger: Ledger, asked: Asked<'typed'>): Answered<'typed'> {
  const { after, limit } = asked
  const kinds = asked.kinds === null ? undefined : new Set(asked.kinds)
  const { marks, reach } = marksOf(ledger, asked)
  const spots: Spot[] = []
  let moment = 0
  for (const { type, at, position } of marks) {
    if (at > reach || (at > moment && spots.length > limit)) break
    moment = at
    for (const spot of spotsIn(ledger, position, type, at, kinds)) {
      if (after === null || compare(after, spot) < 0) spots.push(spot)
    }
  }
  spots.sort(compare)
  const page = spots.slice(0, limit)
  const end: Spot | null = reach === Number.POSITIVE_INFINITY ? null : [reach, LAST, LAST]
  return {
    found: found(ledger, page),
    next: spots.length > limit ? (page.at(-1) ?? null) : end,
    purged: ledger.purged(),
  }
}

const LAST = Number.MAX_SAFE_INTEGER

/** In order of time; complete up to `reach`. */
function marksOf(
  ledger: Ledger,
  { types, from, to, after }: Asked<'typed'>,
): { marks: readonly Mark[]; reach: number } {
  const marks: Mark[] = []
  let reach = Number.POSITIVE_INFINITY
  for (const type of types) {
    const add = ([at, position]: Row) => marks.push({ type, at: at as number, position: position as number })
    const front = all(ledger.sql.marks, type, Math.max(from, after?.[0] ?? from), to, MARKS)
    front.forEach(add)
    const last = front.at(-1)
    if (last === undefined || front.length < MARKS) continue
    all(ledger.sql.marksAt, type, last[0] as number, last[1] as number).forEach(add)
    reach = Math.min(reach, last[0] as number)
  }
  return { marks: marks.sort((a, b) => a.at - b.at), reach }
}

function spotsIn(
  ledger: Ledger,
  position: number,
  wanted: string,
  time: number,
  kinds: ReadonlySet<number> | undefined,
): readonly Spot[] {
  const spots: Spot[] = []
  const items = one(ledger.sql.entryAt, position)?.[0]
  if (items === undefined) return spots
  for (const [rev, type, kind, at, ...jobs] of groupsOf(items)) {
    if (type !== wanted || at !== time || kinds?.has(kind) === false) continue
    for (const id of jobs) spots.push([at, id, rev])
  }
  return spots
}

function found(ledger: Ledger, spots: readonly Spot[]): Answered<'typed'>['found'] {
  const rows: [Spot, NonNullable<ReturnType<Ledger['whole']>>, LogRow | null][] = []
  for (const spot of spots) {
    const job = ledger.whole(spot[1])
    if (job !== undefined) rows.push([spot, job, logAt(ledger, spot[1], spot[2])])
  }
  return rows
}

export const compare = (a: Spot, b: Spot): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]
