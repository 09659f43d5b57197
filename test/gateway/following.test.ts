/** One reader of the feed for all streams: what it costs does not depend on how many follow, and nobody misses anything. */
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { FeedWindow } from '../../src/gateway/waiting/feed-window.ts'
import type { EventQuery, FeedItem } from '../../src/store/store.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

const item = (n: number): FeedItem => ({
  position: `${n}.1`,
  jobId: `pj_${n}`,
  rev: 1,
  type: 'enqueued',
  tenant: 't',
  queue: 'q',
  jobType: 'x',
})

/** The same engine, which remembers what it was asked about events. */
const remembering = (engine: Engine, asked: EventQuery[]): Engine =>
  new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'events') return value.bind(target)
      return (query: EventQuery) => {
        asked.push(query)
        return target.events(query)
      }
    },
  })

interface Reader extends AsyncDisposable {
  readonly jobIds: readonly string[]
  readonly last: string | undefined
}

async function reading(fixture: GatewayFixture, query = '', last?: string): Promise<Reader> {
  const cut = new AbortController()
  const jobIds: string[] = []
  const seen: { last: string | undefined } = { last }
  const headers = {
    authorization: `Bearer ${fixture.secrets['acme']?.operator}`,
    accept: 'text/event-stream',
    ...(last === undefined ? {} : { 'last-event-id': last }),
  }
  const response = await fetch(`${fixture.gateway.url}/v1/events${query}`, { headers, signal: cut.signal })
  expect(response.status).toBe(200)
  const done = (async () => {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body as ReadableStream<Uint8Array>) {
      text += decoder.decode(chunk, { stream: true })
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const data = /^data: (.*)$/m.exec(text.slice(0, end))?.[1]
        if (data !== undefined) jobIds.push((JSON.parse(data) as { jobId: string }).jobId)
        seen.last = /^id: (.*)$/m.exec(text.slice(0, end))?.[1] ?? seen.last
        text = text.slice(end + 2)
      }
    }
  })().catch(() => {})
  return {
    jobIds,
    get last() {
      return seen.last
    },
    async [Symbol.asyncDispose]() {
      cut.abort()
      await done
    },
  }
}

const enqueue = async (fixture: GatewayFixture, count: number, queue = 'q') => {
  const { body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', {
    jobs: new Array(count).fill({ type: 'x', queue }),
  })
  return (body['jobs'] as { job: { id: string } }[]).map(({ job }) => job.id)
}

describe('the window', () => {
  it('has what comes after a position within it, and nothing to say about one before it', () => {
    const window = new FeedWindow('5.0')
    window.push([item(5), item(6), item(7)])
    const behind = (position: string) => window.after(position, 10)?.map(({ item }) => item.position)
    expect(behind('5.0')).toEqual(['5.1', '6.1', '7.1'])
    expect(behind('6.1')).toEqual(['7.1'])
    expect(behind('6.5')).toEqual(['7.1'])
    expect(behind('7.1')).toEqual([])
    expect(behind('4.9')).toBeUndefined()
    expect(behind('')).toBeUndefined()
    expect(window.head).toBe('7.1')
    expect(window.after('5.0', 2)?.length).toBe(2)
  })

  it('keeps the last thousand', () => {
    const window = new FeedWindow('0.0')
    for (let n = 1; n <= 2_500; n += 100) window.push(Array.from({ length: 100 }, (_, i) => item(n + i)))
    expect(window.after('1500.1', 2_000)?.length).toBe(1_000)
    expect(window.after('1499.1', 2_000)).toBeUndefined()
  })

  it('keeps so much of what is told, the latest of it, whether it falls out by number or by length', async () => {
    const window = new FeedWindow<string>('0.0')
    const kept = () =>
      (window.after('1.0', 1_000) ?? window.after('1501.1', 1_000))?.filter(({ frames }) => frames !== undefined)
    const tell = (from: string, letters: number) => {
      for (const entry of window.after(from, 1_000) ?? []) {
        entry.frames = Promise.resolve('x')
        window.weigh(entry, letters)
      }
    }
    window.push(Array.from({ length: 1_000 }, (_, i) => item(i + 2)))
    tell('1.0', 100_000)
    expect(kept()?.map(({ item: { position } }) => position)).toEqual(
      Array.from({ length: 41 }, (_, i) => `${i + 961}.1`),
    )
    // Those that fall out make room: as many of the next are kept.
    window.push(Array.from({ length: 1_500 }, (_, i) => item(i + 1_002)))
    tell('1501.1', 4_000)
    expect(kept()).toHaveLength(1_000)
    // What somebody who has fallen behind has read by itself is not kept.
    const alone = { item: item(3), frames: Promise.resolve('x') }
    window.weigh(alone, 5_000_000)
    expect(kept()).toHaveLength(1_000)
  })
})

