/** Lines on which nothing comes any more: how long that takes to be found out, in virtual time, and what is dropped with them. */
import { describe, expect, it } from 'vitest'
import { HttpEngine } from '../../src/client/client.ts'
import { Http } from '../../src/client/http.ts'
import { ANSWER_WITHIN_MS } from '../../src/client/patience.ts'
import { subscribeTo } from '../../src/client/subscription.ts'
import type { Hint } from '../../src/store/store.ts'
import type { Timers } from '../../src/system/timers.ts'
import { VirtualTime } from '../../src/testing/virtual-time.ts'

const URL_ = 'http://gateway.invalid'
const SECOND = 1_000

interface Asked {
  readonly path: string
  readonly atMs: number
  readonly signal: AbortSignal
  readonly isFresh: boolean
}

type Answer = Response | 'nothing'

/** A gateway that answers as it is told to, or not at all; what it was asked stays known. */
function gateway(time: VirtualTime, answer: (path: string, n: number) => Answer | Promise<Answer>) {
  const asked: Asked[] = []
  const fetch: typeof globalThis.fetch = async (url, init) => {
    const { signal, keepalive } = init ?? {}
    if (!(signal instanceof AbortSignal)) throw new Error('every request has a signal')
    const path = new URL(String(url)).pathname
    asked.push({ path, atMs: time.monotonicMs(), signal, isFresh: keepalive === false })
    const said = await answer(path, asked.length)
    return said === 'nothing' ? new Promise(() => {}) : said
  }
  return { asked, fetch, of: (path: string) => asked.filter((each) => each.path === path) }
}

const lines = (time: VirtualTime, fetch: typeof globalThis.fetch) =>
  new Http({ url: URL_, token: undefined, timers: time, clock: time, fetch })

const failed = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => String(error),
  )

/** A body that has begun and goes on when it is told to. */
function stream() {
  let to: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      to = controller
    },
  })
  return { response: new Response(body), say: (text: string) => to?.enqueue(new TextEncoder().encode(text)) }
}

describe('a gateway that never answers', () => {
  it('is asked again every twelve seconds, and given up after three tries', async () => {
    const time = new VirtualTime(0)
    const { asked, fetch } = gateway(time, () => 'nothing')
    const told = failed(lines(time, fetch).request('GET', '/v1/jobs/a'))
    await time.advance(40 * SECOND)
    expect(await told).toMatch(/could not be asked: no answer for 12 s/)
    expect(asked).toHaveLength(3)
    expect(asked.every(({ signal }) => signal.aborted)).toBe(true)
    expect(time.pending).toBe(0)
  })

  it('has twelve seconds, as long as it was asked to wait besides, and time for what is long', async () => {
    const time = new VirtualTime(0)
    const { asked, fetch } = gateway(time, () => 'nothing')
    const http = lines(time, fetch)
    const all = [
      http.request('GET', '/v1/search'),
      http.request('POST', '/v1/waits', '{}', { waitMs: 60 * SECOND }),
      http.request('POST', '/v1/long', 'x'.repeat(1_000_000)),
    ].map(failed)
    const over = (path: string) => asked.find((each) => each.path === path)?.signal.aborted
    for (const [path, ms] of Object.entries({ '/v1/search': 12, '/v1/long': 22, '/v1/waits': 72 })) {
      await time.advance(ms * SECOND - time.monotonicMs() - 1_000)
      expect([path, over(path)]).toEqual([path, false])
      await time.advance(1_000)
      expect([path, over(path)]).toEqual([path, true])
    }
    http.close()
    for (const told of await Promise.all(all)) expect(told).toMatch(/GatewayUnavailable/)
  })

  it('has a quarter of the shortest lease to answer a heartbeat: there is time for another', async () => {
    const time = new VirtualTime(0)
    const { asked, fetch } = gateway(time, (_, n) =>
      n > 2
        ? Response.json({
            answers: [
              { ok: true, rev: 1 },
              { ok: true, rev: 1 },
            ],
          })
        : 'nothing',
    )
    const engine = new HttpEngine({ url: URL_, timers: time, clock: time, fetch })
    const beat = { id: 'pj_1', fence: 'f', requestId: 'f/beat/1' }
    const answered = engine.heartbeat([
      { ...beat, windowMs: 10 * SECOND },
      { ...beat, windowMs: 30 * SECOND },
    ])
    await time.advance(10 * SECOND)
    expect(await answered).toMatchObject([{ ok: true }, { ok: true }])
    expect(asked.map(({ atMs }) => atMs)).toEqual([0, 2_700, 5_400])
  })
})

