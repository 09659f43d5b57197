/** Reading jobs. Lists carry no payloads; one job does, unless the token is a viewer's. */

import type { z } from 'zod'
import { errorBody } from '../../core/body.ts'
import { log } from '../../core/dialects/history.ts'
import type { Reading } from '../../core/dialects/registry.ts'
import { valueIn, view } from '../../core/dialects/view.ts'
import type { Annotation, Event } from '../../core/event.ts'
import { withoutNonce } from '../../core/fence.ts'
import type { Job } from '../../core/job.ts'
import { isIn } from '../../core/recast.ts'
import { refuse } from '../../core/refuse.ts'
import type { Engine } from '../../engine/engine.ts'
import { namedByStart } from '../../engine/named-by-start.ts'
import { isFound, narrowedBy } from '../../engine/search.ts'
import type { JobQuery, Loaded } from '../../store/store.ts'
import { type Call, type Handler, json, type Parts, type Reply } from '../call.ts'
import type { dialect, jobEventsQuery, jobQuery, jobsQuery } from '../contract/queries.ts'
import { eventToWire, jobToWire, toWire, withoutNonces } from '../contract/wire.ts'
import { eventForViewers, isMasked, jobFor } from '../masking.ts'
import { pieces, tabled } from '../pieces.ts'
import { isUnavailable, Objected, objection, problemOf } from '../problem.ts'
import { lookedInto } from './inputs.ts'
import { ordered } from './ordered.ts'
import { paged, type Wanted } from './paged.ts'
import { withPhrases } from './phrases.ts'
import { termsIn } from './search.ts'
import { theseOf } from './these.ts'

export const listJobs: Handler = async (call, parts) => {
  const asked = call.query as z.output<typeof jobsQuery>
  const { jobs, cursor, read, tooLong, gone } = await searched(call, parts, asked)
  const tell = (job: Job) => shown(call, job, asked.dialect, asked.policy === 'true')
  const told = asked.explain === 'true' ? await withPhrases(jobs, call, parts, tell) : jobs.map(tell)
  return json(200, { jobs: told, cursor, read, tooLong, gone })
}

interface Searched {
  readonly jobs: readonly Job[]
  readonly cursor: string | undefined
  /** How many were read to find these, where they had to be looked at one by one. */
  readonly read?: number | undefined
  /** And how many of them could not be looked into. */
  readonly tooLong?: number | undefined
  /** Of jobs that were asked for by their names, those that do not match. */
  readonly gone?: readonly string[] | undefined
}

/** In the order of their numbers as they are found; in another one as many are read as may be put in order. */
function searched(call: Call, parts: Parts, { sort, ...asked }: Asked): Promise<Searched> {
  if (sort === 'created' || asked.ids !== undefined) return found(call, parts, asked)
  const read = (part: Wanted) => found(call, parts, { ...asked, ...part })
  return fromCursor(asked.cursor, 'cursor', () => ordered(sort, asked, parts.engine.now(), read))
}

type Asked = z.output<typeof jobsQuery>

async function found(call: Call, parts: Parts, asked: Omit<Asked, 'sort'>): Promise<Searched> {
  const { engine } = parts
  const { q, ids, state, queue, type, label, policy: _, explain: _explain, dialect: _dialect, ...rest } = asked
  const filters = { states: state, queues: queue, types: type, labels: labelsOf(label) }
  const query = { ...rest, ...given(filters), tenant: call.token.tenant }
  if (ids === undefined && (q === undefined || q.trim() === '')) return await pageOf(engine, query)
  const { tenant } = call.token
  const narrowed = await narrowedBy(termsIn(q ?? '', 'query.q', call), engine, tenant, engine.now())
  const narrow = { ...query, ...given(narrowed.query) }
  if (ids !== undefined) return { ...(await theseOf(ids, narrow, narrowed, call, parts)), cursor: undefined }
  if (narrowed.nothing) return { jobs: [], cursor: undefined }
  const { id } = narrowed
  if (id === undefined && narrowed.input.length === 0 && narrowed.sift === undefined)
    return await pageOf(engine, narrow)
  const find = (part: Wanted) =>
    id === undefined ? foundJobs(engine, { ...narrow, ...part }) : named(call, engine, id, narrow)
  return await lookedInto(narrowed, query, engine, call.signal, find)
}

const pageOf = async (engine: Engine, query: JobQuery) => {
  const { items, cursor } = await foundJobs(engine, query)
  return { jobs: items, cursor }
}

