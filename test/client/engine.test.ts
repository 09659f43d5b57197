/** The client's engine says over HTTP what the local one says at home. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { HttpEngine } from '../../src/client/client.ts'
import { resolvePolicy } from '../../src/core/resolve.ts'
import { open } from '../../src/index.ts'
import { realTimers } from '../../src/system/timers.ts'
import { type GatewayFixture, openGatewayFixture } from '../gateway/gateway-fixture.ts'

let fixture: GatewayFixture
let engine: HttpEngine
beforeAll(async () => {
  fixture = await openGatewayFixture()
  engine = new HttpEngine({ url: fixture.gateway.url, token: fixture.secrets['acme']?.admin })
})
afterAll(async () => {
  await engine[Symbol.asyncDispose]()
  await fixture[Symbol.asyncDispose]()
})

const resolved = resolvePolicy({ retry: { attempts: 1 } })
if (!resolved.ok) throw new Error('the policy is good')
const kind = { tenant: 'acme', queue: 'default', type: 'crawl', policy: resolved.policy }
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('a URL that cannot be asked', () => {
  it('is refused at once, without what is secret in it', () => {
    const at = (url: string) => () => new HttpEngine({ url })
    expect(at('http://ann:s3cret@127.0.0.1:1')).toThrow(
      /^pawl: http:\/\/ann@127\.0\.0\.1:1 names a user; a gateway knows tokens only/,
    )
    expect(at('http://[s')).toThrow('is not a URL')
  })
})

describe('over HTTP', () => {
  it('says what token is missing, and where it is given', async () => {
    await using nobody = await open(fixture.gateway.url, { token: 'pawl_0_0', log: 'silent' })
    await expect(nobody.get('pj_1')).rejects.toThrow(/^UNAUTHENTICATED: No valid token\. .*open\(url, \{ token \}\)/)
    await using viewer = await open(fixture.gateway.url, { token: fixture.secrets['acme']?.viewer, log: 'silent' })
    await expect(viewer.cancel('pj_1')).rejects.toThrow(
      /^FORBIDDEN: .*\. Give one whose scope .*open\(url, \{ token \}\)/,
    )
  })

  it('each job of a batch keeps the trace of its own producer', async () => {
    const other = TRACE.replace('0af7', '1af7')
    const asked = [TRACE, other, undefined].map((traceparent) => ({
      actor: 'p',
      kind,
      priority: 5 as const,
      input: undefined,
      traceparent,
    }))
    const answers = await engine.enqueue(asked)
    const ids = answers.map((answer) => (answer.ok ? answer.job.id : ''))
    const { items } = await fixture.pawl.engine.load(ids.map((id) => ({ id })))
    expect(items.map((item) => item?.job.spec.traceparent)).toEqual([TRACE, other, undefined])
  })

  it('the whole story of an error arrives', async () => {
    const [answer] = await engine.enqueue([
      { actor: 'p', kind: { ...kind, queue: 'bad' }, priority: 5, input: '{"n":1}' },
    ])
    const lanes = [{ tenant: 'acme', queue: 'bad', priority: 5 as const }]
    const [assignment] = await engine.claim({ requestId: 'c', workerId: 'w', lanes, limit: 1 })
    const story =
      '{"name":"Error","message":"m","stack":"at x","cause":{"name":"Inner","message":"why"},"n":9007199254740993}'
    const id = assignment?.job.id ?? ''
    const [failed] = await engine.settle([
      {
        id,
        command: {
          type: 'fail',
          actor: 'w',
          requestId: 'f',
          fence: assignment?.fence ?? '',
          fault: { code: 'internal', message: 'm' },
        },
        bodies: [{ name: 'error/1', text: story }],
      },
    ])
    expect(answer?.ok && failed?.ok).toBe(true)
    const { items } = await fixture.pawl.engine.load([{ id, bodies: ['error/'] }])
    expect(items[0]?.bodies['error/1']).toBe(story)
  })

  it('every request may be answered into the void once: nothing happens twice', async () => {
    const seen = new Set<string>()
    const deaf: typeof fetch = async (url, init) => {
      const response = await fetch(url, init)
      const words = `${String(url)} ${String(init?.body)}`
      if (seen.has(words)) return response
      seen.add(words)
      await response.arrayBuffer()
      throw new TypeError('the line is dead')
    }
    await using unlucky = new HttpEngine({
      url: fixture.gateway.url,
      token: fixture.secrets['acme']?.admin,
      fetch: deaf,
    })
    const request = { actor: 'p', kind: { ...kind, queue: 'void' }, priority: 5 as const, input: '{"n":1}' }
    const answers = await unlucky.enqueue([request, { ...request, idempotencyKey: 'k' }])
    expect(answers.map((answer) => answer.ok && answer.replayed)).toEqual([true, true])
    const lanes = [{ tenant: 'acme', queue: 'void', priority: 5 as const }]
    const assignments = await unlucky.claim({ requestId: 'lost', workerId: 'w', lanes, limit: 10 })
    expect(assignments.map(({ input }) => input)).toEqual(['{"n":1}', '{"n":1}'])
    const settled = await unlucky.settle(
      assignments.map(({ job, fence }) => ({
        id: job.id,
        command: { type: 'complete', actor: 'w', requestId: `${fence}/complete`, fence },
      })),
    )
    expect(settled.map((answer) => answer.ok && answer.replayed)).toEqual([true, true])
    const { jobs } = await fixture.pawl.engine.find({ tenant: 'acme', queues: ['void'], order: 'oldest', limit: 10 })
    expect(jobs.map(({ state, attempt }) => [state, attempt])).toEqual([
      ['succeeded', 1],
      ['succeeded', 1],
    ])
  })

  it('who is told to come back later does so, not before, with the same words', async () => {
    const told: string[] = []
    const slept: number[] = []
    const busy: typeof fetch = async (_, init) => {
      told.push(String(init?.body))
      const later = { status: 503, headers: { 'retry-after': '2' } }
      return told.length < 3 ? new Response('{}', later) : new Response('{"jobs":[]}', { status: 200 })
    }
    const timers = { ...realTimers, sleep: async (ms: number) => void slept.push(ms) }
    await using patient = new HttpEngine({ url: 'http://gateway.invalid', fetch: busy, timers })
    await patient.claim({ requestId: 'c', workerId: 'w', lanes: [{ tenant: '', queue: 'q', priority: 5 }], limit: 1 })
    expect(new Set(told).size).toBe(1)
    expect(slept.filter((ms) => ms >= 2_000)).toHaveLength(2)
  })
})
