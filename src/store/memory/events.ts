import { assert, unreachable } from '../../core/assert.ts'
import type { Event, EventType } from '../../core/event.ts'
import { idText } from '../../core/id.ts'
import type { Time } from '../../core/job.ts'
import { EMPTY_PAGE } from '../empty-page.ts'
import { type Backlog, type EventPage, type EventQuery, queueKey } from '../store.ts'
import type { Shelf, Shelves } from './shelves.ts'
import { firstOf, type Sorted } from './sorted.ts'

/** Events looked at for one page at most. */
const LOOKED_AT = 10_000

type Query<By extends EventQuery['by']> = Extract<EventQuery, { by: By }>

export function events(shelves: Shelves, query: EventQuery, now: Time): EventPage {
  const nothing: EventPage = { now, ...EMPTY_PAGE, purged: shelves.purged }
  switch (query.by) {
    case 'job':
      return { ...nothing, ...ofJob(shelves.jobs.get(query.id), query) }
    case 'annotation':
      return { ...nothing, annotations: [...(shelves.jobs.get(query.id)?.annotations ?? [])] }
    case 'type':
      return { ...nothing, ...ofTypes(shelves, query) }
    case 'correlation':
      return { ...nothing, ...ofCorrelation(shelves, query) }
    case 'feed':
      return { ...nothing, ...fromFeed(shelves, query) }
    case 'tally':
      return { ...nothing, tally: tallied(shelves, query), cursor: feedEnd(shelves) }
    case 'backlog':
      return { ...nothing, backlog: backlog(shelves, query.lanes, now) }
    case 'keys':
      return { ...nothing, ...ofKeys(shelves, query) }
    default:
      return unreachable(query)
  }
}

function ofKeys({ hall }: Shelves, { tenant, names, limit, cursor, recount }: Query<'keys'>): Partial<EventPage> {
  const all = names ?? hall.names(tenant).filter((name) => cursor === undefined || name > cursor)
  const page = all.slice(0, limit)
  const views = page.map((name) => hall.view(tenant, name)).filter((view) => view !== undefined)
  const keys = recount === true ? views.map((view) => ({ ...view, recount: hall.recount(tenant, view.key) })) : views
  return { keys, cursor: all.length > limit ? page.at(-1) : undefined }
}

/** A lane is there while it has jobs. */
const NOBODY = { name: '', at: Number.POSITIVE_INFINITY }

function backlog({ lanes, hall, jobs }: Shelves, most: number, now: Time): readonly Backlog[] {
  const found = new Map<string, Backlog>()
  let looked = 0
  for (const lane of [...lanes.all(), ...hall.lanes.all()]) {
    if (looked === most) break
    looked += 1
    const { name, at } = lane.first() ?? NOBODY
    const kind = jobs.get(name)?.job.spec.kind
    if (kind === undefined || at > now) continue
    const { tenant, queue } = kind
    const key = queueKey(tenant, queue)
    found.set(key, { tenant, queue, since: Math.min(at, found.get(key)?.since ?? at) })
  }
  return [...found.values()]
}

function ofJob(shelf: Shelf | undefined, { afterRev, limit }: Query<'job'>): Partial<EventPage> {
  if (shelf === undefined) return {}
  const first = firstAfter(shelf, afterRev)
  const page = shelf.events.slice(first, first + limit)
  return { events: page, cursor: first + limit < shelf.events.length ? String(page.at(-1)?.rev) : undefined }
}

const firstAfter = ({ events }: Shelf, rev: number): number =>
  firstOf(events.length, (index) => (events[index] as Event).rev > rev)

