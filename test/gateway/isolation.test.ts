import http from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

type Claimed = readonly { readonly fence: string; readonly job: { readonly id: string } }[]

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture()
})
afterAll(() => fixture[Symbol.asyncDispose]())

const claimed = async (who: string, words: object): Promise<Claimed> =>
  (await fixture.ask(who, 'POST', '/v1/claims', { workerId: 'w', limit: 10, ...words })).body['jobs'] as Claimed

describe('A claim’s request id', () => {
  it('gives its jobs again to the token that used it, and to nobody else', async () => {
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 't', queue: 'replay', input: { card: '4111' } })
    const words = { queues: ['replay'], requestId: 'claim-1' }
    const first = await claimed('worker', words)
    expect(first).toHaveLength(1)
    expect((await claimed('worker', words))[0]?.fence).toBe(first[0]?.fence)

    const rival = fixture.secrets['rival']?.worker as string
    expect(await claimed(rival, words)).toEqual([])
    const { secret } = await fixture.gateway.tokens.create({
      name: 'elsewhere',
      scope: 'worker',
      tenant: 'acme',
      queues: ['elsewhere'],
    })
    expect(await claimed(secret, { queues: ['elsewhere'], requestId: 'claim-1' })).toEqual([])
  })

  it('asks for no more lanes than there are', async () => {
    const priorities = new Array(11).fill(1)
    const answer = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['q'], priorities })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('body.priorities')
  })
})

describe('A long poll', () => {
  it('gives nothing to a token that was revoked while it waited', async () => {
    const { token, secret } = await fixture.gateway.tokens.create({
      name: 'fired',
      scope: 'worker',
      tenant: 'acme',
      queues: undefined,
    })
    const waiting = fixture.ask(secret, 'POST', '/v1/claims', { workerId: 'w', queues: ['late'], waitMs: 20_000 })
    const result = fixture.ask('producer', 'POST', '/v1/jobs', { type: 't', queue: 'unrelated' })
    await result
    await fixture.ask('admin', 'DELETE', `/v1/tokens/${token.id}`)
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 't', queue: 'late' })
    expect((await waiting).status).toBe(401)
    expect(await claimed('worker', { queues: ['late'] })).toHaveLength(1)
  })

  it('claims nothing for a caller who has gone', async () => {
    const gone = new AbortController()
    const secret = fixture.secrets['acme']?.worker as string
    const polling = fetch(`${fixture.gateway.url}/v1/claims`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ workerId: 'gone', queues: ['left'], waitMs: 20_000 }),
      signal: gone.signal,
    }).catch(() => undefined)
    // Its first look is over once a later request has been answered twice: it waits from then on.
    await fixture.ask('admin', 'GET', '/v1/queues')
    await fixture.ask('admin', 'GET', '/v1/queues')
    gone.abort()
    await polling
    await fixture.ask('admin', 'GET', '/v1/queues')
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 't', queue: 'left' })
    expect(await claimed('worker', { queues: ['left'] })).toHaveLength(1)
  })
})

describe('A worker’s token', () => {
  const owned = async (queue: string, id?: string) => {
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 't', queue, id })
    const [assignment] = await claimed('worker', { queues: [queue] })
    await fixture.ask('worker', 'POST', `/v1/jobs/${assignment?.job.id}/start`, { fence: assignment?.fence })
    return { id: assignment?.job.id as string, fence: assignment?.fence as string }
  }
  const batch = async (who: string, item: object) => {
    const { body } = await fixture.ask(who, 'POST', '/v1/transitions:batch', { transitions: [item] })
    return (body['answers'] as readonly { ok: boolean; state?: string; problem?: { code: string } }[])[0]
  }

  it('ends what it owns as cancelled or put aside, and nothing that it does not own', async () => {
    const one = await owned('ends')
    const two = await owned('ends')
    for (const words of [{}, { fence: `0.1.${'0'.repeat(16)}` }]) {
      expect((await fixture.ask('worker', 'POST', `/v1/jobs/${one.id}/cancel`, words)).status).toBeGreaterThanOrEqual(
        400,
      )
      expect((await batch('worker', { ...words, id: one.id, command: 'cancel' }))?.ok).toBe(false)
    }
    expect((await fixture.ask('worker', 'POST', `/v1/jobs/${one.id}/cancel`, { fence: one.fence })).body['state']).toBe(
      'cancelled',
    )
    const words = { id: two.id, fence: two.fence, command: 'deadletter', reason: 'parse_error' }
    expect((await batch('worker', words))?.state).toBe('dead_lettered')
  })

  it('renews a lease by the id that the producer chose, of its own tenant', async () => {
    const { fence } = await owned('named', 'order-1')
    await fixture.ask(fixture.secrets['rival']?.producer, 'POST', '/v1/jobs', {
      type: 't',
      queue: 'named',
      id: 'order-1',
    })
    expect((await fixture.ask('worker', 'POST', '/v1/jobs/order-1/heartbeat', { fence })).status).toBe(200)
    expect((await batch('worker', { id: 'order-1', command: 'heartbeat', fence }))?.ok).toBe(true)
    const rival = fixture.secrets['rival']?.worker as string
    expect((await fixture.ask(rival, 'POST', '/v1/jobs/order-1/heartbeat', { fence })).status).toBe(409)
  })

  it('is not needed for what producers may say in batches too', async () => {
    const { id, fence } = await owned('wanted')
    expect((await batch('producer', { id, command: 'complete', fence }))?.problem?.code).toBe('FORBIDDEN')
    expect((await batch('producer', { id, command: 'cancel' }))?.ok).toBe(true)
  })
})

