/** What belongs to the user and is called by us: whatever it does, no job, no answer and no neighbour is harmed. */
import { metrics, trace } from '@opentelemetry/api'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { BodyCodec } from '../../src/engine/body-codec.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { Refused } from '../../src/library/errors.ts'
import { openTelemetry } from '../../src/library/otel.ts'
import { type OpenOptions, open } from '../../src/open.ts'
import type { Log } from '../../src/system/log.ts'
import { eventually } from '../support/eventually.ts'
import { openAt, PLACES, STORES } from './opened.ts'

const fine = defineJob({ type: 'fine', run: (input: number) => input })
const failing = defineJob({
  type: 'failing',
  retry: { attempts: 2, base: 1, max: 1 },
  run: () => Promise.reject(new Error('no')),
})

function thrower(): never {
  throw Object.create(null)
}

/** In each of these ways: at once, later, with something that cannot even be read, or by not being there. */
const BREAKS: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error('disk full')
  },
  rejects: () => Promise.reject(new Error('disk full')),
  'throws what cannot be read': thrower,
}

/** Fails the test where anything of it reaches the process. */
function watchProcess(): readonly unknown[] {
  const seen: unknown[] = []
  const see = (error: unknown) => void seen.push(error)
  process.on('uncaughtException', see)
  process.on('unhandledRejection', see)
  onTestFinished(() => {
    process.off('uncaughtException', see)
    process.off('unhandledRejection', see)
  })
  return seen
}

async function aLife(options: OpenOptions): Promise<void> {
  const seen = watchProcess()
  await using pawl = await open('memory:', { ticker: { everyMs: 50 }, log: 'silent', ...options })
  await using _worker = pawl.work([fine, failing])
  expect(await (await pawl.enqueue(fine, 1)).result({ timeout: '20s' })).toBe(1)
  await expect((await pawl.enqueue(failing)).result({ timeout: '20s' })).rejects.toThrow('no')
  expect((await pawl.verify()).discrepancies).toEqual([])
  expect(seen).toEqual([])
}

describe.each(Object.entries(BREAKS))('what %s', (_, breaks) => {
  it('may be the hooks', async () => {
    const hook = breaks as () => void
    await aLife({ onFailed: hook, onDeadLettered: hook, onStalled: hook })
  })

  it('may be the log', async () => {
    const log = { info: breaks, warn: breaks, error: breaks } satisfies Log
    await aLife({ log })
  })

  it('may be the metrics', async () => {
    await aLife({ metrics: { add: breaks, observe: breaks } as never })
  })

  it('may be the tracing', async () => {
    await aLife({ tracing: { transition: breaks } as never })
  })

  it.each(STORES)('may be a listener, on %s', async (name) => {
    const place = PLACES[name]
    const seen = watchProcess()
    await using home = await place()
    const lines: string[] = []
    const say = (message: string) => void lines.push(message)
    await using pawl = await openAt(home, { log: { info: () => {}, warn: say, error: say } })
    let heard = 0
    await using _first = await pawl.engine.subscribe(breaks as () => void)
    await using _second = await pawl.engine.subscribe(() => void (heard += 1))
    await pawl.enqueue(fine, 1)
    await eventually('the other listener to hear of it', () => heard > 0)
    await eventually('the failure to be told', () => lines.includes('a listener failed'))
    expect(seen).toEqual([])
  })

  it('may be a listener behind HTTP', async () => {
    const seen = watchProcess()
    await using home = await open('memory:', { log: 'silent' })
    await using gateway = await startGateway({ engine: home.engine, auth: false, port: 0 })
    await using pawl = await open(gateway.url, { log: 'silent' })
    let heard = 0
    await using _first = await pawl.engine.subscribe(breaks as () => void)
    await using _second = await pawl.engine.subscribe(() => void (heard += 1))
    await eventually('both to listen', () => heard > 0)
    heard = 0
    await pawl.enqueue(fine, 1)
    await eventually('the other listener to hear of it', () => heard > 0)
    expect(seen).toEqual([])
  })
})

it.each([
  ['throws', thrower],
  ['can do nothing', () => ({})],
])('an OpenTelemetry SDK that %s costs spans and measures', async (_, provide) => {
  trace.setGlobalTracerProvider({ getTracer: provide } as never)
  metrics.setGlobalMeterProvider({ getMeter: provide } as never)
  onTestFinished(() => {
    trace.disable()
    metrics.disable()
  })
  await aLife({ telemetry: openTelemetry() })
})

/** A codec that will not have whatever contains the word. */
const fussy = (word: string, answer: () => unknown): BodyCodec => ({
  encode: (text) => (text.includes(word) ? (answer() as string) : JSON.stringify(text)),
  decode: (text) => (text.includes(word) ? (answer() as string) : (JSON.parse(text) as string)),
})

describe.each([
  ['throws', thrower],
  ['answers with nothing', () => undefined],
])('a codec that %s', (_, answer) => {
  const talking = defineJob({
    type: 'talking',
    retry: { attempts: 1 },
    run: (input: { readonly say: string; readonly fail?: boolean }) => {
      const words = [...input.say].reverse().join('')
      if (input.fail === true) throw new Error(words)
      return words
    },
  })

  it.each(['memory', 'http'])('refuses its item and nothing else, on %s', async (where) => {
    const codec = fussy('taboo', answer)
    await using home = await open('memory:', { log: 'silent', codec: where === 'http' ? undefined : codec })
    await using gateway = await startGateway({ engine: home.engine, auth: false, port: 0 })
    await using remote = await open(gateway.url, { codec, log: 'silent' })
    const pawl = where === 'http' ? remote : home
    await using _worker = pawl.work([talking])
    await expect(pawl.enqueue(talking, { say: 'taboo' })).rejects.toBeInstanceOf(Refused)
    const good = await pawl.enqueue(talking, { say: 'hello' })
    const bad = await pawl.enqueue(talking, { say: 'oobat' })
    const worse = await pawl.enqueue(talking, { say: 'oobat', fail: true })
    expect(await good.result({ timeout: '20s' })).toBe('olleh')
    for (const job of [bad, worse]) await expect(job.result({ timeout: '20s' })).rejects.toThrow()
    const [unsaid, unwritable] = [await bad.job(), await worse.job()]
    expect(unsaid).toMatchObject({ state: 'failed', attempt: 1, stalls: 0, error: { code: 'INVALID' } })
    expect(unwritable).toMatchObject({ attempt: 1, stalls: 0, error: { code: 'unwritable' } })
    expect(await (await pawl.enqueue(talking, { say: 'again' })).result({ timeout: '20s' })).toBe('niaga')
    const mixed = [{ say: 'ah' }, { say: 'taboo' }, { say: 'oh' }]
    const each = await pawl.enqueueEach(talking, mixed)
    expect(each.map(({ ok }) => ok)).toEqual([true, false, true])
    const before = (await pawl.find()).jobs.length
    const none = await pawl.enqueueEach(talking, mixed, { atomic: true })
    expect(none.map((one) => (one.ok ? 'enqueued' : (one.error as Refused).code))).toEqual([
      'OTHERS_REFUSED',
      'INVALID',
      'OTHERS_REFUSED',
    ])
    expect((await pawl.find()).jobs).toHaveLength(before)
  })
})
