/** Default-deny: every route × every kind of caller. A route that is added without a policy has a cell that fails. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route, Scope } from '../../src/gateway/contract/route.ts'
import { ROUTES } from '../../src/gateway/contract/routes.ts'
import { SCOPES } from '../../src/gateway/contract/token-schema.ts'
import { HANDLERS } from '../../src/gateway/handlers.ts'
import { BOUNDLESS, type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
let jobId: string
let tokenId: string

beforeAll(async () => {
  fixture = await openGatewayFixture({ caps: BOUNDLESS })
  const created = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'crawl', id: 'mine' })
  jobId = String(created.body['id'])
  tokenId = (await fixture.gateway.tokens.create({ name: 'old', scope: 'admin', tenant: 'acme', queues: undefined }))
    .token.id
})
afterAll(async () => fixture[Symbol.asyncDispose]())

const pathOf = ({ path }: Route): string =>
  path.replace('{id}', jobId).replace('{queue}', 'default').replace('{worker}', 'w1').replace('{token}', tokenId)

/** A body that is not worth anything: whoever gets past the door is told 4xx by what is behind it, or is let through. */
const call = (who: Scope | string | undefined, route: Route) =>
  fixture.ask(who, route.method, pathOf(route), route.body === undefined ? undefined : {}, {
    accept: 'application/json',
  })