describe('A page', () => {
  const asked = (gateway: string, headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) => {
      const { hostname, port } = new URL(gateway)
      const request = http.request({ hostname, port, path: '/v1/queues', headers }, (response) => {
        response.resume()
        resolve(response.statusCode ?? 0)
      })
      request.on('error', reject).end()
    })

  it('of another site is turned away, even if its name points here', async () => {
    await using gateway = await startGateway({ engine: fixture.pawl.engine, port: 0, auth: false })
    const own = new URL(gateway.url).host
    expect(await asked(gateway.url, { host: own })).toBe(200)
    expect(await asked(gateway.url, { host: 'localhost:1' })).toBe(200)
    expect(await asked(gateway.url, { host: own, origin: `http://${own}` })).toBe(200)
    expect(await asked(gateway.url, { host: 'evil.example', 'sec-fetch-site': 'same-origin' })).toBe(403)
    expect(await asked(gateway.url, { host: own, origin: 'http://evil.example' })).toBe(403)
    expect(await asked(gateway.url, { host: own, origin: 'null' })).toBe(403)
  })
})

describe('What cannot be kept', () => {
  it('is not promised: queues for a token that would see all of them', async () => {
    for (const scope of ['viewer', 'producer', 'operator', 'admin']) {
      const answer = await fixture.ask('admin', 'POST', '/v1/tokens', { name: 'n', scope, queues: ['a'] })
      expect(answer.status).toBe(400)
      expect(answer.text).toContain('body.queues')
    }
    const { body } = await fixture.ask('admin', 'POST', '/v1/tokens', { name: 'n', scope: 'worker', queues: ['a'] })
    expect((await fixture.ask(String(body['secret']), 'GET', '/v1/queues/b')).status).toBe(403)
    expect((await fixture.ask(String(body['secret']), 'GET', '/v1/queues/a')).status).toBe(200)
  })

  it('is not promised: a stream from a position that is nobody’s', async () => {
    const headers = { accept: 'text/event-stream', 'last-event-id': 'abc' }
    expect((await fixture.ask('viewer', 'GET', '/v1/events', undefined, headers)).status).toBe(400)
  })
})

describe('The feed, page by page', () => {
  it('does not let one tenant count what another does', async () => {
    const at = async (path: string) => (await fixture.ask('viewer', 'GET', path)).body
    const begin = String((await at('/v1/events?after=end'))['cursor'])
    const rival = fixture.secrets['rival']?.producer as string
    for (let n = 0; n < 12; n += 1) await fixture.ask(rival, 'POST', '/v1/jobs', { type: 'theirs', queue: 'theirs' })
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'ours', queue: 'feed' })
    await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'ours', queue: 'feed' })
    const pages: unknown[][] = []
    for (let cursor = begin; ; ) {
      const page = await at(`/v1/events?limit=1&after=${encodeURIComponent(cursor)}`)
      if (page['cursor'] === cursor) break
      pages.push((page['feed'] as readonly { readonly jobType: string }[]).map(({ jobType }) => jobType))
      cursor = String(page['cursor'])
    }
    // As many as we have events, however many others have.
    expect(pages).toEqual([['ours'], ['ours']])
  })
})
