/** Hints from outside: where to look, told to whoever may look there, and read by nobody. */
import { describe, expect, it } from 'vitest'
import { hintsIn } from '../../src/client/subscription.ts'
import type { Engine } from '../../src/engine/engine.ts'
import type { HintFrame } from '../../src/gateway/contract/hints.ts'
import { Hearing } from '../../src/gateway/waiting/hearing.ts'
import type { Listener } from '../../src/gateway/waiting/listener.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import type { Hint } from '../../src/store/store.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

const DATA = 'data: '

interface Heard extends AsyncDisposable {
  readonly hints: Hint[]
}

async function hearing(fixture: GatewayFixture, secret: string | undefined): Promise<Heard> {
  const cut = new AbortController()
  const hints: Hint[] = []
  const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' }
  const response = await fetch(`${fixture.gateway.url}/v1/hints`, { headers, signal: cut.signal })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  const done = (async () => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        if (text.startsWith(DATA)) hints.push(...hintsIn(JSON.parse(text.slice(DATA.length, end)) as HintFrame))
        text = text.slice(end + 2)
      }
    }
  })().catch(() => {})
  return {
    hints,
    async [Symbol.asyncDispose]() {
      cut.abort()
      await done
    },
  }
}

const queuesIn = (hints: readonly Hint[]) =>
  new Set(hints.flatMap((hint) => (hint.about === 'anything' ? [] : [`${hint.tenant}/${hint.queue}`])))

/** The same engine, which counts what it is asked. */
const counting = (engine: Engine, calls: Map<string, number>): Engine =>
  new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...words: unknown[]) => {
        calls.set(String(name), (calls.get(String(name)) ?? 0) + 1)
        return value.apply(target, words)
      }
    },
  })

describe('hints', () => {
  it('tell of work and of jobs that have ended, to those who may look there', async () => {
    await using fixture = await openGatewayFixture()
    const { secret } = await fixture.gateway.tokens.create({
      name: 'w',
      scope: 'worker',
      tenant: 'acme',
      queues: ['b'],
    })
    await using all = await hearing(fixture, fixture.secrets['acme']?.worker)
    await using some = await hearing(fixture, secret)
    await using rival = await hearing(fixture, fixture.secrets['rival']?.admin)
    const ids: unknown[] = []
    for (const queue of ['a', 'b']) {
      const { body } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue })
      await fixture.ask('operator', 'POST', `/v1/jobs/${body['id']}/cancel`, { mode: 'hard' })
      ids.push(body['id'])
    }
    await fixture.ask(fixture.secrets['rival']?.producer, 'POST', '/v1/jobs', { type: 'x', queue: 'b' })
    const isAbout = (id: unknown) => (hint: Hint) => hint.about === 'job' && hint.id === id
    const isWork = (hint: Hint) => hint.about === 'queue'
    await eventually('both are heard of', () => ids.every((id) => all.hints.some(isAbout(id))))
    await eventually('its own is heard of', () => some.hints.some(isAbout(ids[1])))
    await eventually('the rival hears of its own', () => rival.hints.some(isWork))
    expect(all.hints.some(isWork)).toBe(true)
    expect(queuesIn(all.hints)).toEqual(new Set(['acme/a', 'acme/b']))
    expect(queuesIn(some.hints)).toEqual(new Set(['acme/b']))
    expect(queuesIn(rival.hints)).toEqual(new Set(['rival/b']))
  })

  it('are not for who would wait for an end of them', async () => {
    await using fixture = await openGatewayFixture()
    const { status, body } = await fixture.ask('worker', 'GET', '/v1/hints')
    expect(status).toBe(400)
    expect(body['violations']).toEqual([{ field: 'header.accept', rule: 'must be text/event-stream' }])
  })

  it('end when their token is revoked', async () => {
    await using fixture = await openGatewayFixture()
    const { token, secret } = await fixture.gateway.tokens.create({
      name: 'w',
      scope: 'worker',
      tenant: 'acme',
      queues: undefined,
    })
    const headers = { authorization: `Bearer ${secret}`, accept: 'text/event-stream' }
    const response = await fetch(`${fixture.gateway.url}/v1/hints`, { headers })
    await fixture.gateway.tokens.revoke(token.id, 'acme')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (;;) if ((await reader.read()).done) break
  })

  it('are read by nobody: a worker that drains asks the store to give and to take, and nothing else', async () => {
    const calls = new Map<string, number>()
    await using fixture = await openGatewayFixture({}, (engine) => counting(engine, calls))
    const noop = defineJob({ type: 'noop', queue: 'q', run: () => {} })
    await using remote = await open(fixture.gateway.url, { token: fixture.secrets['acme']?.worker, log: 'silent' })
    await using working = remote.work([noop])
    const drained = async (count: number) => {
      const handles = await fixture.pawl.enqueueMany(noop, new Array(count).fill(undefined))
      const last = handles.at(-1)
      await last?.result({ timeout: '30s' })
      await eventually('all have ended', async () => {
        const { jobs } = await fixture.pawl.find({ states: ['queued', 'claimed', 'running'], limit: 1 })
        return jobs.length === 0 && working.held === 0
      })
    }
    // It has announced itself, and hears.
    await drained(10)
    calls.clear()
    await drained(2_000)
    expect([calls.get('events'), calls.get('find')]).toEqual([undefined, undefined])
    expect(calls.get('load') ?? 0).toBeLessThan(100)
    expect(calls.get('settle')).toBeGreaterThan(0)
  })
})

