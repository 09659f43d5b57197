/** Events by job, by type and time, by correlation. Oldest first; a cursor is the place of the last event shown. */
import { assert } from '../../core/assert.ts'
import { VERBOSE } from '../../core/compact.ts'
import type { Annotation, Event, EventType } from '../../core/event.ts'
import { evolve } from '../../core/evolve.ts'
import { idNumber } from '../../core/id.ts'
import { original } from '../codec/text.ts'
import type { EventQuery } from '../store.ts'
import { type LoadParts, logOf, whereabouts } from './load.ts'
import { keyText } from './new-row.ts'
import { enqueuedEvent, eventsOf, type LoggedCommit, unlogged } from './records.ts'
import { literal } from './uniform.ts'

export interface Page {
  readonly events: readonly Event[]
  readonly cursor: string | undefined
}

export async function eventsOfJob(parts: LoadParts, id: string, afterRev: number, limit: number): Promise<Page> {
  const number = idNumber(id) ?? 0
  const row = number === 0 ? undefined : (await whereabouts(parts, [number])).get(number)
  if (row === undefined) return { events: [], cursor: undefined }
  const later = (await logOf(parts, row)).filter((event) => event.rev > afterRev)
  const events = later.slice(0, limit)
  return { events, cursor: later.length > events.length ? String(events.at(-1)?.rev) : undefined }
}

export async function annotationsOf({ run, statements }: LoadParts, jobId: string): Promise<readonly Annotation[]> {
  const rows = await run(statements.annotations, [idNumber(jobId) ?? 0])
  return rows.map(([generation, attempt, command, at, actor, request, correlation]) => ({
    jobId,
    generation: Number(generation),
    attempt: Number(attempt),
    command: String(command) as Annotation['command'],
    at: Number(at),
    actor: original(String(actor)),
    requestId: original(String(request)),
    correlationId: original(String(correlation)),
  }))
}

type ByType = Extract<EventQuery, { by: 'type' }>
type ByCorrelation = Extract<EventQuery, { by: 'correlation' }>

export async function eventsByCorrelation(parts: LoadParts, query: ByCorrelation): Promise<Page> {
  const { correlationId, tenant, limit } = query
  const rows = await parts.run(parts.statements.jobsCorrelated, [keyText(correlationId), idNumber(correlationId) ?? 0])
  const wanted = (event: Event) => event.correlationId === correlationId
  const found = await logged(
    parts,
    rows.map(([id]) => Number(id)),
    tenant,
    wanted,
  )
  return paged(found, query.cursor, limit)
}

/** Events are found by the commit that wrote them, and some are older than it: an implicit start, a claim, heartbeats. */
const SLACK_MS = 600_000
const EARLIER: ReadonlySet<EventType> = new Set(['started', 'claimed', 'heartbeat'])
const WINDOW_MS = 1_000
const CANDIDATES = 5_000

/** What the index of long logs has. */
const IS_VERBOSE: ReadonlySet<EventType> = new Set(VERBOSE)

/** What a plain success consists of; other types are found without looking at those. */
const PLAIN: ReadonlySet<EventType> = new Set(['claimed', 'started', 'succeeded', 'heartbeat'])

/** Time is walked in windows that grow while they hold little and shrink where they hold too much. */
export async function eventsByType(parts: LoadParts, query: ByType): Promise<Page> {
  const { types, tenant, to, limit } = query
  const cursor = query.cursor === undefined ? undefined : placeFrom(query.cursor)
  const events: Event[] = []
  if (types.length === 0) return { events, cursor: undefined }
  let from = Math.max(query.from, cursor?.[0] ?? query.from)
  for (let windowMs = WINDOW_MS; from < to; ) {
    const until = Math.min(to, from + windowMs)
    const ids = await candidates(parts, types, from, until)
    if (ids.length >= CANDIDATES && windowMs > 1) {
      windowMs = Math.max(1, Math.floor(windowMs / 4))
      continue
    }
    const wanted = (event: Event) => types.includes(event.type) && event.at >= from && event.at < until
    const found = await logged(parts, ids, tenant, wanted)
    events.push(...found.filter((event) => cursor === undefined || compare(cursor, placeOf(event)) < 0))
    if (events.length > limit) return paged(events, undefined, limit)
    from = until
    windowMs *= 4
  }
  return { events, cursor: undefined }
}

async function candidates({ run, statements }: LoadParts, types: readonly EventType[], from: number, to: number) {
  const sources = types.map(sourceOf).join('')
  const odd = !types.some((type) => PLAIN.has(type))
  const slackMs = types.some((type) => EARLIER.has(type)) ? SLACK_MS : 0
  const values = [sources, odd, Math.ceil(from), Math.ceil(to), slackMs, CANDIDATES]
  return (await run(statements.jobsBetween, values)).map(([id]) => Number(id))
}

function sourceOf(type: EventType): string {
  if (type === 'enqueued') return 'e'
  if (type === 'claimed') return 'cp'
  return IS_VERBOSE.has(type) ? 'v' : 'p'
}

/** The wanted events of these jobs, oldest first. */
async function logged(
  parts: LoadParts,
  ids: readonly number[],
  tenant: string | undefined,
  wanted: (event: Event) => boolean,
): Promise<readonly Event[]> {
  const events: Event[] = []
  for (let i = 0; i < ids.length; i += JOBS) {
    const some = ids.slice(i, i + JOBS)
    const rows = await whereabouts(parts, some)
    const commits = await histories(parts, some)
    for (const [id, row] of rows) {
      if (tenant !== undefined && row.kind.tenant !== tenant) continue
      const born = enqueuedEvent(row)
      const log: Event[] = [born]
      let job = evolve(undefined, born)
      const add = (more: readonly Event[]) => {
        for (const event of more) {
          log.push(event)
          job = evolve(job, event)
        }
      }
      for (const commit of commits.get(id) ?? []) add(eventsOf(job, commit))
      add(unlogged(job, row.claim, row.beats))
      for (const event of log) if (wanted(event)) events.push(event)
    }
  }
  return events.sort((a, b) => compare(placeOf(a), placeOf(b)))
}

const JOBS = 500

async function histories(
  { run, statements }: LoadParts,
  ids: readonly number[],
): Promise<ReadonlyMap<number, LoggedCommit[]>> {
  const found = new Map<number, LoggedCommit[]>()
  for (const [job, , claim, beats, events] of await run(statements.histories, [literal(ids)])) {
    const commit = [json(claim), json(beats), String(events)] as LoggedCommit
    const commits = found.get(Number(job))
    if (commits === undefined) found.set(Number(job), [commit])
    else commits.push(commit)
  }
  return found
}

const json = (value: unknown): unknown => (typeof value === 'string' ? JSON.parse(value) : null)

function paged(found: readonly Event[], cursor: string | undefined, limit: number): Page {
  const after = cursor === undefined ? undefined : placeFrom(cursor)
  const later = after === undefined ? found : found.filter((event) => compare(after, placeOf(event)) < 0)
  const events = later.slice(0, limit)
  const last = events.at(-1)
  return { events, cursor: later.length > events.length && last !== undefined ? placeOf(last).join('.') : undefined }
}

type Place = readonly [at: number, job: number, rev: number]

const placeOf = (event: Event): Place => [event.at, idNumber(event.jobId) ?? 0, event.rev]

const compare = (a: Place, b: Place): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]

function placeFrom(cursor: string): Place {
  const [at, job, rev] = cursor.split('.').map(Number)
  assert([at, job, rev].every(Number.isSafeInteger), `not a cursor of this store: ${cursor}`)
  return [at as number, job as number, rev as number]
}
