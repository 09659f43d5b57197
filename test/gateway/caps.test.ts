/** Every cap: who comes beyond it is told its name, nobody else notices, and what was given back can be had again. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { resolvePolicy } from '../../src/core/resolve.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { CAPS, type CapName, capsWith } from '../../src/gateway/caps.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { Turns } from '../../src/gateway/turns.ts'
import type { EventQuery } from '../../src/store/store.ts'
import { VirtualClock } from '../engine/virtual-clock.ts'
import { eventually } from '../support/eventually.ts'
import { type Answered, type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

const beyond = (cap: CapName, { status, headers, body }: Answered) => {
  expect(body).toMatchObject({ cap, code: CAPS[cap].refusal })
  expect(String(body['detail'])).not.toBe('')
  if (status === 429 || status === 503) expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  else expect([413, 422]).toContain(status)
}

const stream = (fixture: GatewayFixture, secret: string | undefined, signal: AbortSignal) =>
  fetch(`${fixture.gateway.url}/v1/events`, {
    headers: { authorization: `Bearer ${secret}`, accept: 'text/event-stream' },
    signal,
  })

/** The same engine, which notes what it is asked to do. */
const noting = (engine: Engine, calls: string[]): Engine =>
  new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...words: unknown[]) => {
        calls.push(name === 'events' ? `events by ${(words[0] as EventQuery).by}` : String(name))
        return value.apply(target, words)
      }
    },
  })

describe('caps', () => {
  it('are numbers above 0 under names that exist', () => {
    expect(capsWith({ reads: 7 }).reads).toBe(7)
    expect(() => capsWith({ raeds: 7 } as never)).toThrow('no cap raeds')
    for (const bad of [0, -1, 1.5, Number.NaN]) expect(() => capsWith({ reads: bad })).toThrow('reads')
  })
})

describe('streams', () => {
  it('are so many per token, and can be had again', async () => {
    await using fixture = await openGatewayFixture({ caps: { streamsPerToken: 3 } })
    const cuts = Array.from({ length: 3 }, () => new AbortController())
    for (const cut of cuts)
      expect((await stream(fixture, fixture.secrets['acme']?.viewer, cut.signal)).status).toBe(200)
    const headers = { accept: 'text/event-stream' }
    beyond('streamsPerToken', await fixture.ask('viewer', 'GET', '/v1/events', undefined, headers))
    const other = new AbortController()
    expect((await stream(fixture, fixture.secrets['rival']?.viewer, other.signal)).status).toBe(200)
    cuts[0]?.abort()
    await eventually('there is room again', async () => {
      const { status } = await stream(fixture, fixture.secrets['acme']?.viewer, cuts[1]?.signal as AbortSignal)
      return status === 200
    })
    for (const cut of [...cuts, other]) cut.abort()
  })

  it('are so many in all', async () => {
    await using fixture = await openGatewayFixture({ caps: { streams: 1 } })
    const cut = new AbortController()
    expect((await stream(fixture, fixture.secrets['acme']?.viewer, cut.signal)).status).toBe(200)
    beyond(
      'streams',
      await fixture.ask(fixture.secrets['rival']?.viewer, 'GET', '/v1/events', undefined, {
        accept: 'text/event-stream',
      }),
    )
    cut.abort()
  })
})

describe('what all share', () => {
  it('is not taken by one tenant, whatever number of tokens it makes', async () => {
    await using fixture = await openGatewayFixture({ caps: { streams: 20, streamsPerToken: 4 } })
    const cut = new AbortController()
    const viewer = async (tenant: string) =>
      (await fixture.gateway.tokens.create({ name: 'v', scope: 'viewer', tenant, queues: undefined })).secret
    const had = async (tenant: string, tokens: number) => {
      let streams = 0
      for (let n = 0; n < tokens; n += 1) {
        const secret = await viewer(tenant)
        for (let wanted = 0; wanted < 4; wanted += 1)
          if ((await stream(fixture, secret, cut.signal)).status === 200) streams += 1
      }
      return streams
    }
    // Four fifths, however many it asks for; of what is left the next has as much again, and the one after it.
    expect(await had('acme', 10)).toBe(16)
    expect(await had('rival', 10)).toBe(3)
    expect(await had('third', 1)).toBe(1)
    expect(await had('fourth', 1)).toBe(0)
    cut.abort()
  })
})

