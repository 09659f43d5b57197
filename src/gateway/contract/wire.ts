/**
 * Records and events as JSON on the wire: the names of the library, times as ISO 8601. Both directions, so that a
 * client holds the same record as the process that has the store.
 */
import { violated } from '../../core/assert.ts'
import type { Event } from '../../core/event.ts'
import { attemptOf, type Fence, type HiddenFence, hiddenFence, withoutNonce } from '../../core/fence.ts'
import type { Job, Kind, LastClaim, Lease, Spec, Time } from '../../core/job.ts'
import type { Policy } from '../../core/policy.ts'
import type { Recasted } from '../../core/recast.ts'

export type Wire = { readonly [key: string]: unknown }

/** Members whose content users named themselves: nothing inside is a time of ours. */
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
 *
 * Member by member, there and back: V8 keeps an object that is put together by names which only run time knows as a
 * table, slow to make, to write down and to read ever after.
 */
export function jobToWire(job: Job, withPolicy: boolean): Wire {
  const { spec, owner, lease, lastClaim } = job
  const { kind } = spec
  const members = {
    tenant: kind.tenant,
    queue: kind.queue,
    type: kind.type,
    alias: spec.alias,
    input: spec.input,
    contextPtr: spec.contextPtr,
    topic: spec.topic,
    adapterId: spec.adapterId,
    env: spec.env,
    labels: spec.labels,
    parentId: spec.parentId,
    workflowId: spec.workflowId,
    stepIndex: spec.stepIndex,
    dedupeKey: spec.dedupeKey,
    flow: spec.flow,
    correlationId: spec.correlationId,
    traceparent: spec.traceparent,
    createdAt: textOf(spec.createdAt),
    id: job.id,
    priority: job.priority,
    needs: job.needs,
    terms: job.terms,
    recast: job.recast && recastToWire(job.recast),
    approval: job.approval && toWire(job.approval),
    phase: job.phase,
    intended: job.intended && toWire(job.intended),
    generation: job.generation,
    attempt: job.attempt,
    rev: job.rev,
    seq: job.seq,
    baseRev: job.baseRev,
    failures: job.failures,
    stalls: job.stalls,
    updatedAt: textOf(job.updatedAt),
    startedAt: textOf(job.startedAt),
    deadlineAt: textOf(job.deadlineAt),
    startBy: textOf(job.startBy),
    cancel: job.cancel && toWire(job.cancel),
    newer: job.newer && toWire(job.newer),
    inbox: job.inbox.length === 0 ? job.inbox : toWire(job.inbox),
    signals: job.signals,
    progress: job.progress && toWire(job.progress),
    counters: job.counters,
    artifacts: job.artifacts,
    checkpoint: job.checkpoint,
    steps: job.steps,
    observations: job.observations,
    strippedAt: textOf(job.strippedAt),
    bodySize: job.bodySize,
    compensations: job.compensations,
    lastFailure: job.lastFailure && toWire(job.lastFailure),
    lastClaim: lastClaim && claimToWire(lastClaim),
    executionMs: job.executionMs,
    readyAt: textOf(job.readyAt),
    nextTickAt: textOf(job.nextTickAt),
    runAt: textOf(job.runAt),
    owner,
    lease: lease && leaseToWire(lease),
    wait: job.wait && toWire(job.wait),
    result: job.result,
    error: job.error && toWire(job.error),
    deadLetter: job.deadLetter && toWire(job.deadLetter),
    verdict: job.verdict,
    endedAt: textOf(job.endedAt),
    state: job.state,
    dialect: kind.policy.dialect,
    policy: withPolicy ? kind.policy : undefined,
  } satisfies Members<Kind & Pick<Policy, 'dialect'> & Omit<Spec, 'kind'> & Omit<Job, 'spec' | 'recent'>>
  return members
}

/** Whatever is added to them must be told as well. */
type Members<Of> = Readonly<Record<keyof Of, unknown>>

/** A time, as it is told. */
export const timeToWire = (time: Time): string => new Date(time).toISOString()

const textOf = (time: Time | undefined): string | undefined => (time === undefined ? undefined : timeToWire(time))

const leaseToWire = ({ grantedAt, expiresAt, beats }: Lease) =>
  ({ grantedAt: textOf(grantedAt), expiresAt: textOf(expiresAt), beats }) satisfies Members<
    Omit<Lease, 'fence' | 'lastBeatId'>
  >

const claimToWire = ({ owner, fence, leaseExpiresAt, silences, ran }: LastClaim) => {
  const { generation, attempt } = attemptOf(fence) ?? violated('a claim is named by a fence')
  return { owner, generation, attempt, leaseExpiresAt: textOf(leaseExpiresAt), silences, ran } satisfies Members<
    Omit<LastClaim, 'fence'> & Omit<Fence, 'nonce'>
  >
}

/** A record as it is shown to everybody but the job's owner. */
export type SeenJob = Job & {
  readonly lease: (Lease & { readonly fence: HiddenFence }) | undefined
  readonly lastClaim: (LastClaim & { readonly fence: HiddenFence }) | undefined
}