describe('a silence of the stream of hints', () => {
  it('tells of a long poll that came by an old line, where only new ones are heard', async () => {
    const time = new VirtualTime(0)
    let isOldSilent = false
    const hints = stream()
    const { of, fetch } = gateway(time, (path, n) => {
      if (path === '/v1/hints') return n === 1 ? hints.response : stream().response
      return isOldSilent && path === '/v1/claims' && n < 4 ? 'nothing' : Response.json({})
    })
    const http = lines(time, fetch)
    const subscription = subscribeTo(http, time, () => {})
    await time.advance(SECOND)
    hints.say(': nothing\n\n')
    isOldSilent = true
    const claim = http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND })
    hints.say(': nothing\n\n')
    // Heartbeats have found new lines, and are heard all the time.
    for (let n = 0; n < 12; n += 1) {
      await time.advance(SECOND)
      await http.request('POST', '/v1/heartbeats', '{}')
    }
    expect((await claim).status).toBe(200)
    expect(of('/v1/claims').map(({ atMs }) => atMs)).toEqual([SECOND, expect.closeTo(11 * SECOND, -3)])
    const disposed = subscription[Symbol.asyncDispose]()
    await time.advance(SECOND)
    await disposed
    http.close()
  })

  it('tells of a long poll whose next line has swallowed it, too, once it has spoken before', async () => {
    const time = new VirtualTime(0)
    const hints = stream()
    let isGood = false
    const { of, fetch } = gateway(time, (path, n) => {
      if (n === 1) return hints.response
      if (!isGood) return 'nothing'
      return path === '/v1/hints' ? stream().response : Response.json({})
    })
    const http = lines(time, fetch)
    const subscription = subscribeTo(http, time, () => {})
    await time.advance(SECOND)
    hints.say(': nothing\n\n')
    await time.advance(0)
    const claim = http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND })
    await time.advance(15 * SECOND)
    expect(of('/v1/claims')).toHaveLength(2)
    isGood = true
    await time.advance(10 * SECOND)
    expect(of('/v1/claims')).toHaveLength(3)
    expect((await claim).status).toBe(200)
    const disposed = subscription[Symbol.asyncDispose]()
    await time.advance(SECOND)
    await disposed
    http.close()
  })
})

