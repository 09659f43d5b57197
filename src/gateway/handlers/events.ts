/** `GET /events`: what happens, as it happens, as a stream; or pages of it, by time, correlation or position. */
import type { z } from 'zod'
import { EVENT_TYPES, type EventType } from '../../core/event.ts'
import type { EventQuery, FeedItem } from '../../store/store.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import type { eventsQuery } from '../contract/queries.ts'
import { eventToWire } from '../contract/wire.ts'
import { eventForViewers, isMasked } from '../masking.ts'
import type { Positions } from '../positions.ts'
import { Objected, objection } from '../problem.ts'
import { EventWalk } from '../waiting/event-walk.ts'
import { fromCursor } from './jobs.ts'
import { paged } from './paged.ts'
import { isStreamWanted, streamed } from './streamed.ts'

type Query = z.output<typeof eventsQuery>
/** Which events, but for the stretch of them. */
type Asked = WithoutStretch<Extract<EventQuery, { by: 'type' | 'correlation' }>>
type WithoutStretch<Q> = Q extends unknown ? Omit<Q, 'limit' | 'cursor'> : never

export const streamEvents: Handler = async (call, parts) => {
  const query = call.query as Query
  for (const type of query.type ?? [])
    if (!isEventType(type))
      throw new Objected(
        objection('MALFORMED', 'No such event.', [
          { field: 'query.type', rule: `must be one of ${EVENT_TYPES.join(', ')}` },
        ]),
      )
  if (isStreamWanted(call)) return await stream(call, parts, query)
  const { token, signal } = call
  return await parts.reads.take({ holder: token, weight: 1, signal, work: () => page(call, parts, query) })
}

const isEventType = (type: string): type is EventType => (EVENT_TYPES as readonly string[]).includes(type)

/** However few are asked for: who goes through the feed one by one would count what others do. */
const FEED_LOOKED_AT = 1_000

/** Parts of a page by type that may be short: each looks at so many moments, few of which may have such events. */
const SHORT_PARTS = 4

/** One page of events: by correlation, by type and time, or of the feed from a position. */
async function page(call: Call, { engine, positions }: Parts, query: Query): Promise<Reply> {
  const { tenant } = call.token
  const { limit, cursor, after } = query
  if (after !== undefined) {
    const from = after === 'end' ? undefined : positionIn(after, positions, 'after')
    const { feed, cursor: reached } = await engine.events({ by: 'feed', after: from, limit: FEED_LOOKED_AT })
    const concerning = feed.filter((item) => concerns(item, call, query))
    const shown = concerning.slice(0, limit)
    const end = concerning.length > limit ? shown.at(-1)?.position : reached
    return json(200, {
      feed: shown.map((item) => ({ ...item, position: positions.seal(item.position) })),
      cursor: end === undefined || end === '' ? end : positions.seal(end),
    })
  }
  // These pages do not say which queue an event is from, so who is bound to queues gets none.
  if (call.token.queues !== undefined)
    throw new Objected(objection('FORBIDDEN', 'The token is bound to queues: use the stream.'))
  const asked: Asked =
    query.correlationId === undefined
      ? {
          by: 'type',
          tenant,
          types: (query.type ?? EVENT_TYPES) as readonly EventType[],
          from: query.from ?? 0,
          to: query.to ?? engine.now() + 1,
        }
      : { by: 'correlation', tenant, correlationId: query.correlationId }
  const found = await fromCursor(cursor, 'cursor', () =>
    paged(
      query,
      async (part) => {
        const { events: items, cursor: next } = await engine.events({ ...asked, ...part })
        return { items, cursor: next }
      },
      SHORT_PARTS,
    ),
  )
  const events = isMasked(call) ? found.items.map(eventForViewers) : found.items
  return json(200, { events: events.map(eventToWire), cursor: found.cursor })
}

/** Letters that are told to a stream for what it takes to understand one. */
const LETTERS_TOLD = 4

async function stream(call: Call, parts: Parts, query: Query): Promise<Reply> {
  const { token, signal } = call
  const { reads, rounds, feed, positions } = parts
  const resume = call.headers.get('last-event-id') ?? query.last_event_id
  const position = resume === undefined ? undefined : positionIn(resume, positions, 'last_event_id')
  const masked = isMasked(call)
  return await streamed(call, parts, async () => {
    const following = await feed.follow()
    const from = position ?? following.head
    return new EventWalk({
      following,
      position: from,
      opening: from === '' ? '' : `id: ${positions.seal(from)}\n`,
      wants: ({ item }) => concerns(item, call, query),
      frame: (frames) =>
        query.correlationId === undefined || frames.correlationId === query.correlationId ? frames.frame(masked) : '',
      inTurn: (work) => reads.take({ holder: token, weight: 1, signal, work }),
      paced: (letters) => rounds.take(`streams of ${token.tenant}`, letters / LETTERS_TOLD, false),
    })
  })
}

/** The beginning of all is empty; everything else was told by a gateway of this installation. */
function positionIn(text: string, positions: Positions, field: string): string {
  const position = text === '' ? '' : positions.open(text)
  if (position !== undefined) return position
  throw new Objected(
    objection('MALFORMED', 'The position is not one of ours.', [
      { field: `query.${field}`, rule: 'must be one that was told before, or empty' },
    ]),
  )
}

function concerns(item: FeedItem, { token }: Call, query: Query): boolean {
  return (
    item.tenant === token.tenant &&
    (token.queues === undefined || token.queues.includes(item.queue)) &&
    (query.type === undefined || query.type.includes(item.type)) &&
    (query.queue === undefined || query.queue.includes(item.queue)) &&
    (query.jobType === undefined || query.jobType.includes(item.jobType)) &&
    (query.jobId === undefined || query.jobId === item.jobId)
  )
}
