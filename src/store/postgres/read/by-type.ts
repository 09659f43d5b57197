/**
 * Events of some types in a span of time, in the order of what told of them: a birth, a claim, a commit. Some are a little
 * older than their commit: an implicit start, heartbeats. Time is walked in windows that grow while they hold little and
 * shrink where they hold too much; of what is in them no more is read than it takes to fill the page.
 */

import { assert } from '../../../core/assert.ts'
import type { Event, EventType } from '../../../core/event.ts'
import { isPlainType } from '../../codec/plain-end.ts'
import { storable } from '../../codec/text.ts'
import type { EventQuery } from '../../store.ts'
import { literal } from '../batch/uniform.ts'
import type { Row } from '../connection/client.ts'
import { ledBy } from '../names/led.ts'
import { type LoadParts, whereabouts } from './load.ts'
import { commitsAt, type Page } from './logs.ts'
import { enqueuedEvent, unloggedIn } from './records.ts'
import { eventsIn, type Stretch } from './stretch.ts'

type Query = Extract<EventQuery, { by: 'type' }>

/** An event is at most this much older than the commit that writes it: a start, or a heartbeat of a long lease. */
const SLACK_MS = 600_000
const EARLIER: ReadonlySet<EventType> = new Set(['started', 'heartbeat'])

const WINDOW_MS = 1_000
/** Rows of a window at most, windows looked through for one page, and rows of them read; about. */
const ROWS_MOST = 1_000
const ROWS_LEAST = 100
const WINDOWS = 40
const READ = 2_000

/** The order of events: time of the commit, job, revision. A cursor is one of them: everything up to it was seen. */
type Place = readonly [at: number, job: number, rev: number]
const LAST = Number.MAX_SAFE_INTEGER

/** A row that has events. `rev`: of the commit; 0 for a claim that no commit has written down yet. */
interface Spot {
  readonly what: 'born' | 'claimed' | 'committed'
  readonly job: number
  readonly at: number
  readonly rev: number
}

/** Where the next window begins: a time, and within it a job. */
interface Moment {
  readonly at: number
  readonly job: number
}

export async function eventsByType(parts: LoadParts, query: Query): Promise<Page> {
  const { types, limit } = query
  const cursor = query.cursor === undefined ? FIRST : placeFrom(query.cursor)
  const end = Math.ceil(query.to) + (types.some((type) => EARLIER.has(type)) ? SLACK_MS : 0)
  const events: Event[] = []
  let last = cursor
  let next: Moment = cursor[0] < query.from ? { at: Math.ceil(query.from), job: 0 } : { at: cursor[0], job: cursor[1] }
  const sources = sourcesOf(parts, types)
  // Sources that all come in order are cut by rows, so the window may be as long as there is time.
  let windowMs = sources.every(({ ordered }) => ordered) ? end : WINDOW_MS
  const rows = Math.min(ROWS_MOST, Math.max(ROWS_LEAST, 2 * limit))
  let read = 0
  for (let windows = 0; types.length > 0 && next.at < end; windows += 1) {
    if (windows === WINDOWS || read >= READ) return { events, cursor: [next.at, next.job - 1, LAST].join('.') }
    const window = await look(sources, next, Math.min(end, next.at + windowMs), rows)
    if (window === undefined) {
      windowMs = Math.max(1, Math.floor(windowMs / 4))
      continue
    }
    const spots = window.spots.filter(({ at, job, rev }) => isAfter([at, job, rev === 0 ? LAST : rev], cursor))
    for await (const { at, event, job } of foundAt(parts, query, spots)) {
      const place: Place = [at, job, event.rev]
      if (!isAfter(place, cursor)) continue
      if (events.length === limit) return { events, cursor: last.join('.') }
      events.push(event)
      last = place
    }
    read += spots.length
    next = window.next
    windowMs *= 4
  }
  return { events, cursor: undefined }
}

const FIRST: Place = [0, 0, 0]

const isAfter = (a: Place, b: Place): boolean => (a[0] - b[0] || a[1] - b[1] || a[2] - b[2]) > 0