describe('long events', () => {
  const env = Object.fromEntries(Array.from({ length: 64 }, (_, i) => [`name-${i}`, 'x'.repeat(512)]))

  it('reach everybody, and are read so many at a time as a piece may have room for', async () => {
    const asked: EventQuery[] = []
    await using fixture = await openGatewayFixture({}, (engine) => remembering(engine, asked))
    const jobs = Array.from({ length: 60 }, () => ({ type: 'x', queue: 'q', env }))
    const { body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs })
    const ids = (body['jobs'] as readonly { readonly job: { readonly id: string } }[]).map(({ job }) => job.id)
    // Behind the window: each reads by itself, a page of all and the few events it has room for, again and again.
    await using reader = await reading(fixture, '?last_event_id=')
    await eventually('it has seen all', () => reader.jobIds.length === ids.length)
    expect(reader.jobIds).toEqual(ids)
    expect(asked.filter(({ by }) => by === 'job').length).toBeLessThan(12 * ids.length)
  })
})

describe('many who follow', () => {
  it('cost as many reads as one', async () => {
    const reads: number[] = []
    for (const followers of [1, 40]) {
      const asked: EventQuery[] = []
      await using fixture = await openGatewayFixture({}, (engine) => remembering(engine, asked))
      await using readers = new AsyncDisposableStack()
      const all: Reader[] = []
      for (let n = 0; n < followers; n += 1) all.push(readers.use(await reading(fixture)))
      // Whoever is told nothing hears that its stream has begun.
      asked.length = 0
      const ids = await enqueue(fixture, 30)
      await eventually('all have seen all', () => all.every(({ jobIds }) => jobIds.length === 30))
      for (const { jobIds } of all) expect(jobIds).toEqual(ids)
      expect(asked.filter(({ by }) => by === 'job')).toHaveLength(30)
      reads.push(asked.filter(({ by }) => by === 'feed').length)
    }
    // Give or take the look of a second.
    expect(Math.abs((reads[0] ?? 0) - (reads[1] ?? 0))).toBeLessThanOrEqual(4)
  })

  it('read nothing at all once nobody follows', async () => {
    const asked: EventQuery[] = []
    await using fixture = await openGatewayFixture({}, (engine) => remembering(engine, asked))
    await (await reading(fixture))[Symbol.asyncDispose]()
    await eventually('the gateway has noticed', async () => {
      asked.length = 0
      await enqueue(fixture, 1)
      return asked.every(({ by }) => by !== 'feed')
    })
  })

  it('go on where they were: a short way back out of the window, a long one out of the store', async () => {
    const asked: EventQuery[] = []
    await using fixture = await openGatewayFixture({}, (engine) => remembering(engine, asked))
    await using _other = await reading(fixture, '?queue=none')
    const first = await reading(fixture)
    const ids = await enqueue(fixture, 5)
    await eventually('it has seen them', () => first.jobIds.length === 5)
    await first[Symbol.asyncDispose]()
    const more = await enqueue(fixture, 5)
    asked.length = 0
    await using second = await reading(fixture, '', first.last)
    await eventually('it has seen the rest', () => second.jobIds.length === 5)
    expect(second.jobIds).toEqual(more)
    // The reader's own look at the most.
    expect(asked.filter(({ by }) => by === 'feed').length).toBeLessThanOrEqual(2)
    const many: string[] = []
    for (let n = 0; n < 4; n += 1) many.push(...(await enqueue(fixture, 500)))
    await using third = await reading(fixture, '', first.last)
    await eventually('it has seen everything', () => third.jobIds.length === 2_005)
    expect(third.jobIds).toEqual([...more, ...many])
    await using fourth = await reading(fixture, '?last_event_id=')
    await eventually('from the very beginning', () => fourth.jobIds.length === 2_010)
    expect(fourth.jobIds).toEqual([...ids, ...more, ...many])
  })
})