describe('lines that were good', () => {
  it('are dropped all at once when one of them falls silent: nobody else has to find out', async () => {
    const time = new VirtualTime(0)
    let silent = false
    const { asked, fetch } = gateway(time, () => (silent ? 'nothing' : Response.json({})))
    const http = lines(time, fetch)
    await http.request('GET', '/v1/before')
    silent = true
    const long = http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND })
    await time.advance(4 * SECOND)
    const short = http.request('GET', '/v1/jobs/a')
    silent = false
    await time.advance(ANSWER_WITHIN_MS - SECOND)
    expect(asked).toHaveLength(3)
    await time.advance(2 * SECOND)
    expect((await long).status).toBe(200)
    expect((await short).status).toBe(200)
    expect(asked.map(({ path, isFresh }) => [path, isFresh])).toEqual([
      ['/v1/before', false],
      ['/v1/claims', false],
      ['/v1/jobs/a', false],
      ['/v1/claims', true],
      ['/v1/jobs/a', false],
    ])
  })

  it('are left alone where one answer is slow and others come: the long poll goes on, and the slow one is heard', async () => {
    const time = new VirtualTime(0)
    const slow = time.sleep(7 * SECOND).then(() => Response.json({}))
    const { asked, fetch, of } = gateway(time, (path) =>
      path === '/v1/slow' ? slow : path === '/v1/claims' ? 'nothing' : Response.json({}),
    )
    const http = lines(time, fetch)
    const long = failed(http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND }))
    const told = http.request('GET', '/v1/slow')
    for (let n = 0; n < 10; n += 1) {
      await time.advance(SECOND)
      await http.request('GET', '/v1/tick')
    }
    expect((await told).status).toBe(200)
    expect(of('/v1/slow')).toHaveLength(1)
    expect(asked.every(({ signal }) => !signal.aborted)).toBe(true)
    http.close()
    await long
  })

  it('are not blamed for one that falls silent while others are heard: it is given up alone', async () => {
    const time = new VirtualTime(0)
    const { fetch, of } = gateway(time, (path) => (path === '/v1/tick' ? Response.json({}) : 'nothing'))
    const http = lines(time, fetch)
    const long = failed(http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND }))
    const told = failed(http.request('GET', '/v1/never'))
    for (let n = 0; n < 50; n += 1) {
      await time.advance(SECOND)
      await http.request('GET', '/v1/tick')
    }
    expect(await told).toMatch(/no answer for 12 s/)
    expect(of('/v1/claims').map(({ signal }) => signal.aborted)).toEqual([false])
    http.close()
    await long
  })

  it('that are dropped again and again cost no call its tries but the silent ones', async () => {
    const time = new VirtualTime(0)
    const { fetch, of } = gateway(time, (path) => (path === '/v1/before' ? Response.json({}) : 'nothing'))
    const http = lines(time, fetch)
    let told: string | undefined
    const long = failed(http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND })).then((error) => {
      told = error
    })
    for (let n = 0; n < 8; n += 1) {
      await http.request('GET', '/v1/before')
      await time.advance(SECOND)
      const silent = new AbortController()
      const given = failed(http.until(silent.signal).request('GET', '/v1/never'))
      await time.advance(ANSWER_WITHIN_MS)
      silent.abort()
      await time.settle()
      await given
    }
    expect(of('/v1/claims')).toHaveLength(9)
    expect(told).toBeUndefined()
    http.close()
    await long
  })
  it('are not blamed by whom they have never carried anything for: another waits on', async () => {
    const time = new VirtualTime(0)
    const { asked, fetch } = gateway(time, () => 'nothing')
    const http = lines(time, fetch)
    const long = failed(http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND }))
    const short = failed(http.request('GET', '/v1/jobs/a'))
    await time.advance(40 * SECOND)
    expect(await short).toMatch(/no answer for 12 s/)
    expect(asked.filter(({ path }) => path === '/v1/claims').map(({ signal }) => signal.aborted)).toEqual([false])
    http.close()
    await long
  })

  it('may bring a body piece by piece, as long as pieces come', async () => {
    const time = new VirtualTime(0)
    const bodies = [stream(), stream()]
    const { asked, fetch } = gateway(time, (_, n) => bodies[n - 1]?.response ?? Response.json({ n }))
    const told = lines(time, fetch).request('GET', '/v1/jobs')
    for (let n = 0; n < 10; n += 1) {
      await time.advance(11 * SECOND)
      bodies[0]?.say('[')
    }
    expect(asked).toHaveLength(1)
    await time.advance(13 * SECOND)
    bodies[1]?.say('{')
    await time.advance(13 * SECOND)
    expect(await told).toEqual({ status: 200, body: { n: 3 } })
  })
})

