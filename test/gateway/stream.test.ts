/** The event stream: each event exactly once, in order, however often the line breaks. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { scaled } from '../support/scale.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture()
})
afterAll(async () => fixture[Symbol.asyncDispose]())

interface Frame {
  readonly id: string
  readonly data: { readonly jobId: string; readonly rev: number; readonly type: string }
}

/** Reads until `enough` says so, or `cutAfter` bytes have come; then the line is cut, wherever that is. */
async function read(
  query: string,
  last: string | undefined,
  enough: (frames: readonly Frame[]) => boolean,
  cutAfter = Number.POSITIVE_INFINITY,
): Promise<readonly Frame[]> {
  const cut = new AbortController()
  const headers = {
    authorization: `Bearer ${fixture.secrets['acme']?.viewer}`,
    accept: 'text/event-stream',
    ...(last === undefined ? {} : { 'last-event-id': last }),
  }
  const response = await fetch(`${fixture.gateway.url}/v1/events${query}`, { headers, signal: cut.signal })
  expect(response.status).toBe(200)
  const decoder = new TextDecoder()
  const frames: Frame[] = []
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      const room = cutAfter - bytes
      text += decoder.decode(chunk.slice(0, room), { stream: true })
      bytes += chunk.length
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const frame = frameOf(text.slice(0, end))
        if (frame !== undefined) frames.push(frame)
        text = text.slice(end + 2)
      }
      if (bytes >= cutAfter || enough(frames)) break
    }
  } finally {
    cut.abort()
  }
  return frames
}

function frameOf(text: string): Frame | undefined {
  const id = /^id: (.*)$/m.exec(text)?.[1]
  const data = /^data: (.*)$/m.exec(text)?.[1]
  return id === undefined || data === undefined ? undefined : { id, data: JSON.parse(data) }
}

describe('the stream', () => {
  it('shows each event exactly once and in order over reconnections at random points', async () => {
    const jobs = scaled(300, 3_000)
    const items = Array.from({ length: jobs }, () => ({ type: 'x', queue: 'stream' }))
    for (let i = 0; i < items.length; i += 500)
      await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs: items.slice(i, i + 500) })
    let seed = 42
    const random = () => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed / 2_147_483_648
    }
    const seen: Frame[] = []
    let last = ''
    let connections = 0
    const reconnections = scaled(60, 1_000)
    while (seen.length < jobs) {
      connections += 1
      const left = jobs - seen.length
      const cutAfter =
        connections < reconnections
          ? Math.floor(random() * ((2 * jobs * 500) / reconnections)) + 16
          : Number.POSITIVE_INFINITY
      const frames = await read('?queue=stream', last, (got) => got.length >= left, cutAfter)
      seen.push(...frames)
      last = seen.at(-1)?.id ?? ''
    }
    expect(seen.map(({ data }) => data.jobId)).toEqual([...new Set(seen.map(({ data }) => data.jobId))])
    expect(seen).toHaveLength(jobs)
    const enqueued = (await fixture.pawl.find({ queues: ['stream'], order: 'oldest', limit: jobs })).jobs
    expect(seen.map(({ data }) => data.jobId)).toEqual(enqueued.map(({ id }) => id))
    expect(connections).toBeGreaterThan(10)
  })

  it('says where it begins, so that who is cut off before the first event misses nothing', async () => {
    const cut = new AbortController()
    const headers = { authorization: `Bearer ${fixture.secrets['acme']?.viewer}`, accept: 'text/event-stream' }
    const response = await fetch(`${fixture.gateway.url}/v1/events?jobType=between`, { headers, signal: cut.signal })
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    const [, begin] = /^retry: 1000\nid: (\S+)\n\n$/.exec(new TextDecoder().decode((await reader.read()).value)) ?? []
    cut.abort()
    const { body } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'between' })
    const frames = await read('?jobType=between', begin, (some) => some.length > 0)
    expect(frames[0]?.data).toMatchObject({ jobId: body['id'], type: 'enqueued' })
  })

  it('shows what happens from now on, and only what was asked for', async () => {
    const reading = read('?queue=now&type=succeeded', undefined, (got) => got.length >= 1)
    // The stream begins at the feed's end: work goes on until it has seen some.
    let done = false
    void reading.then(() => {
      done = true
    })
    while (!done) {
      await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'now' })
      const { body } = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['now'] })
      const [first] = body['jobs'] as { job: { id: string }; fence: string }[]
      await fixture.ask('worker', 'POST', `/v1/jobs/${first?.job.id}/complete`, { fence: first?.fence })
    }
    expect(new Set((await reading).map(({ data }) => data.type))).toEqual(new Set(['succeeded']))
  })

  it('is another tenant’s own', async () => {
    const secret = fixture.secrets['rival']?.viewer
    const { body } = await fixture.ask(secret, 'GET', '/v1/events?after=&limit=1000')
    expect(body['feed']).toEqual([])
  })

  it('ends when its token is revoked', async () => {
    const { token, secret } = await fixture.gateway.tokens.create({
      name: 's',
      scope: 'viewer',
      tenant: 'acme',
      queues: undefined,
    })
    const response = await fetch(`${fixture.gateway.url}/v1/events`, {
      headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream' },
    })
    await fixture.gateway.tokens.revoke(token.id, 'acme')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    for (;;) if ((await reader.read()).done) break
  })

  it.each(['no such event', 'x'.repeat(200)])('refuses to resume at %s', async (last) => {
    const { status } = await fixture.ask('viewer', 'GET', '/v1/events', undefined, {
      accept: 'text/event-stream',
      'last-event-id': last,
    })
    expect(status).toBe(400)
  })

  it('is cut off where nobody takes what is sent', async () => {
    // The time to take a piece is over in a moment.
    let givenUp = 0
    const after: typeof realTimers.after = (ms, fn) => {
      if (ms !== 30_000) return realTimers.after(ms, fn)
      return realTimers.after(100, () => {
        givenUp += 1
        fn()
      })
    }
    await using fast = await openGatewayFixture({ timers: { ...realTimers, after } })
    const env = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`n${i}`, 'x'.repeat(500)]))
    for (let n = 0; n < 5; n += 1)
      await fast.ask('producer', 'POST', '/v1/jobs:batch', { jobs: new Array(200).fill({ type: 't', env }) })
    const { hostname, port } = new URL(fast.gateway.url)
    const socket = connect(Number(port), hostname).pause()
    const head = `Host: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${fast.secrets['acme']?.operator}`
    socket.on('error', () => {}).write(`GET /v1/events?last_event_id= HTTP/1.1\r\n${head}\r\n\r\n`)
    await eventually('nobody waits for it any more', () => givenUp > 0)
    let tail = ''
    socket.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString('latin1')).slice(-100)
    })
    const closed = once(socket, 'close')
    socket.resume()
    await closed
    expect(tail).not.toBe('')
    // An answer that came to its proper end would have said so.
    expect(tail.endsWith('\r\n0\r\n\r\n')).toBe(false)
  })
})