describe('long polls', () => {
  const claim = { workerId: 'w', queues: ['none'], waitMs: 60_000 }

  it('are so many per token, whatever they wait for, and in all', async () => {
    const calls: string[] = []
    await using fixture = await openGatewayFixture({ caps: { pollsPerToken: 2, polls: 3 } }, (engine) =>
      noting(engine, calls),
    )
    const { body } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x' })
    const result = `/v1/jobs/${body['id']}/result?waitMs=60000`
    const waiting = [fixture.ask('admin', 'POST', '/v1/claims', claim), fixture.ask('admin', 'GET', result)]
    const rest = Promise.allSettled(waiting)
    await eventually('both wait', () => calls.includes('claim') && calls.includes('load'))
    beyond('pollsPerToken', await fixture.ask('admin', 'POST', '/v1/claims', claim))
    beyond('pollsPerToken', await fixture.ask('admin', 'GET', result))
    // Whoever does not wait needs no room for it.
    expect((await fixture.ask('admin', 'GET', result.split('?')[0] as string)).status).toBe(202)
    expect((await fixture.ask('admin', 'POST', '/v1/claims', { ...claim, waitMs: 0 })).status).toBe(200)
    calls.length = 0
    const third = Promise.allSettled([fixture.ask(fixture.secrets['rival']?.worker, 'POST', '/v1/claims', claim)])
    await eventually('a third waits', () => calls.includes('claim'))
    beyond('polls', await fixture.ask('worker', 'POST', '/v1/claims', claim))
    await fixture.gateway[Symbol.asyncDispose]()
    await Promise.all([rest, third])
  })

  it('name so many lanes per token', async () => {
    const calls: string[] = []
    await using fixture = await openGatewayFixture({ caps: { lanesPerToken: 25 } }, (engine) => noting(engine, calls))
    const waiting = Promise.allSettled([fixture.ask('worker', 'POST', '/v1/claims', { ...claim, queues: ['a', 'b'] })])
    await eventually('it waits', () => calls.includes('claim'))
    beyond('lanesPerToken', await fixture.ask('worker', 'POST', '/v1/claims', claim))
    const few = { ...claim, waitMs: 1, priorities: [5], queues: ['a'] }
    expect((await fixture.ask('worker', 'POST', '/v1/claims', few)).status).toBe(200)
    await fixture.gateway[Symbol.asyncDispose]()
    await waiting
  })

  it('whose caller has gone claim nothing, and what they were given in between is handed back', async () => {
    await using fixture = await openGatewayFixture()
    const cut = new AbortController()
    const waiting = fetch(`${fixture.gateway.url}/v1/claims`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.secrets['acme']?.worker}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...claim, queues: ['gone'] }),
      signal: cut.signal,
    })
    waiting.catch(() => {})
    cut.abort()
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'gone' })
    await eventually('somebody else gets it', async () => {
      const { body } = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'v', queues: ['gone'] })
      return (body['jobs'] as unknown[]).length === 1
    })
  })
})