describe('good lines', () => {
  it('are not blamed for a heartbeat on a short lease; a slow answer to it comes in time', async () => {
    const time = new VirtualTime(0)
    const beaten = { answers: [{ ok: true, rev: 1 }] }
    const { fetch, of } = gateway(time, async (path) => {
      if (path === '/v1/claims') return 'nothing'
      if (path !== '/v1/transitions:batch') return Response.json({})
      await time.sleep(600)
      return Response.json(beaten)
    })
    const http = lines(time, fetch)
    const engine = new HttpEngine({ url: URL_, timers: time, clock: time }, http)
    await http.request('GET', '/v1/before')
    const long = failed(http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND }))
    await time.advance(SECOND)
    const beat = { id: 'pj_1', fence: 'f', requestId: 'f/beat/1', windowMs: 2 * SECOND }
    const answered = engine.heartbeat([beat])
    await time.advance(SECOND)
    expect(await answered).toMatchObject([{ ok: true }])
    expect(of('/v1/transitions:batch')).toHaveLength(1)
    http.close()
    await long
  })

  it('are not blamed for a heartbeat that is not answered', async () => {
    const time = new VirtualTime(0)
    const { fetch, of } = gateway(time, (path) => (path === '/v1/before' ? Response.json({}) : 'nothing'))
    const http = lines(time, fetch)
    const engine = new HttpEngine({ url: URL_, timers: time, clock: time }, http)
    await http.request('GET', '/v1/before')
    const long = failed(http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND }))
    const beat = { id: 'pj_1', fence: 'f', requestId: 'f/beat/1', windowMs: 10 * SECOND }
    const answered = failed(engine.heartbeat([beat]))
    await time.advance(5 * SECOND)
    expect(of('/v1/transitions:batch').map(({ atMs, isFresh }) => [atMs, isFresh])).toEqual([
      [0, false],
      [2_700, true],
    ])
    expect(of('/v1/claims').map(({ signal }) => signal.aborted)).toEqual([false])
    http.close()
    await Promise.all([long, answered])
  })

  it('are not blamed for the time that a gateway wants to be left alone for', async () => {
    const time = new VirtualTime(0)
    const busy = () => new Response('{}', { status: 503, headers: { 'retry-after': '5' } })
    const { fetch, of } = gateway(time, (path, n) =>
      path !== '/v1/busy' ? 'nothing' : n < 5 ? busy() : Response.json({}),
    )
    const http = lines(time, fetch)
    const long = failed(http.request('POST', '/v1/claims', '{}', { waitMs: 60 * SECOND }))
    const told = http.request('GET', '/v1/busy', undefined, { usefulMs: 2 * SECOND })
    await time.settle()
    // The claim's timer, and the pause.
    expect(time.pending).toBe(2)
    await time.advance(30 * SECOND)
    expect((await told).status).toBe(200)
    expect(of('/v1/claims').map(({ signal }) => signal.aborted)).toEqual([false])
    http.close()
    await long
  })

  it('are not blamed where this process was busy: what has come meanwhile is read first', async () => {
    const time = new VirtualTime(0)
    const { promise, resolve } = Promise.withResolvers<Response>()
    const { asked, fetch } = gateway(time, () => promise)
    // Timers first, then what sockets have.
    const timers: Timers = {
      sleep: (ms, signal) => time.sleep(ms, signal),
      after: (ms, act) =>
        time.after(ms, () => {
          act()
          resolve(Response.json({ n: 1 }))
        }),
    }
    const told = new Http({ url: URL_, token: undefined, timers, clock: time, fetch }).request('GET', '/v1/jobs/a')
    await time.advance(40 * SECOND)
    expect(await told).toEqual({ status: 200, body: { n: 1 } })
    expect(asked).toHaveLength(1)
  })
})

describe('the stream of hints', () => {
  const listening = async (time: VirtualTime, fetch: typeof globalThis.fetch) => {
    const hints: Hint[] = []
    const engine = new HttpEngine({ url: URL_, timers: time, clock: time, fetch })
    await engine.subscribe((hint) => hints.push(hint))
    await time.settle()
    return { engine, hints }
  }

  it('is replaced ten seconds after it said something last, and what waits on other lines asks again at once', async () => {
    const time = new VirtualTime(0)
    const [first, second] = [stream(), stream()]
    const streams = [first, second]
    let claims = 0
    const { asked, fetch } = gateway(time, (path) => {
      if (path === '/v1/hints') return streams.shift()?.response ?? 'nothing'
      claims += 1
      return claims === 1 ? 'nothing' : Response.json({ jobs: [] })
    })
    const { engine, hints } = await listening(time, fetch)
    const claim = engine.claim({
      requestId: 'c',
      workerId: 'w',
      lanes: [{ tenant: '', queue: 'q', priority: 5 }],
      limit: 1,
      waitMs: 60 * SECOND,
    })
    for (let n = 0; n < 5; n += 1) {
      first.say(': still here\n\n')
      await time.advance(9 * SECOND)
    }
    expect(asked).toHaveLength(2)
    await time.advance(2 * SECOND)
    expect(await claim).toEqual([])
    second.say('data: {"tenant":"","work":["q"],"jobs":{},"anything":false}\n\n')
    await time.settle()
    expect(hints).toEqual([{ about: 'anything' }, { about: 'anything' }, { about: 'queue', tenant: '', queue: 'q' }])
    await engine[Symbol.asyncDispose]()
  })

  it('that something on the way keeps back is replaced, and costs nobody else anything', async () => {
    const time = new VirtualTime(0)
    const { asked, fetch } = gateway(time, (path) => (path === '/v1/hints' ? stream().response : 'nothing'))
    const { engine } = await listening(time, fetch)
    const claimed = failed(engine.claim({ requestId: 'c', workerId: 'w', lanes: [], limit: 1, waitMs: 60 * SECOND }))
    await time.advance(60 * SECOND)
    const of = (path: string) => asked.filter((each) => each.path === path)
    expect(of('/v1/claims').map(({ signal }) => signal.aborted)).toEqual([false])
    expect(of('/v1/hints').length).toBeGreaterThan(4)
    await engine[Symbol.asyncDispose]()
    await claimed
  })
})