/** Oldest first: the moments of the feed, in the order of their times. A cursor is the last moment looked at. */
function ofTypes(shelves: Shelves, query: Query<'type'>): Partial<EventPage> {
  const [at, position] = query.cursor === undefined ? [query.from, 0] : numbersOf(query.cursor)
  const types: ReadonlySet<EventType> = new Set(query.types)
  const found: Event[] = []
  let last = query.cursor
  const { moments } = shelves
  for (let index = moments.place({ at, position: position + 1 }), looked = 0; ; index += 1, looked += 1) {
    const moment = moments.at(index)
    if (moment === undefined || moment.at >= query.to) return { events: found }
    if (found.length === query.limit || looked === LOOKED_AT) return { events: found, cursor: last }
    last = `${moment.at}.${moment.position}`
    const event = types.size === 0 ? undefined : eventAt(shelves, moment.position, types, query.tenant)
    if (event !== undefined) found.push(event)
  }
}

/** The event of a feed item; undefined where it has been compacted, or has become part of a later heartbeat. */
function eventAt(
  { feed, feedStart, jobs }: Shelves,
  position: number,
  types: ReadonlySet<EventType>,
  tenant: string | undefined,
): Event | undefined {
  const item = feed[position - feedStart]
  if (item === undefined || !types.has(item.type) || (tenant !== undefined && item.tenant !== tenant)) return undefined
  const shelf = jobs.get(item.jobId)
  const event = shelf?.events[firstAfter(shelf, item.rev - 1)]
  return event?.rev === item.rev && event.type === item.type ? event : undefined
}

/** Job by job; a cursor is the last job and revision looked at. */
function ofCorrelation(shelves: Shelves, query: Query<'correlation'>): Partial<EventPage> {
  const { correlationId, limit } = query
  const [number, rev] = query.cursor === undefined ? [0, 0] : numbersOf(query.cursor)
  const found: Event[] = []
  let last = query.cursor
  let looked = 0
  for (const next of numbersFrom(shelves.correlated(correlationId, query.tenant), number)) {
    const shelf = shelves.jobs.get(idText(next)) as Shelf
    for (let index = next === number ? firstAfter(shelf, rev) : 0; index < shelf.events.length; index += 1) {
      const event = shelf.events[index] as Event
      if (found.length === limit || looked === LOOKED_AT) return { events: found, cursor: last }
      looked += 1
      last = `${next}.${event.rev}`
      if (event.correlationId === correlationId) found.push(event)
    }
  }
  return { events: found }
}

/** The numbers of several sorted lists in one order, from `first` on. */
function* numbersFrom(lists: readonly Sorted<number>[], first: number): Generator<number> {
  const places = lists.map((list) => list.place(first))
  for (;;) {
    const heads = lists.map((list, i) => list.at(places[i] as number) ?? Number.POSITIVE_INFINITY)
    const least = Math.min(...heads)
    if (least === Number.POSITIVE_INFINITY) return
    for (const [i, head] of heads.entries()) if (head === least) places[i] = (places[i] as number) + 1
    yield least
  }
}

function numbersOf(cursor: string): readonly [number, number] {
  const [first, second] = cursor.split('.').map(Number)
  assert(Number.isSafeInteger(first) && Number.isSafeInteger(second), `not a cursor of this store: ${cursor}`)
  return [first as number, second as number]
}

function fromFeed(shelves: Shelves, { after, limit }: Query<'feed'>): Partial<EventPage> {
  if (after === undefined) return { cursor: feedEnd(shelves) }
  const seen = after === '' ? 0 : Number(after)
  assert(Number.isSafeInteger(seen), `not a position of this feed: ${after}`)
  const start = Math.max(0, seen + 1 - shelves.feedStart)
  const feed = shelves.feed.slice(start, start + limit)
  return { feed, cursor: feed.at(-1)?.position ?? after }
}

const feedEnd = ({ feed, feedStart }: Shelves): string => String(feedStart + feed.length - 1)

const tallied = ({ tally }: Shelves, query: Query<'tally'>): EventPage['tally'] =>
  [...tally.values()].filter(
    ({ tenant, queue }) =>
      (query.tenant === undefined || tenant === query.tenant) && (query.queue === undefined || queue === query.queue),
  )