describe('bodies under way', () => {
  const head = (fixture: GatewayFixture, tenant: string, bytes: number) =>
    [
      'POST /v1/jobs HTTP/1.1',
      'Host: here',
      `Authorization: Bearer ${fixture.secrets[tenant]?.producer}`,
      'Content-Type: application/json',
      `Content-Length: ${bytes}`,
    ].join('\r\n')

  /** Sends all but the last byte. */
  function halfSent(fixture: GatewayFixture, tenant: string, bytes: number): Socket {
    const { hostname, port } = new URL(fixture.gateway.url)
    const socket = connect(Number(port), hostname)
    socket
      .on('error', () => {})
      .write(`${head(fixture, tenant, bytes)}\r\n\r\n{"type":"x","input":"${'y'.repeat(bytes - 23)}`)
    return socket
  }

  it('have so many bytes per token and in all; small ones are always taken', async () => {
    const caps = { bytesPerToken: 200_000, bytes: 300_000 }
    await using fixture = await openGatewayFixture({ caps })
    const big = { type: 'x', input: 'y'.repeat(100_000) }
    expect((await fixture.ask('producer', 'POST', '/v1/jobs', big)).status).toBe(201)
    const held = [halfSent(fixture, 'acme', 150_000)]
    await eventually('they are counted', async () => {
      const answer = await fixture.ask('producer', 'POST', '/v1/jobs', big)
      if (answer.status === 429) beyond('bytesPerToken', answer)
      return answer.status === 429
    })
    held.push(halfSent(fixture, 'rival', 120_000))
    const third = (
      await fixture.gateway.tokens.create({ name: 'p', scope: 'producer', tenant: 'third', queues: undefined })
    ).secret
    await eventually('those of all together, too', async () => {
      const answer = await fixture.ask(third, 'POST', '/v1/jobs', big)
      if (answer.status === 503) beyond('bytes', answer)
      return answer.status === 503
    })
    expect((await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', input: 'y'.repeat(10_000) })).status).toBe(
      201,
    )
    for (const socket of held) {
      const closed = once(socket, 'close')
      socket.destroy()
      await closed
    }
    await eventually(
      'they are given back',
      async () => (await fixture.ask(third, 'POST', '/v1/jobs', big)).status === 201,
    )
  })

  it('are smaller where nothing is kept of them', async () => {
    await using fixture = await openGatewayFixture()
    const fence = 'x'.repeat(200_000)
    for (const route of ['heartbeat', 'start', 'release', 'progress'])
      beyond('bodyBytes', await fixture.ask('worker', 'POST', `/v1/jobs/pj_1/${route}`, { fence }))
    beyond('bodyBytes', await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'x'.repeat(2_000_000) }))
  })
})

