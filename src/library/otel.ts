/**
 * OpenTelemetry by its messaging conventions, over `@opentelemetry/api` alone: without an SDK it costs next to nothing.
 *
 * One trace from the producer's request to the handler's outgoing calls: `enqueue` is a producer span whose context is
 * kept with the job (`traceparent`); `process` is a consumer span with that context as its parent, which the
 * conventions allow for single messages, so that an attempt days later still belongs to the request that caused it. The
 * job's correlation goes along as baggage.
 *
 * An SDK is somebody else's: what it throws costs a span or a measure, and neither a job nor the answer about one.
 */
import {
  type Attributes,
  context,
  INVALID_SPAN_CONTEXT,
  isSpanContextValid,
  metrics,
  type Context as OtelContext,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'
import type { Job, Kind } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import type { Answer, Assignment, ClaimRequest, Engine, EnqueueAnswer, EnqueueRequest, Word } from '../engine/engine.ts'
import type { Transaction } from '../store/store.ts'
import { realClock } from '../system/clock.ts'
import { isolated } from '../system/isolated.ts'
import type { Context } from '../worker/context.ts'
import type { JobDefinition } from '../worker/definition.ts'
import { isOrderly } from '../worker/interrupts.ts'
import { CORRELATION } from '../worker/outgoing.ts'
import type { Telemetry } from './telemetry.ts'

const NAME = 'pawl'
const SYSTEM = { 'messaging.system': NAME }
/** Seconds; the conventions' own, and longer ones for jobs. */
const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 30, 60, 300, 1_800]

/** Reads the global tracer and meter when it is used: an SDK may be registered before or after. */
export const openTelemetry = (): Telemetry => ({
  engine: (engine) => observed(engine),
  definition: (definition) => ({ ...definition, run: (input, ctx) => processed(definition, input, ctx) }),
})

const meter = () => metrics.getMeter(NAME)

const harmlessly = (tell: () => void): void => isolated(tell, () => {})

/** Where none can be begun, one that nobody sees. */
function begun(name: string, options: SpanOptions, parent?: OtelContext): Span {
  try {
    return trace.getTracer(NAME).startSpan(name, options, parent)
  } catch {
    return trace.wrapSpanContext(INVALID_SPAN_CONTEXT)
  }
}

