import { assert, unreachable } from '../../core/assert.ts'
import type { Annotation, Event } from '../../core/event.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { State } from '../../core/job.ts'
import { EVENT_CODES, EVENT_OF, STATE_OF } from '../codec/codes.ts'
import { lateOutcome } from '../codec/late-outcome.ts'
import { numbersIn } from '../codec/numbers.ts'
import { original, storable } from '../codec/text.ts'
import { EMPTY_PAGE } from '../empty-page.ts'
import type { EventPage, EventQuery, Tally } from '../store.ts'
import { eventsOf, type KindsByNumber } from './decode.ts'
import { type JobLog, jobIn } from './job-row.ts'
import { keyView, recounted } from './key-views.ts'
import type { Reader } from './reader.ts'

type Query<By extends EventQuery['by']> = Extract<EventQuery, { by: By }>

export async function events(reader: Reader, kinds: KindsByNumber, query: EventQuery): Promise<EventPage> {
  switch (query.by) {
    case 'job':
      return ofJob(reader, kinds, query)
    case 'annotation':
      return ofAnnotations(reader, query)
    case 'type':
      return ofTypes(reader, kinds, query)
    case 'correlation':
      return ofCorrelation(reader, kinds, query)
    case 'feed':
      return ofFeed(reader, kinds, query)
    case 'tally':
      return ofTally(reader, kinds, query)
    case 'backlog':
      return ofBacklog(reader, query)
    case 'keys':
      return ofKeys(reader, kinds, query)
    default:
      return unreachable(query)
  }
}

const page = (now: number, { purged }: { purged: number }, found: Partial<EventPage>): EventPage => ({
  now,
  ...EMPTY_PAGE,
  purged,
  ...found,
})

async function ofJob(reader: Reader, kinds: KindsByNumber, { id, afterRev, limit }: Query<'job'>): Promise<EventPage> {
  const { now, answered } = await reader.call('log', { id: idNumber(id) ?? 0, afterRev, limit })
  if (answered.found === null) return page(now, answered, {})
  const later = eventsAfter(answered.found, afterRev, kinds)
  const shown = later.slice(0, limit)
  const isEnd = later.length === shown.length && answered.found.complete
  return page(now, answered, { events: shown, cursor: isEnd ? undefined : String(shown.at(-1)?.rev ?? afterRev) })
}

/** Events after a revision. Those that only the lease has come after all stretches: where these are cut they are left out. */
export function eventsAfter({ job, log, complete }: JobLog, afterRev: number, kinds: KindsByNumber): readonly Event[] {
  const reach = complete ? Number.POSITIVE_INFINITY : (log.at(-1)?.[0] ?? afterRev)
  return eventsOf(job, log, kinds).filter(({ rev }) => rev > afterRev && rev <= reach)
}

async function ofAnnotations(reader: Reader, { id }: Query<'annotation'>): Promise<EventPage> {
  const { now, answered } = await reader.call('annotations', idNumber(id) ?? 0)
  return page(now, answered, { annotations: answered.texts.map(annotationIn) })
}

function annotationIn(text: string): Annotation {
  const parsed = JSON.parse(text) as Annotation
  return { ...parsed, outcome: lateOutcome(parsed.outcome) }
}

/** Each stretch is read once, whatever the number of events in it that are wanted. */
async function ofTypes(reader: Reader, kinds: KindsByNumber, query: Query<'type'>): Promise<EventPage> {
  const { now, answered } = await reader.call('typed', {
    types: query.types.map((type) => EVENT_CODES[type]),
    tenant: query.tenant ?? null,
    from: query.from,
    to: query.to,
    after: query.cursor === undefined ? null : numbersIn(query.cursor, 3),
    limit: query.limit,
  })
  const logs = new Map<number, ReadonlyMap<number, Event>>()
  for (const { job, log } of answered.jobs) {
    logs.set(jobIn(job).id, new Map(eventsOf(job, log, kinds).map((event) => [event.rev, event])))
  }
  const found = answered.found.flatMap(([job, rev]) => logs.get(job)?.get(rev) ?? [])
  // An event may have been compacted since the feed's index named it.
  const shown = found.filter(({ type }) => query.types.includes(type))
  return page(now, answered, { events: shown, cursor: answered.next?.join('.') })
}

async function ofCorrelation(reader: Reader, kinds: KindsByNumber, query: Query<'correlation'>): Promise<EventPage> {
  const { tenant, correlationId, limit, cursor } = query
  const after = cursor === undefined ? ([0, 0] as const) : numbersIn(cursor, 2)
  const [afterJob, afterRev] = after
  const { now, answered } = await reader.call('correlated', { tenant, correlationId, after, limit })
  const found = answered.jobs
    .flatMap((log) => eventsAfter(log, jobIn(log.job).id === afterJob ? afterRev : 0, kinds))
    .filter((event) => event.correlationId === correlationId)
  const shown = found.slice(0, limit)
  const last = shown.at(-1)
  const cut = found.length > shown.length && last !== undefined
  const next = cut ? [idNumber(last.jobId), last.rev] : answered.next
  return page(now, answered, { events: shown, cursor: next?.join('.') })
}

async function ofFeed(reader: Reader, kinds: KindsByNumber, { after, limit }: Query<'feed'>): Promise<EventPage> {
  const { now, answered } = await reader.call('feed', { after: after === undefined ? null : positionOf(after), limit })
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

const positionOf = (text: string): readonly [number, number] =>
  text === '' ? [0, 0] : numbersIn(text, 2, 'position of this feed')

async function ofTally(reader: Reader, kinds: KindsByNumber, query: Query<'tally'>): Promise<EventPage> {
  const { now, answered } = await reader.call('tally', query.tenant ?? null)
  const sums = new Map<string, Tally>()
  for (const [number, code, count] of answered.rows) {
    const { tenant, queue, type } = kinds.get(number)
    if (query.queue !== undefined && queue !== query.queue) continue
    const state = STATE_OF[code] as State
    const name = JSON.stringify([tenant, queue, type, state])
    sums.set(name, { tenant, queue, jobType: type, state, count: count + (sums.get(name)?.count ?? 0) })
  }
  const tally = [...sums.values()].filter(({ count }) => count !== 0)
  return page(now, answered, { tally, cursor: endOf(answered.end) })
}

async function ofBacklog(reader: Reader, { lanes }: Query<'backlog'>): Promise<EventPage> {
  const { now, answered } = await reader.call('backlog', lanes)
  const due = answered.rows.filter(([, , since]) => since <= now)
  const backlog = due.map(([tenant, queue, since]) => ({ tenant: original(tenant), queue: original(queue), since }))
  return page(now, answered, { backlog })
}

async function ofKeys(reader: Reader, kinds: KindsByNumber, query: Query<'keys'>): Promise<EventPage> {
  const { tenant, names, limit, cursor, recount } = query
  const { now, answered } = await reader.call('keys', {
    tenant: storable(tenant),
    names: names?.map(storable) ?? null,
    after: storable(cursor ?? ''),
    limit,
  })
  const found = answered.views.map((view) => keyView(tenant, view))
  const keys = recount === true ? await recounted(reader, kinds, found) : found
  const isPage = names === undefined && found.length === limit
  return page(now, answered, { keys, cursor: isPage ? found.at(-1)?.key : undefined })
}