/** The record again. Every key is there, as everywhere else. */
export function jobFromWire(wire: Wire, policy: Policy): SeenJob {
  const kind: Kind = {
    tenant: String(wire['tenant']),
    queue: String(wire['queue']),
    type: String(wire['type']),
    policy,
  }
  const spec = {
    kind,
    alias: wire['alias'],
    input: wire['input'],
    contextPtr: wire['contextPtr'],
    topic: wire['topic'],
    adapterId: wire['adapterId'],
    env: wire['env'],
    labels: wire['labels'],
    parentId: wire['parentId'],
    workflowId: wire['workflowId'],
    stepIndex: wire['stepIndex'],
    dedupeKey: wire['dedupeKey'],
    flow: wire['flow'],
    correlationId: wire['correlationId'],
    traceparent: wire['traceparent'],
    createdAt: fromWire(wire['createdAt'], 'createdAt'),
  } satisfies Members<Spec>
  const job = {
    id: wire['id'],
    spec,
    priority: wire['priority'],
    needs: wire['needs'],
    terms: wire['terms'],
    recast: recastFromWire(wire['recast'], spec as Spec),
    approval: wire['approval'] && fromWire(wire['approval']),
    phase: wire['phase'],
    intended: fromWire(wire['intended'], 'intended'),
    generation: wire['generation'],
    attempt: wire['attempt'],
    rev: wire['rev'],
    seq: wire['seq'],
    baseRev: wire['baseRev'],
    failures: wire['failures'],
    stalls: wire['stalls'],
    updatedAt: fromWire(wire['updatedAt'], 'updatedAt'),
    startedAt: fromWire(wire['startedAt'], 'startedAt'),
    deadlineAt: fromWire(wire['deadlineAt'], 'deadlineAt'),
    startBy: fromWire(wire['startBy'], 'startBy'),
    cancel: fromWire(wire['cancel'], 'cancel'),
    newer: fromWire(wire['newer'], 'newer'),
    inbox: fromWire(wire['inbox'], 'inbox'),
    signals: wire['signals'],
    progress: fromWire(wire['progress'], 'progress'),
    counters: wire['counters'],
    artifacts: wire['artifacts'],
    checkpoint: wire['checkpoint'],
    steps: wire['steps'],
    observations: wire['observations'],
    strippedAt: fromWire(wire['strippedAt'], 'strippedAt'),
    bodySize: wire['bodySize'],
    compensations: wire['compensations'],
    lastFailure: fromWire(wire['lastFailure'], 'lastFailure'),
    lastClaim: claimFromWire(wire['lastClaim']),
    executionMs: wire['executionMs'],
    recent: [],
    readyAt: fromWire(wire['readyAt'], 'readyAt'),
    nextTickAt: fromWire(wire['nextTickAt'], 'nextTickAt'),
    runAt: fromWire(wire['runAt'], 'runAt'),
    owner: wire['owner'],
    lease: leaseFromWire(wire),
    wait: fromWire(wire['wait'], 'wait'),
    result: wire['result'],
    error: fromWire(wire['error'], 'error'),
    deadLetter: fromWire(wire['deadLetter'], 'deadLetter'),
    verdict: wire['verdict'],
    endedAt: fromWire(wire['endedAt'], 'endedAt'),
    state: wire['state'],
  } satisfies Members<Job>
  return job as SeenJob
}

/** Of what was asked for, what admission may have made something else of. */
const recastToWire = ({ asked: { kind, topic, labels, flow }, redirect, labels: added, keys }: Recasted) =>
  ({
    asked: { queue: kind.queue, type: kind.type, topic, labels, flow },
    redirect,
    labels: added,
    keys,
  }) satisfies Members<Recasted>

function recastFromWire(wire: unknown, spec: Spec): Recasted | undefined {
  if (wire === undefined) return undefined
  const { asked, ...made } = wire as Omit<Recasted, 'asked'> & { readonly asked: Kind & Spec }
  const { queue, type, topic, labels, flow } = asked
  return { ...made, asked: { ...spec, kind: { ...spec.kind, queue, type }, topic, labels, flow } }
}

/** A lease is of the attempt its job is in. Which heartbeat was the last is its owner's business. */
function leaseFromWire({ lease, generation, attempt }: Wire): SeenJob['lease'] {
  if (lease === undefined) return undefined
  const members = fromWire(lease) as Omit<Lease, 'fence' | 'lastBeatId'>
  return { ...members, fence: hiddenFence(Number(generation), Number(attempt)), lastBeatId: undefined }
}

function claimFromWire(wire: unknown): SeenJob['lastClaim'] {
  if (wire === undefined) return undefined
  const { generation, attempt, ...members } = fromWire(wire) as LastClaim & Wire
  return { ...members, fence: hiddenFence(Number(generation), Number(attempt)) }
}

/** The event under names that anybody may know. Documents fold what is left; none of them tells the fence of a claim. */
export const withoutNonces = <E extends Event>(event: E): E => ({
  ...event,
  requestId: withoutNonce(event.requestId),
  cause: event.cause && withoutNonce(event.cause),
})

/** An event, with its id; the kind inside `enqueued` is told like a record's. */
export function eventToWire(event: Event): Wire {
  const { payload, ...stamp } = withoutNonces(event)
  const shown =
    event.type === 'enqueued' ? { ...payload, spec: specToWire(event.payload.spec) } : { ...payload, fence: undefined }
  const from = event.from
  const to = event.to
  return {
    id: `${event.jobId}/${event.rev}`,
    ...(toWire({
      ...stamp,
      from: undefined,
      to: undefined,
      payload: shown,
    }) as Wire),
    from,
    to,
  }
}

const specToWire = ({ kind, ...asked }: Spec): Wire => ({ ...kind, ...asked })

/** What `eventToWire` made; the fence of a claim stays hidden. */
export function eventFromWire(wire: Wire): Event {
  const { id: _, ...event } = fromWire(wire) as Event & { readonly id: string }
  if (event.type === 'claimed')
    return { ...event, payload: { ...event.payload, fence: hiddenFence(event.generation, event.attempt) } }
  if (event.type !== 'enqueued') return event
  const { tenant, queue, type, policy, ...asked } = event.payload.spec as Spec & Kind
  return { ...event, payload: { ...event.payload, spec: { ...asked, kind: { tenant, queue, type, policy } } } }
}
