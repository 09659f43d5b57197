/** Reading jobs. Lists carry no payloads; one job does, unless the token is a viewer's. */
import type { z } from 'zod'
import { log } from '../../core/dialects/history.ts'
import { view } from '../../core/dialects/view.ts'
import type { Job } from '../../core/job.ts'
import type { DialectName } from '../../core/policy.ts'
import { refuse } from '../../core/refuse.ts'
import type { Loaded } from '../../store/store.ts'
import { type Call, type Handler, json, type Parts } from '../call.ts'
import type { dialect, jobEventsQuery, jobQuery, jobsQuery } from '../contract/schemas.ts'
import { eventToWire, jobToWire, withoutNonces } from '../contract/wire.ts'
import { isUnavailable, Objected, objection, refused } from '../problem.ts'

export const listJobs: Handler = async (call, { engine }) => {
  const { state, queue, type, label, policy, dialect: words, ...rest } = call.query as z.output<typeof jobsQuery>
  const query = {
    ...rest,
    tenant: call.token.tenant,
    states: state,
    queues: queue,
    types: type,
    labels: labelsOf(label),
  }
  const { jobs, cursor } = await fromCursor(rest.cursor, 'cursor', () => engine.find(query))
  return json(200, {
    jobs: jobs.map((job) => (words === undefined ? jobToWire(job, policy === 'true') : shown(job, words))),
    cursor,
  })
}

export const showJob: Handler = async (call, parts) => {
  const { bodies, policy, dialect: words } = call.query as z.output<typeof jobQuery>
  const masked = call.token.scope === 'viewer'
  const wanted = bodies?.split(',') ?? ['input', 'output']
  const found = await loaded(call, parts, masked ? [] : wanted)
  const told = words === undefined ? jobToWire(found.job, policy === 'true') : shown(found.job, words)
  if (masked) return json(200, { ...told, masked: true })
  if (bodies !== undefined) return json(200, { ...told, bodies: found.bodies })
  if (words !== undefined) return json(200, told)
  const { input: _, ...rest } = told as Record<string, unknown>
  const { input, output } = found.bodies
  return json(200, rest, { input, output: output === '' ? undefined : output })
}

export const listJobEvents: Handler = async (call, parts) => {
  const { afterRev, limit, dialect: words } = call.query as z.output<typeof jobEventsQuery>
  const { job } = await loaded(call, parts, [])
  const { events, cursor } = await parts.engine.events({ by: 'job', id: job.id, afterRev, limit })
  const next = cursor === undefined ? undefined : Number(cursor)
  const told = words === undefined ? events.map(eventToWire) : log(events.map(withoutNonces), nameOf(words))
  return json(200, { events: told, next })
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

/** The job a path names, of the token's own tenant and queues; anything else does not exist. */
export async function loaded(call: Call, { engine }: Parts, bodies: readonly string[]): Promise<Loaded> {
  const id = call.params['id'] ?? ''
  const { items } = await engine.load([{ id, tenant: call.token.tenant, bodies }])
  const [found] = items
  if (found === undefined || !mayTouch(call, found.job)) {
    throw new Objected(refused(refuse('NOT_FOUND', { message: 'No job has this id.' })))
  }
  return found
}

/** A worker sees the queues it was made for and no others. */
export const mayTouch = ({ token }: Call, job: Job): boolean =>
  token.queues === undefined || token.queues.includes(job.spec.kind.queue)

export const shown = (job: Job, words: z.output<typeof dialect> | undefined): object =>
  words === undefined ? jobToWire(job, false) : view(job, nameOf(words))

/** 000 is two documents; its first part is the longer one. */
export const nameOf = (words: z.output<typeof dialect>): DialectName => (words === '000' ? '000A' : words)

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
  if (pairs.length > 8)
    throw new Objected(objection('MALFORMED', 'At most 8 labels.', [{ field: 'query.label', rule: 'at most 8' }]))
  return Object.fromEntries(pairs)
}