describe('a listener', () => {
  const signal = new AbortController().signal
  const work = (queue: string): Hint => ({ about: 'queue', tenant: 't', queue })
  const job = (n: number): Hint => ({ about: 'job', id: `pj_${n}`, tenant: 't', queue: 'q' })

  function setUp() {
    const time = new VirtualTime(0)
    const from = new Hearing(time, time)
    const listener = from.listen({ tenant: 't', queues: undefined })
    return { time, from, listener }
  }

  async function told(listener: Listener, time: VirtualTime): Promise<HintFrame | undefined> {
    const frames = listener.frames()
    await time.advance(10)
    const text = await frames
    return text === undefined ? undefined : (JSON.parse(text.slice(DATA.length)) as HintFrame)
  }

  it('is told the first at once, and what comes right after it together, each once', async () => {
    const { time, from, listener } = setUp()
    from.hinted(work('q'))
    expect(await listener.frames()).toContain('"work":["q"]')
    for (const hint of [work('q'), work('q'), job(1), job(1), job(2)]) from.hinted(hint)
    expect(await told(listener, time)).toEqual({
      tenant: 't',
      work: ['q'],
      jobs: { q: ['pj_1', 'pj_2'] },
      anything: false,
    })
    expect(await listener.frames()).toBeUndefined()
  })

  it('that takes slowly is kept no more for than so many names; what is more may be about anything', async () => {
    const { time, from, listener } = setUp()
    for (let n = 0; n < 10_001; n += 1) from.hinted(job(n))
    expect(await told(listener, time)).toEqual({ tenant: 't', work: [], jobs: {}, anything: true })
  })

  it('hears of anything once a second, and of the rest meanwhile', async () => {
    const { time, from, listener } = setUp()
    const heard: boolean[] = []
    from.hinted({ about: 'anything' })
    heard.push((await told(listener, time))?.anything === true)
    from.hinted({ about: 'anything' })
    heard.push((await told(listener, time)) !== undefined)
    from.hinted(work('q'))
    heard.push((await told(listener, time))?.anything === true)
    const waited = listener.next(5_000, signal)
    await time.advance(1_000)
    await waited
    heard.push((await told(listener, time))?.anything === true)
    expect(heard).toEqual([true, false, false, true])
  })

  it('that has gone is kept nothing for', async () => {
    const { from, listener } = setUp()
    listener[Symbol.dispose]()
    from.hinted(work('q'))
    expect(await listener.frames()).toBeUndefined()
  })
})
