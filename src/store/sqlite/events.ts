import { assert, unreachable } from '../../core/assert.ts'
import type { Annotation, Event } from '../../core/event.ts'
import { hash32 } from '../../core/hash.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { State } from '../../core/job.ts'
import { EVENT_CODES, EVENT_OF, STATE_OF } from '../codec/codes.ts'
import { original } from '../codec/text.ts'
import type { EventPage, EventQuery, Tally } from '../store.ts'
import type { Channel } from './channel.ts'
import { eventsOf } from './decode.ts'
import { kindsWanted } from './find.ts'
import type { Kinds } from './kinds.ts'
import type { Spot } from './protocol.ts'

type Query<By extends EventQuery['by']> = Extract<EventQuery, { by: By }>

export async function events(channel: Channel, kinds: Kinds, query: EventQuery): Promise<EventPage> {
  switch (query.by) {
    case 'job':
      return ofJob(channel, kinds, query)
    case 'annotation':
      return ofAnnotations(channel, query)
    case 'type':
      return ofTypes(channel, kinds, query)
    case 'correlation':
      return ofCorrelation(channel, kinds, query)
    case 'feed':
      return ofFeed(channel, kinds, query)
    case 'tally':
      return ofTally(channel, kinds)
    case 'backlog':
      return ofBacklog(channel, query)
    default:
      return unreachable(query)
  }
}

const page = (now: number, { purged }: { purged: number }, found: Partial<EventPage>): EventPage => ({
  now,
  events: [],
  annotations: [],
  feed: [],
  tally: [],
  backlog: [],
  purged,
  cursor: undefined,
  ...found,
})

async function ofJob(channel: Channel, kinds: Kinds, { id, afterRev, limit }: Query<'job'>): Promise<EventPage> {
  // A stretch has at least one event, so as many stretches as events wanted, and one, are enough.
  const { now, answered } = await channel.call('log', { id: idNumber(id) ?? 0, afterRev, limit: limit + 1 })
  const { job, log } = answered
  const later = job === null ? [] : eventsOf(job, log, kinds).filter(({ rev }) => rev > afterRev)
  const shown = later.slice(0, limit)
  const cursor = later.length > shown.length ? String(shown.at(-1)?.rev) : undefined
  return page(now, answered, { events: shown, cursor })
}

async function ofAnnotations(channel: Channel, { id }: Query<'annotation'>): Promise<EventPage> {
  const { now, answered } = await channel.call('annotations', idNumber(id) ?? 0)
  return page(now, answered, { annotations: answered.texts.map((text) => JSON.parse(text) as Annotation) })
}

async function ofTypes(channel: Channel, kinds: Kinds, query: Query<'type'>): Promise<EventPage> {
  const { now, answered } = await channel.call('typed', {
    types: query.types.map((type) => EVENT_CODES[type]),
    kinds: await kindsWanted(channel, kinds, { tenant: query.tenant }),
    from: query.from,
    to: query.to,
    after: query.cursor === undefined ? null : spotOf(query.cursor),
    limit: query.limit,
  })
  const found: Event[] = []
  for (const [[, , rev], job, log] of answered.found) {
    const event = eventsOf(job, log === null ? [] : [log], kinds).find((each) => each.rev === rev)
    // It may have been compacted since.
    if (event !== undefined && query.types.includes(event.type)) found.push(event)
  }
  return page(now, answered, { events: found, cursor: answered.next?.join('.') })
}

/** All that share a correlation id belong together and are read together; the page is cut from them. */
async function ofCorrelation(channel: Channel, kinds: Kinds, query: Query<'correlation'>): Promise<EventPage> {
  const { correlationId, limit } = query
  const { now, answered } = await channel.call('correlated', {
    correlation: hash32(correlationId),
    ownId: idNumber(correlationId) ?? null,
    kinds: await kindsWanted(channel, kinds, { tenant: query.tenant }),
  })
  const after = query.cursor === undefined ? undefined : spotOf(query.cursor)
  const found = answered.jobs
    .flatMap(([job, , log]) => eventsOf(job, log, kinds))
    .filter((event) => event.correlationId === correlationId)
    .map((event) => ({ event, spot: [event.at, idNumber(event.jobId) ?? 0, event.rev] as const }))
    .filter(({ spot }) => after === undefined || compare(after, spot) < 0)
    .sort((a, b) => compare(a.spot, b.spot))
  const shown = found.slice(0, limit)
  const cursor = found.length > shown.length ? shown.at(-1)?.spot.join('.') : undefined
  return page(now, answered, { events: shown.map(({ event }) => event), cursor })
}

const compare = (a: Spot, b: Spot): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]

function spotOf(cursor: string): Spot {
  const [at, job, rev] = cursor.split('.').map(Number)
  assert(Number.isInteger(at) && Number.isInteger(job) && Number.isInteger(rev), `not a cursor: ${cursor}`)
  return [at as number, job as number, rev as number]
}

async function ofFeed(channel: Channel, kinds: Kinds, { after, limit }: Query<'feed'>): Promise<EventPage> {
  const { now, answered } = await channel.call('feed', { after: after === undefined ? null : positionOf(after), limit })
  const feed = answered.items.map(([position, index, id, rev, code, kind]) => {
    const { tenant, queue, type } = kinds.get(kind)
    const known = EVENT_OF[code]
    assert(known !== undefined, `an event type this version knows, not ${code}`)
    return { position: `${position}.${index}`, jobId: idText(id), rev, type: known, tenant, queue, jobType: type }
  })
  const cursor = after === undefined ? endOf(answered.end) : (feed.at(-1)?.position ?? after)
  return page(now, answered, { feed, cursor })
}

/** A position is an entry and a place in it; the end is before the first place of the entry to come. */
const endOf = (last: number): string => `${last + 1}.0`

function positionOf(text: string): readonly [number, number] {
  if (text === '') return [0, 0]
  const [position, index] = text.split('.').map(Number)
  assert(Number.isSafeInteger(position) && Number.isSafeInteger(index), `not a position of this feed: ${text}`)
  return [position as number, index as number]
}

async function ofTally(channel: Channel, kinds: Kinds): Promise<EventPage> {
  const { now, answered } = await channel.call('tally', null)
  const sums = new Map<string, Tally>()
  for (const [number, code, count] of answered.rows) {
    const { tenant, queue, type } = kinds.get(number)
    const state = STATE_OF[code] as State
    const name = JSON.stringify([tenant, queue, type, state])
    sums.set(name, { tenant, queue, jobType: type, state, count: count + (sums.get(name)?.count ?? 0) })
  }
  const tally = [...sums.values()].filter(({ count }) => count !== 0)
  return page(now, answered, { tally, cursor: endOf(answered.end) })
}

async function ofBacklog(channel: Channel, { lanes }: Query<'backlog'>): Promise<EventPage> {
  const { now, answered } = await channel.call('backlog', lanes)
  const backlog = answered.rows.map(([tenant, queue, since]) => ({
    tenant: original(tenant),
    queue: original(queue),
    since,
  }))
  return page(now, answered, { backlog })
}
