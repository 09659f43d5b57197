/**
 * Records and events as JSON on the wire: the names of the library, times as ISO 8601. Both directions, so that a
 * client holds the same record as the process that has the store.
 */
import type { Event } from '../../core/event.ts'
import type { Job, Kind, Spec } from '../../core/job.ts'
import { withoutNonce } from '../../core/ownership.ts'
import type { Policy } from '../../core/policy.ts'

export type Wire = { readonly [key: string]: unknown }

/** What users named themselves: nothing inside is a time of ours. */
const THEIRS: ReadonlySet<string> = new Set([
  'counters',
  'labels',
  'env',
  'artifacts',
  'context',
  'errors',
  'stats',
  'policy',
])
const TIMES: ReadonlySet<string> = new Set(['at', 'startBy', 'since', 'until', 'now', 'when'])

const isTime = (key: string, value: unknown): value is number =>
  typeof value === 'number' && (key.endsWith('At') || TIMES.has(key))

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** Times become text; everything else stays. */
export function toWire(value: unknown, key = ''): unknown {
  if (isTime(key, value)) return new Date(value).toISOString()
  if (typeof value !== 'object' || value === null || THEIRS.has(key)) return value
  if (Array.isArray(value)) return value.map((item) => toWire(item))
  const out: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(value)) if (inner !== undefined) out[name] = toWire(inner, name)
  return out
}

export function fromWire(value: unknown, key = ''): unknown {
  if (typeof value === 'string')
    return (key.endsWith('At') || TIMES.has(key)) && ISO.test(value) ? Date.parse(value) : value
  if (typeof value !== 'object' || value === null || THEIRS.has(key)) return value
  if (Array.isArray(value)) return value.map((item) => fromWire(item))
  const out: Record<string, unknown> = {}
  for (const [name, inner] of Object.entries(value)) out[name] = fromWire(inner, name)
  return out
}

/**
 * The record, flat: what was asked for at enqueue beside what has become of it. Bodies are references here. A fence is
 * a secret between the store and one owner: it is told with the claim and nowhere else.
 */
export function jobToWire(job: Job, withPolicy: boolean): Wire {
  const { spec, recent: _, ...rest } = masked(job)
  const { kind, ...asked } = spec
  const { policy, ...shared } = kind
  const dialect = policy.dialect
  const flat = { ...shared, ...asked, ...rest, dialect, ...(withPolicy ? { policy } : {}) }
  return toWire(flat) as Wire
}

const SPEC = [
  'alias',
  'input',
  'contextPtr',
  'topic',
  'adapterId',
  'env',
  'labels',
  'parentId',
  'workflowId',
  'stepIndex',
  'dedupeKey',
  'correlationId',
  'traceparent',
  'createdAt',
] as const satisfies readonly (keyof Spec)[]

const RECORD = [
  'id',
  'state',
  'priority',
  'phase',
  'intended',
  'generation',
  'attempt',
  'rev',
  'seq',
  'baseRev',
  'failures',
  'stalls',
  'updatedAt',
  'startedAt',
  'deadlineAt',
  'startBy',
  'cancel',
  'inbox',
  'signals',
  'progress',
  'counters',
  'artifacts',
  'checkpoint',
  'steps',
  'observations',
  'bodySize',
  'compensations',
  'lastFailure',
  'lastClaim',
  'executionMs',
  'readyAt',
  'nextTickAt',
  'runAt',
  'owner',
  'lease',
  'wait',
  'result',
  'error',
  'deadLetter',
  'verdict',
  'endedAt',
] as const satisfies readonly Exclude<keyof Job, 'spec' | 'recent'>[]

/** The record again. Every key is there, as everywhere else. */
export function jobFromWire(wire: Wire, policy: Policy): Job {
  const flat = fromWire(wire) as Wire
  const kind: Kind = {
    tenant: String(flat['tenant']),
    queue: String(flat['queue']),
    type: String(flat['type']),
    policy,
  }
  const spec = { kind, ...pick(flat, SPEC) }
  return { spec, ...pick(flat, RECORD), recent: [] } as never
}

const pick = (from: Wire, keys: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key, from[key]]))

const masked = (job: Job): Job =>
  ({
    ...job,
    lease: job.lease && { ...job.lease, fence: undefined, lastBeatId: undefined },
    lastClaim: job.lastClaim && { ...job.lastClaim, fence: undefined },
  }) as never

/** The event under names that anybody may know. Documents fold what is left; none of them tells the fence of a claim. */
export const withoutNonces = <E extends Event>(event: E): E => ({
  ...event,
  requestId: withoutNonce(event.requestId),
  cause: event.cause && withoutNonce(event.cause),
})

/** An event, with its id; the kind inside `enqueued` is told like a record's. */
export function eventToWire(event: Event): Wire {
  const { payload, ...stamp } = withoutNonces(event)
  const told =
    event.type === 'enqueued' ? { ...payload, spec: specToWire(event.payload.spec) } : { ...payload, fence: undefined }
  const from = event.from
  const to = event.to
  return {
    id: `${event.jobId}/${event.rev}`,
    ...(toWire({
      ...stamp,
      from: undefined,
      to: undefined,
      payload: told,
    }) as Wire),
    from,
    to,
  }
}

const specToWire = ({ kind, ...asked }: Spec): Wire => ({ ...kind, ...asked })

/** What `eventToWire` made; fences stay unknown. */
export function eventFromWire(wire: Wire): Event {
  const { id: _, ...event } = fromWire(wire) as Record<string, unknown>
  if (event['type'] !== 'enqueued') return event as never
  const payload = event['payload'] as Record<string, unknown>
  const { tenant, queue, type, policy, ...asked } = payload['spec'] as Record<string, unknown>
  return { ...event, payload: { ...payload, spec: { ...asked, kind: { tenant, queue, type, policy } } } } as never
}
