/**
 * The first event of a job, which is its immutable row. A store keeps id, kind, time and priority in columns; `head`
 * is everything else that is not implied by them, as JSON, and absent where nothing is left to say.
 *
 * Implied: the request id is the job's own id, the correlation id the request's, the digests are empty, the actor is `producer`, it may
 * run at once, deadline and start limit follow from the policy. What a job needs is its own type, so that a mark is enough.
 */
import type { TransitionEvent } from '../../core/event.ts'
import type { BodyRef, JobId, Kind, Priority, Spec, Time } from '../../core/job.ts'
import { list, maybeNumber, maybeText, number, type Packed, parsed, text, texts } from './packed.ts'
import { packFlow, unpackFlow } from './parts.ts'

export type EnqueuedEvent = Extract<TransitionEvent, { type: 'enqueued' }>

export interface EnqueuedColumns {
  readonly id: JobId
  readonly kind: Kind
  readonly at: Time
  readonly priority: Priority
}

export function encodeEnqueued(event: EnqueuedEvent): string | undefined {
  if (isUsual(event)) {
    const { input } = event.payload.spec
    return input === undefined ? undefined : `{"i":${input.size}}`
  }
  return encodeAny(event)
}

/** An event of which only the size of its input needs to be written: nearly all jobs, for a third of the price. */
function isUsual(event: EnqueuedEvent): boolean {
  const { payload, at, jobId, actor, requestId, digest, to, cause, reason } = event
  const { spec, runAt, deadlineAt, startBy, failures, stalls, needs } = payload
  const { input } = spec
  return (
    requestId === jobId &&
    spec.correlationId === jobId &&
    event.correlationId === jobId &&
    actor === 'producer' &&
    digest === '' &&
    to === 'queued' &&
    runAt === at &&
    spec.createdAt === at &&
    deadlineAt === plus(at, spec.kind.policy.deadlineMs) &&
    startBy === plus(at, spec.kind.policy.startWithinMs) &&
    failures === 0 &&
    stalls === 0 &&
    needs === undefined &&
    (input === undefined || (input.name === 'input' && input.digest === undefined)) &&
    spec.alias === undefined &&
    spec.contextPtr === undefined &&
    spec.topic === undefined &&
    spec.adapterId === undefined &&
    spec.env === undefined &&
    spec.labels === undefined &&
    spec.parentId === undefined &&
    spec.workflowId === undefined &&
    spec.stepIndex === undefined &&
    spec.dedupeKey === undefined &&
    spec.flow === undefined &&
    spec.traceparent === undefined &&
    event.traceparent === undefined &&
    cause === undefined &&
    reason === undefined
  )
}

function encodeAny(event: EnqueuedEvent): string | undefined {
  const { payload, at, jobId } = event
  const { spec } = payload
  const { policy } = spec.kind
  const head = JSON.stringify({
    i: spec.input && packInput(spec.input),
    c: spec.correlationId === event.requestId ? undefined : spec.correlationId,
    a: event.actor === 'producer' ? undefined : event.actor,
    q: event.requestId === jobId ? undefined : event.requestId,
    d: event.digest === '' ? undefined : event.digest,
    n: event.to === 'pending' ? 1 : undefined,
    r: payload.runAt === at ? undefined : payload.runAt,
    dl: payload.deadlineAt === plus(at, policy.deadlineMs) ? undefined : (payload.deadlineAt ?? 0),
    sb: payload.startBy === plus(payload.runAt, policy.startWithinMs) ? undefined : (payload.startBy ?? 0),
    f: payload.failures === 0 ? undefined : payload.failures,
    s: payload.stalls === 0 ? undefined : payload.stalls,
    nd: payload.needs === undefined ? undefined : 1,
    cr: spec.createdAt === at ? undefined : spec.createdAt,
    al: spec.alias,
    cx: spec.contextPtr,
    to: spec.topic,
    ad: spec.adapterId,
    en: spec.env,
    la: spec.labels,
    pa: spec.parentId,
    wf: spec.workflowId,
    si: spec.stepIndex,
    dk: spec.dedupeKey,
    fl: spec.flow && packFlow(spec.flow),
    tp: spec.traceparent,
    ec: event.correlationId === spec.correlationId ? undefined : event.correlationId,
    et: event.traceparent === spec.traceparent ? undefined : (event.traceparent ?? 0),
    ca: event.cause,
    re: event.reason,
  })
  return head === '{}' ? undefined : head
}

