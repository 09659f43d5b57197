/**
 * Events of some types in a span of time, oldest first: sorted sets name entries of the log, the entries name jobs and revisions, and
 * of each job the stretch is read that has the event. So many entries are opened for a page and no more, whichever tenants they
 * are about.
 */
import type { Event } from '../../../core/event.ts'
import { EVENT_CODES } from '../../codec/codes.ts'
import { numbersIn } from '../../codec/numbers.ts'
import type { EventPage, EventQuery } from '../../store.ts'
import { word, words } from '../connection/reply.ts'
import { eventsOf } from '../job/decode.ts'
import { type Group, groupsIn } from './entry.ts'
import { nothing } from './page.ts'
import { type ReadParts, readLogs } from './read-log.ts'

type Query = Extract<EventQuery, { by: 'type' }>

/** An event's time, the entry it is in, and its place there. */
type Spot = readonly [at: number, seq: number, place: number]

interface Item {
  readonly spot: Spot
  readonly id: string
  readonly rev: number
}

/** Entries opened for one page, about; moments of a type read at a time; jobs read at a time. */
const ENTRIES = 200
const AHEAD = 64
const JOBS = 50

export async function byType(parts: ReadParts, query: Query): Promise<EventPage> {
  const { items, next, now } = await itemsOf(parts, query)
  const found: Event[] = []
  let purged = 0
  for (let first = 0; first === 0 || first < items.length; first += JOBS) {
    const some = items.slice(first, first + JOBS)
    const answer = await readLogs(
      parts,
      some.map(({ id, rev }) => ({ id, afterRev: rev - 1, most: 1 })),
    )
    purged = answer.purged
    for (const [i, { rev }] of some.entries()) {
      const log = answer.logs[i]
      // The job may have been purged since the log named it, the event compacted, or become part of a later heartbeat.
      const event = log && eventsOf(log.stored, log.stretches).find((each) => each.rev === rev)
      if (event !== undefined && query.types.includes(event.type)) found.push(event)
    }
  }
  return { ...nothing(now, purged), events: found, cursor: next?.join('.') }
}

interface Items {
  readonly now: number
  readonly items: readonly Item[]
  readonly next: Spot | undefined
}

async function itemsOf(parts: ReadParts, query: Query): Promise<Items> {
  const after = query.cursor === undefined ? undefined : numbersIn(query.cursor, 3)
  const items: Item[] = []
  const moments = new Moments(parts, query, after?.[0] ?? query.from)
  let last: Spot | undefined
  for (let opened = 0; ; opened += 1) {
    const moment = await moments.next()
    if (moment === undefined) return { now: moments.now, items, next: undefined }
    const [at, seq] = moment
    if (after !== undefined && (at < after[0] || (at === after[0] && seq < after[1]))) continue
    if (last !== undefined && opened >= ENTRIES) return { now: moments.now, items, next: last }
    for (const item of await wantedIn(parts, query, at, seq)) {
      const [, , place] = item.spot
      if (after !== undefined && at === after[0] && seq === after[1] && place <= after[2]) continue
      if (items.length === query.limit) return { now: moments.now, items, next: items.at(-1)?.spot }
      items.push(item)
    }
    last = [at, seq, Number.MAX_SAFE_INTEGER]
  }
}

async function wantedIn({ calls, kinds }: ReadParts, query: Query, at: number, seq: number): Promise<readonly Item[]> {
  const [, text] = await calls.call('entries', [String(seq)])
  const groups = groupsIn(word(text))
  await kinds.learn(groups.map(({ kind }) => kind))
  const codes = query.types.map((type) => EVENT_CODES[type])
  const isWanted = (group: Group): boolean =>
    group.at === at &&
    codes.includes(group.type) &&
    (query.tenant === undefined || kinds.get(group.kind).tenant === query.tenant)
  const found: Item[] = []
  let place = 0
  for (const group of groups) {
    for (const id of group.ids) {
      place += 1
      if (isWanted(group)) found.push({ spot: [at, seq, place], id, rev: group.rev })
    }
  }
  return found
}

type Moment = readonly [at: number, seq: number]

/** Times, and entries in which there is any of the types, in order, each once; read ahead. */
class Moments {
  readonly #parts: ReadParts
  readonly #to: number
  /** Of each type: what was read and not given, from which time it was read, and how many of that time were. */
  readonly #lines: { readonly code: string; rows: Moment[]; from: number; passed: number; isEnded: boolean }[]
  now = 0

  constructor(parts: ReadParts, { types, to }: Query, from: number) {
    this.#parts = parts
    this.#to = to
    this.#lines = types.map((type) => ({ code: EVENT_CODES[type], rows: [], from, passed: 0, isEnded: false }))
  }

  async next(): Promise<Moment | undefined> {
    await this.#read()
    let least: Moment | undefined
    for (const { rows } of this.#lines) {
      const first = rows[0]
      if (first !== undefined && (least === undefined || compare(first, least) < 0)) least = first
    }
    if (least === undefined) return undefined
    for (const { rows } of this.#lines) if (rows[0] !== undefined && compare(rows[0], least) === 0) rows.shift()
    return least
  }

  async #read(): Promise<void> {
    const empty = this.#lines.filter(({ rows, isEnded }) => rows.length === 0 && !isEnded)
    if (empty.length === 0 && this.now > 0) return
    const args = empty.flatMap(({ code, from, passed }) => [code, String(from), String(passed)])
    const answer = await this.#parts.calls.call('moments', [`(${this.#to}`, String(AHEAD), ...args])
    this.now = this.#parts.calls.timeIn(answer)
    for (const [i, line] of empty.entries()) {
      line.rows = words(answer[i + 1]).map(momentIn)
      line.isEnded = line.rows.length < AHEAD
      const lastAt = line.rows.at(-1)?.[0] ?? line.from
      const alike = line.rows.filter(([at]) => at === lastAt).length
      line.passed = lastAt === line.from ? line.passed + alike : alike
      line.from = lastAt
    }
  }
}

const compare = ([at, seq]: Moment, [otherAt, otherSeq]: Moment): number => at - otherAt || seq - otherSeq

/** A member is the entry's number and the time. */
function momentIn(member: string): Moment {
  const [seq, at] = member.split('.')
  return [Number(at), Number(seq)]
}