describe('expensive reads', () => {
  const holder = { id: 'a', tenant: 't' }

  const waitingFor = (engine: Engine, until: () => Promise<void>, begun: { n: number }): Engine =>
    new Proxy(engine, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        if (name !== 'find') return value.bind(target)
        return async (...words: Parameters<Engine['find']>) => {
          begun.n += 1
          await until()
          return target.find(...words)
        }
      },
    })

  it('are a few at a time, the rest waits, and one token may only have so many wait', async () => {
    let relieve = () => {}
    const slow = new Promise<void>((resolve) => {
      relieve = resolve
    })
    const begun = { n: 0 }
    await using fixture = await openGatewayFixture({ caps: { reads: 2, readsPerToken: 3 } }, (engine) =>
      waitingFor(engine, () => slow, begun),
    )
    const reads = Array.from({ length: 5 }, () => fixture.ask('viewer', 'GET', '/v1/jobs'))
    await eventually('two are read', () => begun.n === 2)
    await eventually('the line is full', async () => {
      const answer = await fixture.ask('viewer', 'GET', '/v1/dead-letters')
      if (answer.status === 429) beyond('readsPerToken', answer)
      return answer.status === 429
    })
    expect(begun.n).toBe(2)
    // Single things are read as ever, and so is what owners need.
    expect((await fixture.ask('viewer', 'GET', '/v1/jobs/pj_1')).status).toBe(404)
    relieve()
    expect((await Promise.all(reads)).map(({ status }) => status)).toEqual(new Array(5).fill(200))
  })

  it('take turns by token, so that many readers of one are slow to themselves', async () => {
    const caps = capsWith({ reads: 1 })
    const turns = new Turns({ caps, capacity: 'reads', line: 'readsPerToken' })
    const order: string[] = []
    const read = (token: string) =>
      turns.take({ holder: { id: token, tenant: token }, weight: 1, work: async () => void order.push(token) })
    await Promise.all([...Array.from({ length: 8 }, () => read('busy')), read('quiet'), read('calm')])
    expect(order).toEqual(['busy', 'busy', 'quiet', 'calm', ...new Array(6).fill('busy')])
  })

  it('take turns by tenant, so that many tokens of one are slow to each other', async () => {
    const turns = new Turns({ caps: capsWith({ reads: 1 }), capacity: 'reads', line: 'readsPerToken' })
    const order: string[] = []
    const read = (tenant: string, id: string) =>
      turns.take({ holder: { id, tenant }, weight: 1, work: async () => void order.push(`${tenant} ${id}`) })
    const many = Array.from({ length: 8 }, (_, n) => read('many', `t${n % 4}`))
    await Promise.all([...many, read('few', 'a'), read('few', 'a'), read('few', 'b')])
    expect(order.slice(0, 7)).toEqual(['many t0', 'many t1', 'few a', 'many t2', 'few b', 'many t3', 'few a'])
    expect(order).toHaveLength(11)
  })

  it('take so much at a time by weight; what is more than all of it waits until nothing else is under way', async () => {
    const turns = new Turns({ caps: capsWith({ writes: 10 }), capacity: 'writes', line: 'waitingPerToken' })
    const order: string[] = []
    let underWay = 0
    const write = (token: string, weight: number, always = false) => {
      const work = async () => {
        underWay += weight
        order.push(`${token} ${weight}`)
        expect(underWay === weight || underWay <= 10).toBe(true)
        await new Promise((resolve) => setImmediate(resolve))
        underWay -= weight
      }
      return turns.take({ holder: { id: token, tenant: 't' }, weight, work, always })
    }
    await Promise.all([write('a', 8), write('a', 8), write('a', 30), write('b', 1), write('c', 2), write('a', 1)])
    expect(order).toEqual(['a 8', 'a 8', 'b 1', 'c 2', 'a 30', 'a 1'])
  })

  it('turn nobody away who keeps a lease', async () => {
    const turns = new Turns({
      caps: capsWith({ writes: 1, waitingPerToken: 2 }),
      capacity: 'writes',
      line: 'waitingPerToken',
    })
    const work = () => new Promise<string>((resolve) => setImmediate(() => resolve('done')))
    const take = (always: boolean) => turns.take({ holder, weight: 1, work, always }).catch(() => 'refused')
    const asked = [...Array.from({ length: 5 }, () => take(false)), ...Array.from({ length: 5 }, () => take(true))]
    const answers = await Promise.all(asked)
    expect(answers).toEqual([
      ...new Array(3).fill('done'),
      ...new Array(2).fill('refused'),
      ...new Array(5).fill('done'),
    ])
  })

  it('are not made for whoever has gone before its turn', async () => {
    const caps = capsWith({ reads: 1 })
    const turns = new Turns({ caps, capacity: 'reads', line: 'readsPerToken' })
    const gone = new AbortController()
    const { promise, resolve: relieve } = Promise.withResolvers<void>()
    const first = turns.take({ holder, weight: 1, work: () => promise })
    let read = false
    const second = turns.take({
      holder,
      weight: 1,
      signal: gone.signal,
      work: async () => {
        read = true
      },
    })
    gone.abort()
    relieve()
    await first
    await expect(second).rejects.toThrow()
    expect(read).toBe(false)
  })
})

describe('the rate', () => {
  it('counts what there is to do, not how it is wrapped', async () => {
    await using fixture = await openGatewayFixture({ caps: { itemsPerSecond: 1, itemsAtOnce: 60 } })
    const batch = (count: number) => ({ jobs: new Array(count).fill({ type: 'x' }) })
    expect((await fixture.ask('producer', 'POST', '/v1/jobs:batch', batch(40))).status).toBe(200)
    beyond('itemsPerSecond', await fixture.ask('producer', 'POST', '/v1/jobs:batch', batch(40)))
    expect((await fixture.pawl.find({ states: ['queued'] })).jobs).toHaveLength(40)
    expect((await fixture.ask(fixture.secrets['rival']?.producer, 'POST', '/v1/jobs:batch', batch(40))).status).toBe(
      200,
    )
  })
})