const NO_HEAD: Readonly<Record<string, Packed>> = {}

export function decodeEnqueued(head: string | undefined, columns: EnqueuedColumns): EnqueuedEvent {
  const { id, kind, at, priority } = columns
  const h = head === undefined ? NO_HEAD : membersIn(head)
  const requestId = maybeText(h['q']) ?? id
  const correlationId = maybeText(h['c']) ?? requestId
  const traceparent = maybeText(h['tp'])
  const runAt = maybeNumber(h['r']) ?? at
  const to = h['n'] === 1 ? 'pending' : 'queued'
  const spec: Spec = {
    kind,
    alias: maybeText(h['al']),
    input: h['i'] == null ? undefined : unpackInput(h['i']),
    contextPtr: maybeText(h['cx']),
    topic: maybeText(h['to']),
    adapterId: maybeText(h['ad']),
    env: h['en'] == null ? undefined : texts(h['en']),
    labels: h['la'] == null ? undefined : texts(h['la']),
    parentId: maybeText(h['pa']),
    workflowId: maybeText(h['wf']),
    stepIndex: maybeNumber(h['si']),
    dedupeKey: maybeText(h['dk']),
    flow: h['fl'] == null ? undefined : unpackFlow(h['fl']),
    correlationId,
    traceparent,
    createdAt: maybeNumber(h['cr']) ?? at,
  }
  return {
    jobId: id,
    rev: 1,
    at,
    actor: maybeText(h['a']) ?? 'producer',
    command: 'enqueue',
    requestId,
    digest: maybeText(h['d']) ?? '',
    correlationId: maybeText(h['ec']) ?? correlationId,
    traceparent: h['et'] === 0 ? undefined : (maybeText(h['et']) ?? traceparent),
    cause: maybeText(h['ca']),
    reason: maybeText(h['re']),
    generation: 0,
    attempt: 0,
    state: to,
    version: 1,
    type: 'enqueued',
    seq: 1,
    from: undefined,
    to,
    payload: {
      spec,
      priority,
      runAt,
      deadlineAt: limit(h['dl'], plus(at, kind.policy.deadlineMs)),
      startBy: limit(h['sb'], plus(runAt, kind.policy.startWithinMs)),
      failures: maybeNumber(h['f']) ?? 0,
      stalls: maybeNumber(h['s']) ?? 0,
      needs: h['nd'] === 1 ? kind.type : undefined,
    },
  }
}

/** The last one is remembered: jobs that are claimed together were often enqueued alike. */
function membersIn(head: string): Readonly<Record<string, Packed>> {
  if (head !== last.head) last = { head, members: parsed(head) as Readonly<Record<string, Packed>> }
  return last.members
}

let last = { head: '{}', members: NO_HEAD }

const plus = (time: Time, ms: number | undefined): Time | undefined => (ms === undefined ? undefined : time + ms)

/** 0 says: none, although the policy would have one. */
const limit = (packed: Packed, implied: Time | undefined): Time | undefined =>
  packed === 0 ? undefined : (maybeNumber(packed) ?? implied)

/** On whose account, and the keys. */
/** Where the name is `input` and there is no digest, as nearly always, the size alone. */
const packInput = (input: BodyRef): Packed =>
  input.name === 'input' && input.digest === undefined ? input.size : [input.name, input.size, input.digest]

function unpackInput(packed: Packed): BodyRef {
  if (typeof packed === 'number') return { name: 'input', size: packed, digest: undefined }
  const [name, size, digest] = list(packed)
  return { name: text(name), size: number(size), digest: maybeText(digest) }
}
