import { assert, unreachable } from '../../core/assert.ts'
import type { Event } from '../../core/event.ts'
import type { Time } from '../../core/job.ts'
import { type Backlog, type EventPage, type EventQuery, queueKey } from '../store.ts'
import type { Shelf, Shelves } from './shelves.ts'

export function events(shelves: Shelves, query: EventQuery, now: Time): EventPage {
  const nothing: EventPage = {
    now,
    events: [],
    annotations: [],
    feed: [],
    tally: [],
    backlog: [],
    purged: shelves.purged,
    cursor: undefined,
  }
  switch (query.by) {
    case 'job':
      return { ...nothing, ...ofJob(shelves.jobs.get(query.id), query) }
    case 'annotation':
      return { ...nothing, annotations: [...(shelves.jobs.get(query.id)?.annotations ?? [])] }
    case 'type':
    case 'correlation':
      return { ...nothing, ...acrossJobs(shelves, query) }
    case 'feed':
      return { ...nothing, ...fromFeed(shelves, query) }
    case 'tally':
      return { ...nothing, tally: [...shelves.tally.values()], cursor: feedEnd(shelves) }
    case 'backlog':
      return { ...nothing, backlog: backlog(shelves, query.lanes, now) }
    default:
      return unreachable(query)
  }
}

function backlog({ lanes, jobs }: Shelves, most: number, now: Time): readonly Backlog[] {
  const firsts = [...lanes.values()].map((lane) => lane.first()).filter((first) => first !== undefined)
  const found = new Map<string, Backlog>()
  for (const { name, at } of firsts.slice(0, most)) {
    const kind = jobs.get(name)?.job.spec.kind
    if (kind === undefined || at > now) continue
    const { tenant, queue } = kind
    const key = queueKey(tenant, queue)
    found.set(key, { tenant, queue, since: Math.min(at, found.get(key)?.since ?? at) })
  }
  return [...found.values()]
}

function ofJob(shelf: Shelf | undefined, { afterRev, limit }: { afterRev: number; limit: number }): Partial<EventPage> {
  const later = shelf?.events.filter((event) => event.rev > afterRev) ?? []
  const page = later.slice(0, limit)
  return { events: page, cursor: later.length > page.length ? String(page.at(-1)?.rev) : undefined }
}

type AcrossJobs = Extract<EventQuery, { by: 'type' | 'correlation' }>

/** Oldest first; a cursor is the place of the last event shown: its time, its job's number, its revision. */
function acrossJobs(shelves: Shelves, query: AcrossJobs): Partial<EventPage> {
  const after = query.cursor === undefined ? undefined : placeFromText(query.cursor)
  const found: { event: Event; place: Place }[] = []
  for (const { job, number, events } of shelves.jobs.values()) {
    if (query.tenant !== undefined && job.spec.kind.tenant !== query.tenant) continue
    for (const event of events) {
      const place: Place = [event.at, number, event.rev]
      if (wants(query, event) && (after === undefined || compare(after, place) < 0)) found.push({ event, place })
    }
  }
  found.sort((a, b) => compare(a.place, b.place))
  const page = found.slice(0, query.limit)
  const cursor = found.length > page.length ? page.at(-1)?.place.join('.') : undefined
  return { events: page.map(({ event }) => event), cursor }
}

const wants = (query: AcrossJobs, event: Event): boolean =>
  query.by === 'correlation'
    ? event.correlationId === query.correlationId
    : query.types.includes(event.type) && event.at >= query.from && event.at < query.to

type Place = readonly [at: Time, number: number, rev: number]

const compare = (a: Place, b: Place): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]

function placeFromText(cursor: string): Place {
  const [at, number, rev] = cursor.split('.').map(Number)
  assert(Number.isInteger(at) && Number.isInteger(number) && Number.isInteger(rev), `not a cursor: ${cursor}`)
  return [at as number, number as number, rev as number]
}

function fromFeed(shelves: Shelves, { after, limit }: Extract<EventQuery, { by: 'feed' }>): Partial<EventPage> {
  if (after === undefined) return { cursor: feedEnd(shelves) }
  const seen = after === '' ? 0 : Number(after)
  assert(Number.isSafeInteger(seen), `not a position of this feed: ${after}`)
  const start = Math.max(0, seen + 1 - shelves.feedStart)
  const feed = shelves.feed.slice(start, start + limit)
  return { feed, cursor: feed.at(-1)?.position ?? after }
}

const feedEnd = ({ feed, feedStart }: Shelves): string => String(feedStart + feed.length - 1)