/** The spots of one window, in order, and where the next one begins; undefined where it holds more than `rows` and must be shorter. */
async function look(
  sources: readonly Source[],
  { at, job }: Moment,
  until: number,
  limit: number,
): Promise<{ readonly spots: readonly Spot[]; readonly next: Moment } | undefined> {
  const spots: Spot[] = []
  let next: Moment = { at: until, job: 0 }
  for (const { what, ordered, read } of sources) {
    const rows = await read(at, until, job, limit)
    for (const [id, when, rev] of rows) {
      // A claim that nobody can tell of any more has none.
      if (rev !== null) spots.push({ what, job: Number(id), at: Number(when), rev: Number(rev) })
    }
    if (rows.length < limit) continue
    // The page may have been cut within a moment, or within a job: what is last is looked at again.
    const [lastJob, lastAt] = [Number(rows.at(-1)?.[0]), Number(rows.at(-1)?.[1])]
    if (until - at === 1) next = earlier(next, { at, job: lastJob })
    else if (ordered && lastAt > at) next = earlier(next, { at: lastAt, job: 0 })
    else return undefined
  }
  assert(next.at > at || next.job > job, `a job has fewer than ${limit} commits in a millisecond`)
  const seen = spots.filter((spot) => isEarlier(spot, next) && !isEarlier(spot, { at, job }))
  return { spots: seen.sort((a, b) => a.at - b.at || a.job - b.job || a.rev - b.rev), next }
}

const isEarlier = (a: Moment, b: Moment): boolean => a.at < b.at || (a.at === b.at && a.job < b.job)
const earlier = (a: Moment, b: Moment): Moment => (isEarlier(b, a) ? b : a)

/** A table that has events of the wanted types. `ordered`: its rows come by time, so that the first of them are the earliest. */
interface Source {
  readonly what: Spot['what']
  readonly ordered: boolean
  readonly read: (from: number, until: number, job: number, limit: number) => Promise<readonly Row[]>
}

function sourcesOf({ run, statements }: LoadParts, types: readonly EventType[]): readonly Source[] {
  const source = (what: Spot['what'], statement: string, ordered: boolean, ...more: readonly string[]): Source => ({
    what,
    ordered,
    read: (from, until, job, limit) => run(statement, [from, until, job, limit, ...more]),
  })
  const sources: Source[] = []
  if (types.includes('enqueued')) sources.push(source('born', statements.bornBetween, false))
  if (types.includes('claimed')) sources.push(source('claimed', statements.claimedBetween, true))
  if (types.some(isPlainType)) sources.push(source('committed', statements.committedBetween, false))
  else if (types.some((type) => type !== 'enqueued'))
    sources.push(source('committed', statements.ledBetween, true, literal(ledBy(types))))
  return sources
}

interface Found {
  readonly job: number
  readonly at: number
  readonly event: Event
}

/** Read together: few at first, for one of them may fill the page. */
const TOGETHER_FIRST = 4
const TOGETHER_MOST = 200

/** The events of these spots, in their order, read as far as the caller takes them. */
async function* foundAt(parts: LoadParts, query: Query, spots: readonly Spot[]): AsyncGenerator<Found> {
  let together = TOGETHER_FIRST
  for (let i = 0; i < spots.length; i += together) {
    if (i > 0) together = Math.min(TOGETHER_MOST, 2 * together)
    const some = spots.slice(i, i + together)
    yield* foundAmong(parts, query, query.tenant === undefined ? some : await spotsOf(parts, query.tenant, some))
  }
}

async function* foundAmong(
  parts: LoadParts,
  { types, from, to }: Query,
  spots: readonly Spot[],
): AsyncGenerator<Found> {
  const unwritten = spots.filter(({ what, rev }) => what === 'born' || rev === 0).map(({ job }) => job)
  const rows = await whereabouts(parts, [...new Set(unwritten)])
  const written = spots.filter(({ what, rev }) => what !== 'born' && rev > 0)
  const places = written.map(({ job, rev }) => [job, rev] as const)
  const commits = new Map<string, Stretch>()
  for (const commit of await commitsAt(parts, places)) commits.set(`${commit.birth.id} ${commit.rev}`, commit)
  const wanted: ReadonlySet<EventType> = new Set(types)
  for (const { what, job, at, rev } of spots) {
    const row = rows.get(job)
    const commit = commits.get(`${job} ${rev}`)
    const events =
      what === 'born' ? row && [enqueuedEvent(row)] : commit === undefined ? row && unloggedIn(row) : eventsIn(commit)
    for (const event of events ?? []) {
      // A claim that its commit does not put in words is told by the claim.
      const isOwn = (what === 'claimed') === (event.type === 'claimed' && commit?.claim !== null)
      if (wanted.has(event.type) && isOwn && event.at >= from && event.at < to) yield { job, at, event }
    }
  }
}

async function spotsOf(
  { run, statements }: LoadParts,
  tenant: string,
  spots: readonly Spot[],
): Promise<readonly Spot[]> {
  const ids = literal([...new Set(spots.map(({ job }) => job))])
  const own = new Set((await run(statements.jobsOf, [storable(tenant), ids])).map(([id]) => Number(id)))
  return spots.filter(({ job }) => own.has(job))
}

function placeFrom(cursor: string): Place {
  const [at, job, rev] = cursor.split('.').map(Number)
  assert([at, job, rev].every(Number.isSafeInteger), `not a cursor of this store: ${cursor}`)
  return [at as number, job as number, rev as number]
}
