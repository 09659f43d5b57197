import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type House, house } from './house.ts'

type Claimed = readonly { readonly fence: string; readonly job: { readonly id: string } }[]

let home: House
beforeAll(async () => {
  home = await house()
})
afterAll(() => home[Symbol.asyncDispose]())

const claimed = async (who: string, words: object): Promise<Claimed> =>
  (await home.ask(who, 'POST', '/v1/claims', { workerId: 'w', limit: 10, ...words })).body['jobs'] as Claimed

describe('A claim’s request id', () => {
  it('gives its jobs again to the token that used it, and to nobody else', async () => {
    await home.ask('producer', 'POST', '/v1/jobs', { type: 't', queue: 'replay', input: { card: '4111' } })
    const words = { queues: ['replay'], requestId: 'claim-1' }
    const first = await claimed('worker', words)
    expect(first).toHaveLength(1)
    expect((await claimed('worker', words))[0]?.fence).toBe(first[0]?.fence)

    const rival = home.secrets['rival']?.worker as string
    expect(await claimed(rival, words)).toEqual([])
    const { secret } = await home.gateway.tokens.create({
      name: 'elsewhere',
      scope: 'worker',
      tenant: 'acme',
      queues: ['elsewhere'],
    })
    expect(await claimed(secret, { queues: ['elsewhere'], requestId: 'claim-1' })).toEqual([])
  })

  it('asks for no more lanes than there are', async () => {
    const priorities = new Array(11).fill(1)
    const answer = await home.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['q'], priorities })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('body.priorities')
  })
})

describe('A long poll', () => {
  it('gives nothing to a token that was revoked while it waited', async () => {
    const { token, secret } = await home.gateway.tokens.create({
      name: 'fired',
      scope: 'worker',
      tenant: 'acme',
      queues: undefined,
    })
    const waiting = home.ask(secret, 'POST', '/v1/claims', { workerId: 'w', queues: ['late'], waitMs: 20_000 })
    const result = home.ask('producer', 'POST', '/v1/jobs', { type: 't', queue: 'unrelated' })
    await result
    await home.ask('admin', 'DELETE', `/v1/tokens/${token.id}`)
    await home.ask('producer', 'POST', '/v1/jobs', { type: 't', queue: 'late' })
    expect((await waiting).status).toBe(401)
    expect(await claimed('worker', { queues: ['late'] })).toHaveLength(1)
  })

  it('claims nothing for a caller who has gone', async () => {
    const gone = new AbortController()
    const secret = home.secrets['acme']?.worker as string
    const polling = fetch(`${home.gateway.url}/v1/claims`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ workerId: 'gone', queues: ['left'], waitMs: 20_000 }),
      signal: gone.signal,
    }).catch(() => undefined)
    // Its first look is over once a later request has been answered twice: it waits from then on.
    await home.ask('admin', 'GET', '/v1/queues')
    await home.ask('admin', 'GET', '/v1/queues')
    gone.abort()
    await polling
    await home.ask('admin', 'GET', '/v1/queues')
    await home.ask('producer', 'POST', '/v1/jobs', { type: 't', queue: 'left' })
    expect(await claimed('worker', { queues: ['left'] })).toHaveLength(1)
  })
})