describe('names that producers make up', () => {
  const caps = { queuesPerTenant: 3, typesPerTenant: 3, kindsPerTenant: 5 }

  it('are so many per tenant; those there are go on', async () => {
    await using fixture = await openGatewayFixture({ caps })
    const enqueue = (job: object, who = 'producer') =>
      fixture.ask(who, 'POST', '/v1/jobs', { type: 'x', queue: 'q', ...job })
    for (const queue of ['a', 'b', 'c']) expect((await enqueue({ queue })).status).toBe(201)
    beyond('queuesPerTenant', await enqueue({ queue: 'd' }))
    for (const type of ['y', 'z']) expect((await enqueue({ queue: 'a', type })).status).toBe(201)
    beyond('typesPerTenant', await enqueue({ queue: 'a', type: 'w' }))
    beyond('kindsPerTenant', await enqueue({ queue: 'a', policy: { lease: '77s' } }))
    expect((await enqueue({ queue: 'c', type: 'x' })).status).toBe(201)
    expect((await enqueue({ queue: 'd' }, fixture.secrets['rival']?.producer as string)).status).toBe(201)
    const { body } = await fixture.ask('producer', 'POST', '/v1/jobs:batch', {
      jobs: [
        { type: 'x', queue: 'a' },
        { type: 'x', queue: 'e' },
        { type: 'x', queue: 'b' },
      ],
    })
    expect(body['jobs']).toMatchObject([{ ok: true }, { ok: false, problem: { cap: 'queuesPerTenant' } }, { ok: true }])
  })

  it('are counted from what the store has', async () => {
    await using fixture = await openGatewayFixture({ caps })
    for (const queue of ['a', 'b', 'c']) await fixture.pawl.engine.enqueue([request(queue)])
    beyond('queuesPerTenant', await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'd' }))
  })

  it('of which kinds are counted on when a gateway is started again', async () => {
    await using fixture = await openGatewayFixture({ caps: { kindsPerTenant: 3 } })
    const job = (seconds: number) => ({ type: 'x', queue: 'q', policy: { lease: `${seconds}s` } })
    for (const seconds of [61, 62, 63])
      expect((await fixture.ask('producer', 'POST', '/v1/jobs', job(seconds))).status).toBe(201)
    await using again = await startGateway({ engine: fixture.pawl.engine, port: 0, caps: { kindsPerTenant: 3 } })
    const statuses: number[] = []
    for (const seconds of [64, 63, 61, 65]) {
      const headers = {
        authorization: `Bearer ${fixture.secrets['acme']?.producer}`,
        'content-type': 'application/json',
      }
      const body = JSON.stringify({ jobs: [job(seconds)] })
      const response = await fetch(`${again.url}/v1/jobs:batch`, { method: 'POST', headers, body })
      const { jobs } = (await response.json()) as {
        readonly jobs: readonly [{ ok: boolean; problem?: { cap: string } }]
      }
      expect(jobs[0].problem?.cap).toBe(jobs[0].ok ? undefined : 'kindsPerTenant')
      statuses.push(jobs[0].ok ? 200 : 422)
    }
    expect(statuses).toEqual([422, 200, 200, 422])
    const rival = fixture.secrets['rival']?.producer as string
    expect((await fixture.ask(rival, 'POST', '/v1/jobs', job(64))).status).toBe(201)
  })

  it('are so many that workers announce, however often they are counted again', async () => {
    const clock = new VirtualClock()
    await using fixture = await openGatewayFixture({ caps, clock })
    const announce = (type: string, who = 'worker') => fixture.ask(who, 'PUT', `/v1/types/${type}`, { queue: 'q' })
    for (const type of ['x', 'y', 'z']) expect((await announce(type)).status).toBe(200)
    beyond('typesPerTenant', await announce('w'))
    // None of them has a job, so the count of jobs knows none of them.
    clock.advance(120_000)
    beyond('typesPerTenant', await announce('w'))
    expect((await announce('y')).status).toBe(200)
    expect((await announce('w', fixture.secrets['rival']?.worker)).status).toBe(200)
  })

  it('are so many that operators pause; what was resumed makes room', async () => {
    await using fixture = await openGatewayFixture({ caps })
    const say = (queue: string, word: string, who = 'operator') =>
      fixture.ask(who, 'POST', `/v1/queues/${queue}/${word}`, {})
    for (const queue of ['a', 'b', 'c']) expect((await say(queue, 'pause')).status).toBe(200)
    beyond('queuesPerTenant', await say('d', 'pause'))
    beyond('queuesPerTenant', await say('d', 'resume'))
    expect((await say('b', 'pause')).status).toBe(200)
    expect((await say('d', 'pause', fixture.secrets['rival']?.operator)).status).toBe(200)
    expect((await say('b', 'resume')).status).toBe(200)
    expect((await say('d', 'pause')).status).toBe(200)
    beyond('queuesPerTenant', await say('b', 'pause'))
    for (const queue of ['a', 'c', 'd'])
      expect((await fixture.ask('viewer', 'GET', `/v1/queues/${queue}`)).body).toMatchObject({ paused: true })
  })

  it('cost one question for all of a tenant’s', async () => {
    const calls: string[] = []
    await using fixture = await openGatewayFixture({}, (engine) => noting(engine, calls))
    for (let n = 0; n < 20; n += 1) await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: `q${n}` })
    expect(calls.filter((call) => call === 'events by tally')).toHaveLength(1)
  })
})

