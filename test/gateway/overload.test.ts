/** Too much to do: what must not be lost is served, the rest is told when to come back, and it passes by itself. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import type { Engine } from '../../src/engine/engine.ts'
import { Shedding } from '../../src/gateway/shedding.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { BOUNDLESS, openGatewayFixture } from './gateway-fixture.ts'

/** The same engine, whose enqueues wait for something first. */
const slowly = (engine: Engine, until: () => Promise<void>): Engine =>
  new Proxy(engine, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      if (name !== 'enqueue') return value.bind(target)
      return async (...words: Parameters<Engine['enqueue']>) => {
        await until()
        return target.enqueue(...words)
      }
    },
  })

describe('shedding', () => {
  it('turns lists away first, then enqueues, then claims; owners never', () => {
    const shedding = new Shedding({ capacity: 100 })
    const filled = (n: number) => {
      while (shedding.busy < n) shedding.enter('owner')
    }
    filled(49)
    expect(shedding.enter('list')).toBeDefined()
    expect(shedding.enter('list')).toBeUndefined()
    filled(75)
    expect(shedding.enter('enqueue')).toBeUndefined()
    const leave = shedding.enter('claim')
    expect(leave).toBeDefined()
    leave?.()
    leave?.()
    expect(shedding.busy).toBe(75)
    filled(100)
    expect(shedding.enter('claim')).toBeUndefined()
    expect(shedding.enter('owner')).toBeDefined()
    expect(shedding.enter('health')).toBeDefined()
  })

  it('at five times the capacity loses no heartbeat and no completion, and recovers', async () => {
    const capacity = 8
    // A store that is slow to take new jobs: all that arrive are there at the same time.
    let slow = Promise.resolve()
    let relieve = () => {}
    await using fixture = await openGatewayFixture({ caps: { ...BOUNDLESS, requests: capacity } }, (engine) =>
      slowly(engine, () => slow),
    )
    const jobs = Array.from({ length: 40 }, () => ({ type: 'x', queue: 'busy' }))
    await fixture.ask('producer', 'POST', '/v1/jobs:batch', { jobs })
    const claimed = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['busy'], limit: 40 })
    const owned = claimed.body['jobs'] as { job: { id: string }; fence: string }[]

    slow = new Promise((resolve) => {
      relieve = resolve
    })
    let answered = 0
    const flood = Array.from({ length: capacity * 5 }, async (_, i) => {
      const answer = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: `flood${i}` })
      answered += 1
      return answer
    })
    const room = Math.ceil(capacity * 0.75)
    await eventually('all but what there is room for is turned away', () => answered === capacity * 5 - room)
    const beats = await Promise.all(
      owned.map(({ job, fence }) => fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/heartbeat`, { fence })),
    )
    const done = await Promise.all(
      owned.map(({ job, fence }) => fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/complete`, { fence })),
    )
    expect(beats.map(({ status }) => status)).toEqual(owned.map(() => 200))
    expect(done.map(({ status }) => status)).toEqual(owned.map(() => 200))

    relieve()
    const answers = await Promise.all(flood)
    const shed = answers.filter(({ status }) => status !== 201)
    expect(shed).toHaveLength(capacity * 5 - room)
    for (const { status, headers } of shed) {
      expect(status).toBe(503)
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
    expect((await fixture.pawl.find({ states: ['queued'] })).jobs).toHaveLength(room)
    expect((await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x' })).status).toBe(201)
  })

  it('does not let anybody wait for a store that does not answer', async () => {
    const never = new Promise<void>(() => {})
    const timers = {
      ...realTimers,
      after: (ms: number, fn: () => void) => realTimers.after(ms >= 10_000 ? 1 : ms, fn),
    }
    await using fixture = await openGatewayFixture({ timers }, (engine) => slowly(engine, () => never))
    const { status, headers, body } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x' })
    expect({ status, code: body['code'] }).toEqual({ status: 503, code: 'UNAVAILABLE' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  })

  it('is fair: a token that asks too often is told so, with the RateLimit fields, and others are not', async () => {
    await using fixture = await openGatewayFixture({ caps: { itemsPerSecond: 5, itemsAtOnce: 25 } })
    const answers = []
    for (let i = 0; i < 8; i += 1) answers.push(await fixture.ask('viewer', 'GET', '/v1/jobs'))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429, 429])
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"default";q=25;w=5')
    expect(answers[0]?.headers.get('ratelimit')).toMatch(/^"default";r=20;t=\d+$/)
    expect(Number(answers[5]?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await fixture.ask('operator', 'GET', '/v1/jobs')).status).toBe(200)
  })
})

describe('Whoever sends slowly', () => {
  it('keeps nobody else waiting', async () => {
    await using fixture = await openGatewayFixture({ caps: { requests: 8 } })
    const { hostname, port } = new URL(fixture.gateway.url)
    const head = [
      'POST /v1/jobs HTTP/1.1',
      'Host: here',
      `Authorization: Bearer ${fixture.secrets['rival']?.producer}`,
      'Content-Type: application/json',
      'Expect: 100-continue',
      'Content-Length: 100',
    ]
    const slow = Array.from({ length: 40 }, () => connect(Number(port), hostname))
    try {
      for (const socket of slow) socket.on('error', () => {}).write(`${head.join('\r\n')}\r\n\r\n{`)
      // The server asks for a body once it has seen the head.
      await Promise.all(slow.map((socket) => once(socket, 'data')))
      for (let n = 0; n < 20; n += 1)
        expect((await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'quick' })).status).toBe(201)
    } finally {
      for (const socket of slow) socket.destroy()
    }
  })
})
