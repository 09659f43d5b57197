/** One trace from the producer's request through claim and handler to outgoing calls, across processes. */
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { openTelemetry } from '../../src/library/otel.ts'
import { open } from '../../src/open.ts'
import { quiet, spawns, which } from '../worker/cell-jobs.ts'

const exporter = new InMemorySpanExporter()
beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
})
beforeEach(() => exporter.reset())
afterAll(() => {
  trace.disable()
  context.disable()
})

const calling = defineJob({
  type: 'crawl.page',
  queue: 'crawl',
  retry: { attempts: 2, base: 1, max: 1 },
  async run({ fail }: { fail: boolean }, ctx) {
    const correlation = propagation.getActiveBaggage()?.getEntry('correlation_id')?.value
    trace.getTracer('app').startSpan('outgoing call', { attributes: { correlation } }).end()
    if (fail && ctx.attempt === 1) throw Object.assign(new Error('no'), { code: 'E_BROWSER' })
    return 1
  },
})

it('a handler in a process of its own has its span here', async () => {
  await using pawl = await open('memory:', { telemetry: openTelemetry(), log: 'silent' })
  await using _worker = pawl.work([which])
  const job = await pawl.enqueue(which)
  expect(await job.result({ timeout: '60s' })).not.toBe(process.pid)
  const [span] = found('process which')
  expect(span?.attributes['messaging.message.id']).toBe(job.id)
})

it('has what a handler in a process of its own spawns under the span of its run', async () => {
  await using pawl = await open('memory:', { telemetry: openTelemetry(), log: 'silent' })
  await using _worker = pawl.work([spawns, quiet], { processes: 1 })
  // The second has the process of the first, and a span of its own.
  for (let n = 0; n < 2; n += 1) {
    const job = await pawl.enqueue(spawns, { kind: 'spec' })
    await pawl.result((await job.result({ timeout: '60s' }))[0] ?? '', { timeout: '60s' })
  }
  const runs = found('process spawns').map((span) => span.spanContext().spanId)
  expect(new Set(runs).size).toBe(2)
  expect(found('enqueue quiet').map((span) => span.parentSpanContext?.spanId)).toEqual(runs)
})

const found = (name: string) => exporter.getFinishedSpans().filter((span) => span.name === name)

async function oneTrace(url: string, producerUrl: string) {
  await using producer = await open(producerUrl === '' ? url : producerUrl, {
    telemetry: openTelemetry(),
    log: 'silent',
  })
  const tracer = trace.getTracer('app')
  await tracer.startActiveSpan('request', async (request) => {
    await using _worker = producer.work([calling])
    const job = await producer.enqueue(calling, { fail: true }, { correlationId: 'c-1' })
    await job.result({ timeout: '20s' })
    request.end()
  })
  const [request] = found('request')
  const traceId = request?.spanContext().traceId
  const [enqueue] = found('enqueue crawl.page')
  expect(enqueue?.parentSpanContext?.spanId).toBe(request?.spanContext().spanId)
  expect(enqueue?.kind).toBe(SpanKind.PRODUCER)
  const processed = found('process crawl.page')
  expect(processed).toHaveLength(2)
  for (const span of [...processed, ...found('claim crawl.page'), ...found('outgoing call')])
    expect(span.spanContext().traceId).toBe(traceId)
  expect(found('outgoing call').map((span) => span.parentSpanContext?.spanId)).toEqual(
    processed.map((span) => span.spanContext().spanId),
  )
  // What propagators send along with the trace.
  expect(found('outgoing call').map(({ attributes }) => attributes['correlation'])).toEqual(['c-1', 'c-1'])
  expect(processed.map(({ status }) => status.code)).toEqual([SpanStatusCode.ERROR, SpanStatusCode.UNSET])
  expect(processed[0]?.attributes).toMatchObject({
    'messaging.system': 'pawl',
    'messaging.operation.type': 'process',
    'messaging.destination.name': 'crawl',
    'messaging.message.conversation_id': 'c-1',
    'messaging.pawl.job.attempt': 1,
    'error.type': 'E_BROWSER',
  })
}

describe('OpenTelemetry', () => {
  it('is one trace in one process', async () => {
    await oneTrace('memory:', '')
  })

  it('is one trace through a gateway, whose jobs keep the W3C traceparent', async () => {
    await using served = await open('memory:', { log: 'silent' })
    await using gateway = await startGateway({ engine: served.engine, port: 0, auth: false })
    await oneTrace(gateway.url, '')
    const [job] = (await served.find()).jobs
    const [enqueue] = found('enqueue crawl.page')
    expect(job?.spec.traceparent).toBe(`00-${enqueue?.spanContext().traceId}-${enqueue?.spanContext().spanId}-01`)
  })

  it('has what a handler spawns under the span in which the handler ran', async () => {
    const child = defineJob({ type: 'child', run: () => 1 })
    const parent = defineJob({ type: 'parent', run: (_: undefined, ctx) => ctx.spawn(child, undefined) })
    await using pawl = await open('memory:', { telemetry: openTelemetry(), log: 'silent' })
    await using _worker = pawl.work([parent, child])
    const id = await (await pawl.enqueue(parent)).result({ timeout: '20s' })
    await pawl.result(id, { timeout: '20s' })
    const [process] = found('process parent')
    const [enqueue] = found('enqueue child')
    expect(enqueue?.parentSpanContext?.spanId).toBe(process?.spanContext().spanId)
    expect(found('process child')[0]?.spanContext().traceId).toBe(process?.spanContext().traceId)
  })

  it('takes a wait for what it is, not for an error', async () => {
    const waiting = defineJob({ type: 'waits', run: async (_: undefined, ctx) => (await ctx.waitFor('go')).payload })
    await using pawl = await open('memory:', { telemetry: openTelemetry(), log: 'silent' })
    await using _worker = pawl.work([waiting])
    const job = await pawl.enqueue(waiting)
    await job.signal('go', 7)
    expect(await job.result({ timeout: '20s' })).toBe(7)
    expect(found('process waits').map(({ status }) => status.code)).not.toContain(SpanStatusCode.ERROR)
  })
})
