/** Limit keys over HTTP: set, looked at and reset; by whom; and through the library and the command line at the other end. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ThrottledError } from '../../src/core/thrown.ts'
import { defineJob } from '../../src/library/define-job.ts'
import { open } from '../../src/open.ts'
import { pawl as command, json } from '../cli/pawl.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let home: GatewayFixture
beforeAll(async () => {
  home = await openGatewayFixture()
})
afterAll(async () => home[Symbol.asyncDispose]())

describe('limits over HTTP', () => {
  it('are set, shown, listed, reset and removed', async () => {
    const set = await home.ask('operator', 'PUT', '/v1/limits/shop', { concurrency: 2, rate: '5/s' })
    expect(set.status).toBe(200)
    expect(set.body).toMatchObject({
      key: 'shop',
      state: 'open',
      limit: { concurrency: 2, rate: { most: 5, perMs: 1_000 } },
      taken: 0,
    })
    expect((await home.ask('viewer', 'GET', '/v1/limits/shop')).body).toEqual(set.body)
    expect((await home.ask('viewer', 'GET', '/v1/limits?state=open')).body['limits']).toMatchObject([{ key: 'shop' }])
    expect((await home.ask('viewer', 'GET', '/v1/limits?state=broken,slow')).body['limits']).toEqual([])
    expect((await home.ask('operator', 'POST', '/v1/limits/shop/reset', {})).body).toMatchObject({
      log: [
        { type: 'limited', payload: { limit: { concurrency: 2 } } },
        { type: 'reset', cause: { actor: 'operator:operator' } },
      ],
    })
    expect((await home.ask('operator', 'DELETE', '/v1/limits/shop')).body).toMatchObject({ limit: {} })
    for (const path of ['reset', 'probe'])
      expect((await home.ask('operator', 'POST', `/v1/limits/nobody/${path}`, {})).status).toBe(404)
    expect((await home.ask('viewer', 'GET', '/v1/limits/nobody')).status).toBe(404)
  })

  it('are refused with what is wrong about them', async () => {
    for (const [body, field] of [
      [{ concurrency: 0 }, 'body.concurrency'],
      [{ rate: 'often' }, 'body.rate'],
      [{ speed: 1 }, 'body'],
      [{}, 'must have one of'],
    ] as const) {
      const refused = await home.ask('operator', 'PUT', '/v1/limits/shop', body)
      expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(field)])
    }
  })

  it('are for operators; nobody sees another tenant’s, and who is bound to queues none', async () => {
    expect((await home.ask('producer', 'PUT', '/v1/limits/shop', { concurrency: 2 })).status).toBe(403)
    expect((await home.ask('viewer', 'POST', '/v1/limits/shop/reset', {})).status).toBe(403)
    expect((await home.ask(home.secrets['rival']?.admin, 'GET', '/v1/limits/shop')).status).toBe(404)
    const words = { name: 'bound', scope: 'operator', tenant: 'acme', queues: ['mine'] } as const
    const { secret } = await home.gateway.tokens.create(words)
    expect((await home.ask(secret, 'PUT', '/v1/limits/shop', { concurrency: 2 })).status).toBe(403)
    for (const path of ['', '/shop', '/nobody'])
      expect((await home.ask(secret, 'GET', `/v1/limits${path}`)).status).toBe(403)
  })

  it('of other queues cannot be held up by who is bound to some', async () => {
    const words = { name: 'bound', scope: 'producer', tenant: 'acme', queues: ['mine'] } as const
    const { secret } = await home.gateway.tokens.create(words)
    const enqueue = async (queue: string, ...keys: readonly string[]) => {
      const job = { type: 'bound', queue, flow: { keys, fair: 'shop' } }
      const one = await home.ask(secret, 'POST', '/v1/jobs', job)
      const { body } = await home.ask(secret, 'POST', '/v1/jobs:batch', { jobs: [job] })
      const [answer] = body['jobs'] as readonly { readonly ok: boolean }[]
      expect(answer?.ok).toBe(one.status === 201)
      return [one.status, one.text]
    }
    for (const keys of [[], ['mine'], ['mine/shop', 'mine/api']])
      expect(await enqueue('mine', ...keys)).toEqual([201, expect.anything()])
    for (const keys of [['shop'], ['minefield'], ['mine/shop', 'shop'], ['yours/mine/']])
      expect(await enqueue('mine', ...keys)).toEqual([403, expect.stringContaining('begin with mine/…')])
    expect(await enqueue('yours', 'mine')).toEqual([403, expect.stringContaining('queue yours')])
    const unnamed = await home.ask(secret, 'POST', '/v1/jobs', { type: 'bound' })
    expect([unnamed.status, unnamed.text]).toEqual([403, expect.stringContaining('queue default')])
  })

  it('have names of 512 characters at most', async () => {
    for (const [length, status] of [
      [512, 200],
      [513, 400],
    ] as const)
      expect((await home.ask('operator', 'PUT', `/v1/limits/${'k'.repeat(length)}`, { weight: 2 })).status).toBe(status)
    expect((await home.ask('operator', 'DELETE', `/v1/limits/${'k'.repeat(512)}`)).status).toBe(200)
  })

  it('hold jobs of any language: named at enqueue, told with the claim, spent and blamed by words', async () => {
    await home.ask('operator', 'PUT', '/v1/limits/api', { concurrency: 1, budget: { amount: 10, per: '1h' } })
    const job = { type: 'call', queue: 'calls', flow: { keys: ['api'], fair: 'ann' } }
    const made = await home.ask('producer', 'POST', '/v1/jobs:batch', { jobs: [job, job] })
    expect(made.body['jobs']).toMatchObject([{ job: { flow: { keys: ['api'], fair: 'ann' } } }, { ok: true }])
    const claim = { workerId: 'w', queues: ['calls'], limit: 10 }
    expect((await home.ask('worker', 'POST', '/v1/claims', { ...claim, limited: 0 })).body['jobs']).toEqual([])
    const { jobs } = (await home.ask('worker', 'POST', '/v1/claims', claim)).body as { jobs: readonly Assigned[] }
    expect(jobs).toMatchObject([{ flow: { key: 'api', session: 0, state: 'open' } }])
    const [{ job: record, fence }] = jobs as readonly [Assigned]
    await home.ask('worker', 'POST', `/v1/jobs/${record.id}/start`, { fence })
    await home.ask('worker', 'POST', `/v1/jobs/${record.id}/record`, { fence, spend: { amount: 4 } })
    expect((await home.ask('viewer', 'GET', '/v1/limits/api')).body).toMatchObject({ spent: 4, taken: 1, held: 1 })
    const fault = { fence, code: 'captcha', class: 'throttled', key: 'api' }
    await home.ask('worker', 'POST', `/v1/jobs/${record.id}/fail`, fault)
    expect((await home.ask('viewer', 'GET', '/v1/limits/api')).body).toMatchObject({ state: 'slow', session: 1 })
    const held = (await home.ask('viewer', 'GET', `/v1/jobs/${record.id}/explain`)).body
    expect(held).toMatchObject({ way: 'delayed' })
  })

  it('are the same through the library and the command line', async () => {
    let runs = 0
    const crawl = defineJob({
      type: 'crawl',
      queue: 'crawl',
      limit: { key: 'site', concurrency: 1, rate: '100/s', adaptive: true },
      async run(_: undefined, ctx) {
        runs += 1
        await ctx.spend(1)
        if (runs === 1) throw new ThrottledError('wait', { retryAfterMs: 60_000, key: 'site' })
      },
    })
    await using remote = await open(home.gateway.url, { token: home.secrets['acme']?.admin, log: 'silent' })
    await using _worker = remote.work([crawl])
    await remote.enqueueMany(crawl, [undefined, undefined])
    await eventually('the key is broken', async () => (await remote.limits.get('site'))?.state === 'broken')
    expect(await remote.limits.get('site')).toMatchObject({
      declared: { concurrency: 1, rate: { most: 100, perMs: 1_000 }, adaptive: true },
      log: [{ type: 'broken', at: expect.any(Number) }],
    })
    const [held] = (await remote.find({ types: ['crawl'], states: ['queued'] })).jobs
    expect(await remote.explain(held?.id ?? '')).toMatchObject({
      way: 'held',
      because: expect.stringContaining('Key site is broken since'),
      who: 'the jobs of key site',
      when: (await remote.limits.get('site'))?.until,
      next: expect.stringContaining('pawl limits reset site'),
    })
    const env = { PAWL_URL: home.gateway.url, PAWL_TOKEN: String(home.secrets['acme']?.admin) }
    const told = (...words: readonly string[]) => json(['limits', ...words], { env })
    expect(await told('ls', '--state', 'broken')).toMatchObject({ limits: [{ key: 'site', state: 'broken' }] })
    expect((await command(['limits', 'show', 'site'], { env })).stdout).toContain('open → broken')
    expect(await told('set', 'site', '-c', '3', '-b', '1000/h', '-w', '2')).toMatchObject({
      limit: { concurrency: 3, budget: { amount: 1_000, perMs: 3_600_000 }, weight: 2 },
    })
    expect((await command(['limits', 'ls'], { env })).stdout).toContain('3 at once')
    expect((await command(['limits', 'show', 'site'], { env })).stdout).toContain('limited: 3 at once')
    expect(await told('rm', 'site')).toMatchObject({ limit: { concurrency: 1 } })
    expect(await told('reset', 'site')).toMatchObject({ state: 'open', session: 1 })
    await eventually('the other has run', () => runs === 2)
    expect((await command(['limits', 'probe', 'nobody'], { env })).code).toBe(3)
    expect((await command(['limits', 'set', 'site'], { env })).code).toBe(2)
    expect((await command(['limits', 'ls', '--state', 'brokn'], { env })).stderr).toContain('Did you mean broken?')
  })
})

interface Assigned {
  readonly job: { readonly id: string }
  readonly fence: string
}
