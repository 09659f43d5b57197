/**
 * What happens, as it happens. A stream is a walk over the feed from a position, so it can be resumed anywhere with
 * `Last-Event-ID`; the server keeps nothing for a consumer but the page it is sending, and a consumer that does not
 * take it within a bounded time is cut off.
 */
import type { z } from 'zod'
import type { EventType } from '../../core/event.ts'
import { EVENT_TYPES } from '../../core/event.ts'
import type { EventQuery, FeedItem } from '../../store/store.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import type { eventsQuery } from '../contract/schemas.ts'
import { eventToWire } from '../contract/wire.ts'
import { Objected, objection } from '../problem.ts'
import { fromCursor } from './jobs.ts'

type Query = z.output<typeof eventsQuery>

const PAGE = 200
const LOOK_EVERY_MS = 1_000
const COMMENT_EVERY_MS = 15_000
/** A page that is not taken within this time ends the stream: the consumer comes back and goes on. */
const TAKE_WITHIN_MS = 30_000

export const streamEvents: Handler = async (call, parts) => {
  const query = call.query as Query
  for (const type of query.type ?? [])
    if (!isEventType(type))
      throw new Objected(
        objection('MALFORMED', 'No such event.', [
          { field: 'query.type', rule: `must be one of ${EVENT_TYPES.join(', ')}` },
        ]),
      )
  const streaming = (call.headers.get('accept') ?? '').includes('text/event-stream')
  return streaming ? stream(call, parts, query) : page(call, parts, query)
}

const isEventType = (type: string): type is EventType => (EVENT_TYPES as readonly string[]).includes(type)

/** By correlation, or by type and time. */
async function page(call: Call, { engine }: Parts, query: Query): Promise<Reply> {
  const { tenant } = call.token
  const { limit, cursor, after } = query
  if (after !== undefined) {
    const { feed, cursor: reached } = await fromCursor(after, 'after', () =>
      engine.events({
        by: 'feed',
        after: after === 'end' ? undefined : after,
        limit,
      }),
    )
    return json(200, { feed: feed.filter((item) => concerns(item, call, query)), cursor: reached })
  }
  // These pages do not say which queue an event is from, so who is bound to queues gets none.
  if (call.token.queues !== undefined)
    throw new Objected(objection('FORBIDDEN', 'The token is bound to queues: use the stream.'))
  const asked: EventQuery =
    query.correlationId === undefined
      ? {
          by: 'type',
          tenant,
          types: (query.type ?? EVENT_TYPES) as readonly EventType[],
          from: query.from ?? 0,
          to: query.to ?? engine.now() + 1,
          limit,
          cursor,
        }
      : { by: 'correlation', tenant, correlationId: query.correlationId, limit, cursor }
  const found = await fromCursor(cursor, 'cursor', () => engine.events(asked))
  return json(200, { events: found.events.map(eventToWire), cursor: found.cursor })
}

async function stream(call: Call, parts: Parts, query: Query): Promise<Reply> {
  const resume = call.headers.get('last-event-id') ?? query.last_event_id
  if (resume !== undefined && !/^[0-9a-zA-Z.:_-]{0,100}$/.test(resume))
    throw new Objected(objection('MALFORMED', 'Last-Event-ID is not one of ours.'))
  // Read once before anything is promised: a position that is not ours is told as such, not as a stream that ends.
  const { cursor } = await fromCursor(resume, 'last_event_id', () =>
    parts.engine.events({ by: 'feed', after: resume, limit: 1 }),
  )
  const start = resume ?? cursor ?? ''
  call.leave()
  const gone = new AbortController()
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => void pump(call, parts, query, start, controller, gone).catch(() => close(controller)),
      cancel: () => gone.abort(),
    },
    { highWaterMark: 1 },
  )
  call.signal.addEventListener('abort', () => gone.abort())
  return {
    status: 200,
    type: 'text/event-stream',
    body,
    headers: { 'X-Accel-Buffering': 'no', 'Cache-Control': 'no-cache' },
  }
}

async function pump(
  call: Call,
  parts: Parts,
  query: Query,
  start: string,
  controller: ReadableStreamDefaultController<Uint8Array>,
  gone: AbortController,
): Promise<void> {
  const { engine, wakes, clock, tokens } = parts
  const encoder = new TextEncoder()
  const secret = call.headers.get('authorization')?.slice('Bearer '.length)
  let position = start
  let quietSince = clock.monotonicMs()
  controller.enqueue(encoder.encode('retry: 1000\n\n'))
  while (!gone.signal.aborted) {
    if (!(await taken(controller, parts, gone.signal))) {
      // An end would wait behind what nobody takes, and the connection with it.
      call.hangUp()
      break
    }
    if (secret !== undefined && (await tokens.identify(secret)) === undefined) break
    const { feed, cursor } = await engine.events({ by: 'feed', after: position, limit: PAGE })
    const wanted = feed.filter((item) => concerns(item, call, query))
    const text = await frames(wanted, engine, query)
    // Even a page without anything for this consumer moves it on: its next reconnection starts there.
    if (text !== '') controller.enqueue(encoder.encode(text))
    position = cursor ?? position
    if (text !== '') quietSince = clock.monotonicMs()
    if (feed.length === PAGE) continue
    await wakes.next(LOOK_EVERY_MS, gone.signal)
    if (clock.monotonicMs() - quietSince >= COMMENT_EVERY_MS) {
      controller.enqueue(encoder.encode(': still here\n\n'))
      quietSince = clock.monotonicMs()
    }
  }
  close(controller)
}

/** Waits until the consumer has taken what was sent; false if it does not. */
async function taken(
  controller: ReadableStreamDefaultController<Uint8Array>,
  { clock, timers }: Parts,
  gone: AbortSignal,
): Promise<boolean> {
  const until = clock.monotonicMs() + TAKE_WITHIN_MS
  while ((controller.desiredSize ?? 0) <= 0) {
    if (gone.aborted || clock.monotonicMs() > until) return false
    await timers.sleep(20, gone)
  }
  return true
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

/** One frame per event, in feed order; each job's events are read once per page. */
async function frames(items: readonly FeedItem[], engine: Parts['engine'], query: Query): Promise<string> {
  const first = new Map<string, number>()
  for (const { jobId, rev } of items) first.set(jobId, Math.min(first.get(jobId) ?? rev, rev))
  const told = new Map<string, object>()
  await Promise.all(
    [...first].map(async ([id, rev]) => {
      const { events } = await engine.events({ by: 'job', id, afterRev: rev - 1, limit: 1_000 })
      for (const event of events) told.set(`${id}/${event.rev}`, { ...eventToWire(event) })
    }),
  )
  return items
    .map(({ position, jobId, rev, type, queue, jobType }) => {
      const event = told.get(`${jobId}/${rev}`) ?? { jobId, rev, type }
      if (
        query.correlationId !== undefined &&
        (event as { correlationId?: string }).correlationId !== query.correlationId
      )
        return ''
      return `id: ${position}\nevent: ${type}\ndata: ${JSON.stringify({ ...event, queue, jobType })}\n\n`
    })
    .join('')
}

function close(controller: ReadableStreamDefaultController<Uint8Array>): void {
  try {
    controller.close()
  } catch {
    // It is closed already: the consumer was faster.
  }
}