const request = (queue: string) => ({
  actor: 'producer',
  kind: { tenant: 'acme', queue, type: 'x', policy: policyOf() },
  priority: 5,
  input: undefined,
})

describe('tokens and workers', () => {
  it('tokens are so many per tenant; spent ones make room', async () => {
    await using fixture = await openGatewayFixture({ caps: { tokensPerTenant: 9 } })
    const create = () => fixture.ask('admin', 'POST', '/v1/tokens', { name: 'n', scope: 'viewer' })
    const made = [await create(), await create()]
    expect(made.map(({ status }) => status)).toEqual([201, 201])
    beyond('tokensPerTenant', await create())
    await fixture.ask('admin', 'DELETE', `/v1/tokens/${made[0]?.body['id']}`)
    expect((await create()).status).toBe(201)
    beyond('tokensPerTenant', await create())
    expect((await fixture.ask('admin', 'GET', '/v1/tokens?limit=500')).body['tokens']).toHaveLength(9)
  })

  it('workers are so many per tenant, each its token’s own, and listed page by page', async () => {
    await using fixture = await openGatewayFixture({ caps: { workersPerTenant: 3 } })
    const report = (name: string, who = 'worker') => fixture.ask(who, 'PUT', `/v1/workers/${name}`, { queues: ['q'] })
    for (const name of ['a', 'b', 'c']) expect((await report(name)).status).toBe(200)
    beyond('workersPerTenant', await report('d'))
    expect((await report('b')).status).toBe(200)
    // Another token of the same tenant; another tenant has a worker of that name all the same.
    expect((await report('b', 'admin')).status).toBe(403)
    expect((await report('b', fixture.secrets['rival']?.worker)).status).toBe(200)
    expect((await report('x'.repeat(300))).status).toBe(400)
    const first = await fixture.ask('viewer', 'GET', '/v1/workers?limit=2')
    expect(first.body).toMatchObject({ workers: [{ workerId: 'a' }, { workerId: 'b' }], cursor: 'b' })
    expect(first.text).not.toContain('token')
    const rest = await fixture.ask('viewer', 'GET', '/v1/workers?limit=2&cursor=b')
    expect(rest.body).toEqual({ workers: [expect.objectContaining({ workerId: 'c' })] })
  })
})

function policyOf() {
  const resolved = resolvePolicy({})
  if (!resolved.ok) throw new Error('the default policy is a policy')
  return resolved.policy
}
