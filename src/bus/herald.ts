/**
 * Tells the bus what happens to jobs, as CloudEvents, and of dead letters under a subject of their own. Follows the feed of the store from
 * where the stream of events ends, so that it needs no memory of its own; two that tell at once tell the same, which the stream has once.
 */
import type { Event } from '../core/event.ts'
import { deadLetterStates } from '../core/job.ts'
import type { Engine } from '../engine/engine.ts'
import { eventToWire } from '../gateway/contract/wire.ts'
import type { FeedItem } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { Link } from './link.ts'
import { everyEvent, streamsOf, subjectsOf, turnOf } from './subjects.ts'
import { ASK_AGAIN_MS, Turn } from './turn.ts'

export interface HeraldParts {
  readonly link: Link
  readonly engine: Pick<Engine, 'events'>
  readonly tenant: string
  readonly timers: Timers
  readonly monotonicMs: () => number
  readonly log: Log
}

const PAGE = 200
const EVERY_MS = 500
/** The header that says up to where the feed has been told. */
export const POSITION = 'Pawl-Position'

export function herald(parts: HeraldParts): Service {
  const { link, tenant, timers, monotonicMs, log } = parts
  const turn = new Turn(link, turnOf(tenant).events, monotonicMs)
  /** Undefined: to be looked up. */
  let position: string | undefined
  const round = async () => {
    if (!(await turn.take())) {
      position = undefined
      return ASK_AGAIN_MS
    }
    position ??= await positionIn(parts)
    const { feed, cursor } = await parts.engine.events({ by: 'feed', after: position, limit: PAGE })
    const own = feed.filter((item) => item.tenant === tenant)
    const events = await eventsOf(parts, own)
    // One after the other: whoever reads the stream has a job's events in their order.
    for (const item of own) await told(parts, item, events.get(nameOf(item)))
    position = cursor ?? position
    return feed.length === PAGE ? 0 : EVERY_MS
  }
  return service({ name: 'bus events', everyMs: EVERY_MS, timers, log, round })
}

/** Where the stream of events ends; at the end of the feed, where it has none yet. */
async function positionIn({ link, engine, tenant }: HeraldParts): Promise<string | undefined> {
  const { events } = streamsOf(tenant)
  const last = await link.manager.streams
    .getMessage(events, { last_by_subj: everyEvent(tenant) })
    .catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code === NO_MESSAGE) return null
      throw error
    })
  const position = last?.header.get(POSITION)
  return position || (await engine.events({ by: 'feed', after: undefined, limit: 1 })).cursor
}

/** JetStream's code for: there is none. */
const NO_MESSAGE = 10037

const nameOf = ({ jobId, rev }: Pick<FeedItem, 'jobId' | 'rev'>): string => `${jobId}/${rev}`

async function eventsOf({ engine }: HeraldParts, items: readonly FeedItem[]): Promise<ReadonlyMap<string, Event>> {
  const found = new Map<string, Event>()
  for (const [id, some] of Map.groupBy(items, ({ jobId }) => jobId)) {
    const revs = some.map(({ rev }) => rev)
    const first = Math.min(...revs)
    const { events } = await engine.events({
      by: 'job',
      id,
      afterRev: first - 1,
      limit: Math.max(...revs) - first + 1,
    })
    for (const event of events) found.set(nameOf(event), event)
  }
  return found
}

/** Those that failed among them: on the bus nobody asks for the one list or the other. */
const DEAD: ReadonlySet<string> = new Set(deadLetterStates(true))

async function told({ link, tenant }: HeraldParts, item: FeedItem, event: Event | undefined): Promise<void> {
  // It has been purged meanwhile, with all that is known of it.
  if (event === undefined) return
  const { event: subjectOf, dead } = subjectsOf(tenant)
  const text = JSON.stringify(cloudEvent(tenant, item, event))
  const headers = link.headers({ [POSITION]: item.position, 'Content-Type': 'application/cloudevents+json' })
  await link.jetstream.publish(subjectOf(item.type, item.queue), text, { msgID: nameOf(item), headers })
  if (event.to !== undefined && DEAD.has(event.to))
    await link.jetstream.publish(dead(item.queue), text, { msgID: `dead/${nameOf(item)}`, headers })
}

export const cloudEvent = (tenant: string, { queue, jobType }: FeedItem, event: Event) => ({
  specversion: '1.0',
  id: nameOf(event),
  source: `/pawl/${encodeURIComponent(tenant)}/${encodeURIComponent(queue)}`,
  type: `pawl.job.${event.type}`,
  subject: event.jobId,
  time: new Date(event.at).toISOString(),
  datacontenttype: 'application/json',
  jobtype: jobType,
  data: eventToWire(event),
})