/** What is not asked does not undo what is. */
const given = <T extends object>(filters: T): Partial<T> =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined)) as Partial<T>

/** The one that is named, where it matches everything else that is asked. */
async function named(call: Call, engine: Engine, id: string, query: JobQuery) {
  const { items: loaded } = await engine.load([{ id, tenant: call.token.tenant, bodies: [] }])
  const jobs = loaded.flatMap((item) => (item === undefined ? [] : [item.job]))
  return { items: jobs.filter((job) => mayTouch(call, job) && isFound(job, query)), cursor: undefined }
}

export const foundJobs = (engine: Engine, query: JobQuery) =>
  fromCursor(query.cursor, 'cursor', () =>
    paged(query, async (part) => {
      const { jobs: items, cursor } = await engine.find({ ...query, ...part })
      return { items, cursor }
    }),
  )

export const showJob: Handler = async (call, parts) => {
  const { bodies, body = [], policy, dialect: dialectName } = call.query as z.output<typeof jobQuery>
  const tell = (job: Job) => shown(call, job, dialectName, policy === 'true')
  const named = async (job: Job) => (dialectName === undefined ? job : await namedByStart(parts.engine, job))
  if (isMasked(call)) return json(200, { ...tell(await named((await loaded(call, parts, [])).job)), masked: true })
  const asked = [...(bodies?.split(',').filter((name) => name !== '') ?? []), ...[body].flat()]
  // The record alone: who looks at it again and again need not have its input each time.
  if (bodies === '' && asked.length === 0) return json(200, tell(await named((await loaded(call, parts, [])).job)))
  if (bodies !== undefined || asked.length > 0) return await withBodies(call, parts, asked, tell)
  const found = await loaded(call, parts, ['input', 'output'])
  if (dialectName !== undefined) {
    const record = tell(await named(found.job))
    const value = valueIn(found.job, nameOf(dialectName), found.bodies['output'])
    if (value === undefined) return json(200, record)
    // Told as it was sent: parsed and written again, a number of twenty digits would be another one.
    const { [value.field]: _, ...rest } = record as Record<string, unknown>
    return json(200, rest, { [value.field]: value.text })
  }
  const { input: _, ...rest } = tell(found.job) as Record<string, unknown>
  const { input, output } = found.bodies
  return json(200, rest, { input, output: output === '' ? undefined : output })
}

export const listJobEvents: Handler = async (call, parts) => {
  const { job } = await loaded(call, parts, [])
  return json(200, await historyOf(call, parts, job, call.query as z.output<typeof jobEventsQuery>))
}

/** The log of a job, in pawl's words or in a document's. `rev`: how far a document's has been told. */
export async function historyOf(
  call: Call,
  parts: Parts,
  job: Job,
  { afterRev, limit, dialect: dialectName }: z.output<typeof jobEventsQuery>,
): Promise<{
  readonly events: readonly object[]
  readonly rev?: number | undefined
  readonly next: number | undefined
}> {
  const page = await eventsOf(call, parts, job, afterRev, limit)
  return dialectName === undefined
    ? { events: page.events.map(eventToWire), next: page.next }
    : await pageInItsWords(call, parts, job, nameOf(dialectName), page, limit)
}

interface EventPage {
  readonly events: readonly Event[]
  readonly next: number | undefined
}

async function eventsOf(call: Call, parts: Parts, job: Job, afterRev: number, limit: number): Promise<EventPage> {
  const { items, cursor } = await paged({ limit, cursor: String(afterRev) }, async (part) => {
    const asked = { by: 'job', id: job.id, afterRev: Number(part.cursor), limit: part.limit } as const
    const { events: items, cursor: next } = await parts.engine.events(asked)
    return { items, cursor: next }
  })
  const events = isMasked(call) ? items.map(eventForViewers) : items
  return { events, next: cursor === undefined ? undefined : Number(cursor) }
}

/**
 * A page in a document's words ends with an entry: what the document is silent about afterwards is read again with the next
 * one, whose first entry then follows on the last of this.
 */
async function pageInItsWords(call: Call, parts: Parts, job: Job, name: Reading, page: EventPage, limit: number) {
  const { next } = page
  const entries = log(page.events.map(withoutNonces), name, next !== undefined)
  const rev = entries.at(-1)?.rev
  if (next === undefined || rev !== undefined)
    return { events: entries, rev, next: next === undefined ? undefined : rev }
  const more = await eventsOf(call, parts, job, next, limit)
  return pageInItsWords(call, parts, job, name, { events: [...page.events, ...more.events], next: more.next }, limit)
}