describe.each(ROUTES.map((route) => ({ name: `${route.method} ${route.path}`, route })))('$name', ({ route }) => {
  it('has a handler and says who may', () => {
    expect(route.name === 'openapi' || HANDLERS[route.name] !== undefined).toBe(true)
    expect(route.scopes === 'open' || route.scopes.length > 0).toBe(true)
  })

  it('asks for a token, unless it is open', async () => {
    const { status, headers } = await call(undefined, route)
    if (route.scopes === 'open') return expect(status).toBe(200)
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  it.each([
    'nonsense',
    'pawl_0123456789abcdef_short',
    `pawl_0123456789abcdef_${'a'.repeat(43)}`,
    '',
    'x'.repeat(4_000),
  ])('does not take %s for a token', async (secret) => {
    if (route.scopes === 'open') return
    expect((await call(secret, route)).status).toBe(401)
  })

  it('does not take an altered token', async () => {
    if (route.scopes === 'open') return
    const admin = fixture.secrets['acme']?.admin as string
    const altered = admin.slice(0, -1) + (admin.endsWith('A') ? 'B' : 'A')
    expect((await call(altered, route)).status).toBe(401)
  })

  it.each(SCOPES)('lets a %s in exactly where it says so', async (scope) => {
    if (route.scopes === 'open' || (route.name === 'revokeToken' && scope === 'admin')) return
    const { status } = await call(scope, { ...route, path: route.path.replace('{worker}', `of-${scope}`) })
    if (route.scopes.includes(scope)) expect([401, 403]).not.toContain(status)
    else expect(status).toBe(403)
  })

  it('shows nothing of another tenant’s job', async () => {
    if (!route.path.includes('{id}') || route.scopes === 'open') return
    const scope = route.scopes[0] as Scope
    const good = goodBody(route)
    const { status, text } = await fixture.ask(fixture.secrets['rival']?.[scope], route.method, pathOf(route), good)
    expect(status).toBe(404)
    expect(text).not.toContain('crawl')
    const alias = await fixture.ask(
      fixture.secrets['rival']?.[scope],
      route.method,
      pathOf(route).replace(jobId, 'mine'),
      good,
    )
    expect(alias.status).toBe(404)
  })

  it('answers with the headers that keep browsers out', async () => {
    const { headers } = await call(route.scopes === 'open' ? undefined : (route.scopes[0] as Scope), route)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('content-security-policy')).not.toContain('unsafe-inline')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-request-id')).toBeTruthy()
  })
})

/** A body its schema accepts, so that only the tenant can be in the way. */
function goodBody({ name, body }: Route): unknown {
  if (body === undefined) return undefined
  const fence = '0.1.0123456789abcdef'
  const words: Readonly<Record<string, object>> = {
    cancelJob: { mode: 'hard' },
    signalJob: { name: 'x' },
    reopenJob: {},
    reopenDeadLetter: {},
    rescheduleJob: { priority: 1 },
    deadletterJob: { reason: 'policy_violation' },
    recordJob: { fence, artifact: { name: 'a', ptr: 'p' } },
    checkpointJob: { fence, state: 1 },
    failJob: { fence, code: 'x' },
    waitJob: { fence, name: 'x' },
    admitJob: {},
    denyJob: {},
    approveJob: { policyHash: 'h', jobHash: 'j' },
    schedule002: {},
    deny002: {},
    cancel002: {},
    result002: { fence, status: 'SUCCEEDED' },
  }
  return words[name] ?? { fence }
}

describe('tokens', () => {
  it('stop working at once here and within seconds anywhere, when revoked or expired', async () => {
    const { token, secret } = await fixture.gateway.tokens.create({
      name: 't',
      scope: 'viewer',
      tenant: 'acme',
      queues: undefined,
    })
    expect((await fixture.ask(secret, 'GET', '/v1/jobs')).status).toBe(200)
    expect((await fixture.ask('admin', 'DELETE', `/v1/tokens/${token.id}`)).status).toBe(200)
    expect((await fixture.ask(secret, 'GET', '/v1/jobs')).status).toBe(401)
    const short = await fixture.gateway.tokens.create({
      name: 't',
      scope: 'viewer',
      tenant: 'acme',
      queues: undefined,
      expiresInMs: 0,
    })
    expect((await fixture.ask(short.secret, 'GET', '/v1/jobs')).status).toBe(401)
  })

  it('are shown once and kept as a hash', async () => {
    const { status, body } = await fixture.ask('admin', 'POST', '/v1/tokens', { name: 'ci', scope: 'producer' })
    expect(status).toBe(201)
    const secret = String(body['secret'])
    expect(secret.length).toBeGreaterThanOrEqual(43 + 22)
    expect((await fixture.ask('admin', 'GET', '/v1/tokens')).text).not.toContain(secret)
    const [stored] = await fixture.pawl.engine.settings([{ op: 'list', collection: 'token', after: '', limit: 500 }])
    expect(JSON.stringify(stored)).not.toContain(secret.split('_').slice(2).join('_'))
  })

  it('belong to a tenant, whatever a request says', async () => {
    expect(
      (await fixture.ask('admin', 'POST', '/v1/tokens', { name: 'x', scope: 'admin', tenant: 'rival' })).status,
    ).toBe(400)
    expect((await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', tenant: 'rival' })).status).toBe(400)
    expect((await fixture.ask('viewer', 'GET', '/v1/jobs?tenant=rival')).status).toBe(400)
    const rivalToken = (await fixture.ask(fixture.secrets['rival']?.admin, 'GET', '/v1/tokens')).body['tokens'] as {
      id: string
    }[]
    expect((await fixture.ask('admin', 'DELETE', `/v1/tokens/${rivalToken[0]?.id}`)).status).toBe(404)
  })

  it('bound to queues see those and no others', async () => {
    const { secret } = await fixture.gateway.tokens.create({
      name: 'w',
      scope: 'worker',
      tenant: 'acme',
      queues: ['mail'],
    })
    expect((await fixture.ask(secret, 'POST', '/v1/claims', { workerId: 'w', queues: ['default'] })).status).toBe(403)
    expect((await fixture.ask(secret, 'POST', '/v1/claims', { workerId: 'w', queues: ['mail'] })).status).toBe(200)
    expect((await fixture.ask(secret, 'GET', `/v1/jobs/${jobId}`)).status).toBe(404)
    expect(
      (await fixture.ask(secret, 'POST', `/v1/jobs/${jobId}/complete`, { fence: '0.1.0123456789abcdef' })).status,
    ).toBe(404)
    const batch = await fixture.ask(secret, 'POST', '/v1/transitions:batch', {
      transitions: [{ id: jobId, command: 'complete', fence: '0.1.0123456789abcdef' }],
    })
    expect(batch.body['answers']).toMatchObject([{ ok: false, problem: { code: 'NOT_FOUND' } }])
  })

  it('of a viewer see no payloads, and nobody but the owner sees a fence', async () => {
    const env = { KEY: 'canary-0815' }
    await fixture.ask('producer', 'POST', '/v1/jobs', {
      type: 'x',
      queue: 'secret',
      input: { card: 'canary-4711' },
      env,
    })
    const claimed = await fixture.ask('worker', 'POST', '/v1/claims', { workerId: 'w', queues: ['secret'] })
    const [{ job, fence }] = claimed.body['jobs'] as [{ job: { id: string }; fence: string }]
    await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/heartbeat`, { fence, requestId: `${fence}/beat/1` })
    await fixture.ask('worker', 'POST', `/v1/jobs/${job.id}/start`, { fence, requestId: `a-${fence}/${fence}` })
    const paths = [
      `/v1/jobs/${job.id}`,
      `/v1/jobs/${job.id}?bodies=input`,
      `/v1/jobs/${job.id}/events`,
      '/v1/jobs',
      '/v1/jobs?policy=true',
      `/v1/jobs/${job.id}?policy=true`,
      `/v1/jobs/${job.id}/explain`,
      `/v1/jobs/${job.id}/result`,
      '/v1/events?type=enqueued',
      '/v1/events?type=claimed',
      '/v1/events?type=started',
      '/v1/events?after=',
      ...['000', '001', '002', '003', '004'].flatMap((dialect) => [
        `/v1/jobs/${job.id}?dialect=${dialect}`,
        `/v1/jobs/${job.id}/events?dialect=${dialect}`,
        `/v1/jobs?dialect=${dialect}`,
      ]),
    ]
    for (const path of paths) {
      expect((await fixture.ask('viewer', 'GET', path)).text).not.toContain('canary')
      for (const scope of ['viewer', 'producer', 'operator', 'admin'] as const) {
        expect((await fixture.ask(scope, 'GET', path)).text).not.toContain(fence.split('.')[2])
      }
    }
    for (const scope of ['viewer', 'operator'] as const) {
      const cut = new AbortController()
      const headers = { authorization: `Bearer ${fixture.secrets['acme']?.[scope]}`, accept: 'text/event-stream' }
      const url = `${fixture.gateway.url}/v1/events?queue=secret&last_event_id=`
      const { body } = await fetch(url, { headers, signal: cut.signal })
      let text = ''
      for await (const chunk of body as ReadableStream<Uint8Array>) {
        text += new TextDecoder().decode(chunk)
        if (text.includes('event: started')) break
      }
      cut.abort()
      expect(text.includes('canary')).toBe(scope === 'operator')
    }
    await fixture.ask('operator', 'POST', `/v1/jobs/${job.id}/deadletter`, { reason: 'timeout' })
    for (const path of [`/v1/dead-letters/${job.id}`, '/v1/dead-letters']) {
      expect((await fixture.ask('viewer', 'GET', path)).text).not.toContain('canary')
      expect((await fixture.ask('operator', 'GET', path)).text).toContain('canary')
    }
    expect((await fixture.ask('producer', 'GET', `/v1/jobs/${job.id}`)).text).toContain('canary-4711')
    expect((await fixture.ask('producer', 'GET', `/v1/jobs/${job.id}`)).text).toContain('canary-0815')
  })
})