/** Everything the engine does, and spans around what crosses the wire. */
function observed(engine: Engine): Engine {
  const watched: Pick<Engine, 'enqueue' | 'claim' | 'settle'> = {
    enqueue: (requests, tx, together) => enqueued(engine, requests, tx, together),
    claim: (request) => claimed(engine, request),
    settle: (words) => settled(engine, words),
  }
  return new Proxy(engine, {
    get(target, name) {
      if (name === 'until') return (signal: AbortSignal) => observed(target.until(signal))
      if (name in watched) return watched[name as keyof typeof watched]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

async function enqueued(
  engine: Engine,
  requests: readonly EnqueueRequest[],
  tx?: Transaction,
  together?: boolean,
): Promise<readonly EnqueueAnswer[]> {
  const [first] = requests
  if (first === undefined) return []
  const { type, queue } = first.kind
  const parent = first.traceparent === undefined ? context.active() : contextOf(first.traceparent)
  const attributes = { ...about('enqueue', 'send', first.kind), 'messaging.batch.message_count': requests.length }
  const span = begun(`enqueue ${type}`, { kind: SpanKind.PRODUCER, attributes }, parent)
  const traceparent = traceparentOf(span)
  return await within(span, async () => {
    const answers = await engine.enqueue(
      requests.map((request) => ({ ...request, traceparent: traceparent ?? request.traceparent })),
      tx,
      together,
    )
    harmlessly(() => {
      const [answer] = answers
      if (requests.length === 1 && answer?.ok === true) span.setAttributes(idOf(answer.job))
      for (const each of answers) if (!each.ok) span.setAttribute('error.type', each.refusal.code)
      meter()
        .createCounter('messaging.client.sent.messages', { unit: '{message}' })
        .add(answers.length, { ...SYSTEM, 'messaging.destination.name': queue, 'messaging.operation.name': 'enqueue' })
    })
    return answers
  })
}

async function claimed(engine: Engine, request: ClaimRequest): Promise<readonly Assignment[]> {
  const assignments = await engine.claim(request)
  if (assignments.length === 0) return assignments
  for (const { job } of assignments) {
    // One span per job, in its own trace: a batch belongs to nobody.
    const attributes = {
      ...about('claim', 'receive', job.spec.kind),
      ...idOf(job),
      'messaging.client.id': request.workerId,
    }
    const options = { kind: SpanKind.CLIENT, attributes }
    harmlessly(() => begun(`claim ${job.spec.kind.type}`, options, contextOf(job.spec.traceparent)).end())
  }
  harmlessly(() =>
    meter()
      .createCounter('messaging.client.consumed.messages', { unit: '{message}' })
      .add(assignments.length, { ...SYSTEM, 'messaging.operation.name': 'claim' }),
  )
  return assignments
}

async function settled(engine: Engine, words: readonly Word[]): Promise<readonly Answer[]> {
  const attributes = {
    ...SYSTEM,
    'messaging.operation.name': 'settle',
    'messaging.operation.type': 'settle',
    'messaging.batch.message_count': words.length,
  }
  const span = begun('settle', { kind: SpanKind.CLIENT, attributes })
  return await within(span, () => engine.settle(words))
}

/** The handler, inside its job's trace. */
async function processed(definition: JobDefinition, input: unknown, ctx: Context): Promise<unknown> {
  const { job } = ctx
  const attributes = {
    ...about('process', 'process', job.spec.kind),
    ...idOf(job),
    'messaging.pawl.job.attempt': ctx.attempt,
    'messaging.pawl.job.generation': job.generation,
    'messaging.pawl.job.phase': job.phase,
  }
  const options = { kind: SpanKind.CONSUMER, attributes }
  const span = begun(`process ${definition.type}`, options, contextOf(job.spec.traceparent))
  const startedMs = realClock.monotonicMs()
  let failure: string | undefined
  try {
    return await within(span, async () => await definition.run(input, ctx), correlated(job.spec.correlationId))
  } catch (error) {
    failure = isOrderly(error) ? undefined : typeOf(error)
    throw error
  } finally {
    const labels: Attributes = {
      ...SYSTEM,
      'messaging.operation.name': 'process',
      'messaging.destination.name': job.spec.kind.queue,
    }
    if (failure !== undefined) labels['error.type'] = failure
    harmlessly(() =>
      meter()
        .createHistogram('messaging.process.duration', { unit: 's', advice: { explicitBucketBoundaries: BUCKETS } })
        .record((realClock.monotonicMs() - startedMs) / 1_000, labels),
    )
  }
}

/** What the handler calls is told the correlation, as baggage: propagators send it along with the trace. */
function correlated(correlationId: string): OtelContext {
  const active = context.active()
  try {
    const baggage = propagation.getBaggage(active) ?? propagation.createBaggage()
    return propagation.setBaggage(active, baggage.setEntry(CORRELATION, { value: correlationId }))
  } catch {
    return active
  }
}

/** Runs with the span active and ends it, however it goes. */
async function within<T>(span: Span, work: () => Promise<T>, around = context.active()): Promise<T> {
  try {
    return await context.with(trace.setSpan(around, span), work)
  } catch (error) {
    if (!isOrderly(error)) harmlessly(() => blame(span, error))
    throw error
  } finally {
    harmlessly(() => span.end())
  }
}

function blame(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR, message: reasonOf(error) })
  span.setAttribute('error.type', typeOf(error))
  span.recordException(error instanceof Error ? error : reasonOf(error))
}

/** What a handler threw may be anything, also something that cannot be looked at. */
function typeOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return 'thrown'
    return 'code' in error && typeof error.code === 'string' ? error.code : error.name
  } catch {
    return 'thrown'
  }
}

const about = (name: string, type: string, { queue, type: template }: Kind): Attributes => ({
  ...SYSTEM,
  'messaging.operation.name': name,
  'messaging.operation.type': type,
  'messaging.destination.name': queue,
  'messaging.destination.template': template,
})

const idOf = ({ id, spec }: Job): Attributes => ({
  'messaging.message.id': id,
  'messaging.message.conversation_id': spec.correlationId,
})

/** W3C: version, trace, parent, flags. */
function traceparentOf(span: Span): string | undefined {
  const found = span.spanContext()
  if (!isSpanContextValid(found)) return undefined
  return `00-${found.traceId}-${found.spanId}-${(found.traceFlags & 0xff).toString(16).padStart(2, '0')}`
}

const TRACEPARENT = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

function contextOf(traceparent: string | undefined): OtelContext {
  const match = traceparent === undefined ? null : TRACEPARENT.exec(traceparent)
  if (match === null) return ROOT_CONTEXT
  const [, traceId = '', spanId = '', flags = ''] = match
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true })
}