export const listLateWords: Handler = async (call, parts) => {
  const { job } = await loaded(call, parts, [])
  return json(200, { late: (await lateWordsOf(call, parts, job)).map((word) => toWire(word)) })
}

/** Words of former owners that came too late. Viewers are told that they came, not what they said. */
export async function lateWordsOf(call: Call, { engine }: Parts, job: Job): Promise<readonly Annotation[]> {
  const { annotations } = await engine.events({ by: 'annotation', id: job.id })
  return annotations.map((word) => ({
    ...word,
    requestId: withoutNonce(word.requestId),
    outcome: isMasked(call) ? undefined : word.outcome,
  }))
}

/** A cursor is ours to make and the caller's to hand back; one that was made up is the caller's mistake. */
export async function fromCursor<T>(cursor: string | undefined, field: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (cursor === undefined || isUnavailable(error)) throw error
    throw new Objected(
      objection('MALFORMED', 'The cursor is not one of ours.', [
        { field: `query.${field}`, rule: 'must be the cursor of an earlier page' },
      ]),
    )
  }
}

/** Errors that are told when all are asked for: the last of them. A job may have had thousands. */
const ERRORS_TOLD = 100
/** Bodies up to so many characters are read without waiting for a turn. */
const MUCH = 1024 * 1024

/**
 * What a job has written may be much, and its record says how much that is: so many characters are told at a time, each
 * body when the one before it was taken. A caller that asks for much waits for its turn.
 */
async function withBodies(
  call: Call,
  parts: Parts,
  names: readonly string[],
  tell: (job: Job) => object,
): Promise<Reply> {
  const { token, signal } = call
  const { job } = await loaded(call, parts, [])
  const share = parts.told.share(token, job.bodySize)
  const errors = Array.from({ length: Math.min(ERRORS_TOLD, job.attempt) }, (_, i) => errorBody(job.attempt - i))
  const wanted = names.flatMap((name) => (name === 'error/' ? errors : [name]))
  try {
    const work = () => loaded(call, parts, wanted)
    const isMuch = job.bodySize > MUCH || names.some((name) => name.endsWith('/'))
    const found = await (isMuch ? parts.reads.take({ holder: token, weight: 1, signal, work }) : work())
    const head = `${JSON.stringify(tell(found.job)).slice(0, -1)},"bodies":{`
    return { status: 200, body: pieces(tabled(head, found.bodies), () => share[Symbol.dispose]()) }
  } catch (error) {
    share[Symbol.dispose]()
    throw error
  }
}

/** The job a path names, of the token's own tenant and queues; anything else does not exist. */
export async function loaded(call: Call, { engine }: Parts, bodies: readonly string[]): Promise<Loaded> {
  const id = call.params['id'] ?? ''
  const { items } = await engine.load([{ id, tenant: call.token.tenant, bodies }])
  const [found] = items
  if (found === undefined || !mayTouch(call, found.job)) {
    throw new Objected(problemOf(refuse('NOT_FOUND', { message: 'No job has this id.' })))
  }
  return found
}

/** A worker sees the queues it was made for and no others. Of a job that was sent elsewhere both are its queues: who enqueued it asks after it, too. */
export const mayTouch = ({ token }: Call, job: Job): boolean => isIn(job, token.queues)

export function shown(
  call: Call,
  job: Job,
  dialectName: z.output<typeof dialect> | undefined,
  withPolicy = false,
): object {
  const seen = jobFor(call, job)
  return dialectName === undefined ? jobToWire(seen, withPolicy) : view(seen, nameOf(dialectName))
}

/** 000 is two documents; its first part is the longer one. */
export const nameOf = (dialectName: z.output<typeof dialect>): Reading => (dialectName === '000' ? '000A' : dialectName)

function labelsOf(label: string | readonly string[] | undefined): Readonly<Record<string, string>> | undefined {
  if (label === undefined) return undefined
  const pairs = (typeof label === 'string' ? [label] : label).map((pair) => {
    const at = pair.indexOf('=')
    if (at < 1)
      throw new Objected(
        objection('MALFORMED', 'A label is name=value.', [{ field: 'query.label', rule: 'must be name=value' }]),
      )
    return [pair.slice(0, at), pair.slice(at + 1)] as const
  })
  return Object.fromEntries(pairs)
}
