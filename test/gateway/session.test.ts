/** Browsers: a token for a cookie, and what the cookie is good for. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signInLink } from '../../src/gateway/session.ts'
import { Tokens } from '../../src/gateway/token.ts'
import { realClock } from '../../src/system/clock.ts'
import { realRandom } from '../../src/system/random.ts'
import { BOUNDLESS, type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture({ caps: BOUNDLESS })
})
afterAll(() => fixture[Symbol.asyncDispose]())

interface SignedIn {
  readonly cookie: string
  readonly csrf: string
}

async function signIn(who: string): Promise<SignedIn> {
  const { status, headers, body } = await fixture.ask(who, 'POST', '/v1/session', {})
  expect(status).toBe(201)
  const set = headers.get('set-cookie') ?? ''
  expect(set).toMatch(/; HttpOnly; SameSite=Strict$/)
  return { cookie: set.split(';')[0] ?? '', csrf: String(body['csrf']) }
}

const by = (
  signed: Partial<SignedIn>,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
) =>
  fixture.ask(undefined, method, path, body, {
    ...(signed.cookie === undefined ? {} : { cookie: signed.cookie }),
    ...(signed.csrf === undefined ? {} : { 'x-pawl-csrf': signed.csrf }),
    ...headers,
  })

describe('a session', () => {
  it('is whom the token was, and tells what they may', async () => {
    const { body } = await by(await signIn('viewer'), 'GET', '/v1/session')
    expect(body).toMatchObject({ name: 'viewer', scope: 'viewer', tenant: 'acme', by: 'session' })
    expect(body['may']).toContain('listJobs')
    expect(body['may']).not.toContain('cancelJob')
    expect((await fixture.ask('viewer', 'GET', '/v1/session')).body).toMatchObject({ by: 'token' })
  })

  it('may what its scope may, and nothing else', async () => {
    const viewer = await signIn('viewer')
    expect((await by(viewer, 'GET', '/v1/jobs')).status).toBe(200)
    expect((await by(viewer, 'POST', '/v1/queues/q/pause', {})).body['code']).toBe('FORBIDDEN')
    expect((await by(await signIn('operator'), 'POST', '/v1/queues/q/pause', {})).status).toBe(200)
  })

  it('changes nothing without the word that only a page of ours can know', async () => {
    const { cookie, csrf } = await signIn('operator')
    for (const wrong of [undefined, '', 'x', csrf.slice(1)])
      expect(
        (await by({ cookie, ...(wrong === undefined ? {} : { csrf: wrong }) }, 'POST', '/v1/queues/q/pause', {})).body[
          'code'
        ],
      ).toBe('CROSS_SITE')
    const other = await signIn('operator')
    expect((await by({ cookie, csrf: other.csrf }, 'POST', '/v1/queues/q/pause', {})).body['code']).toBe('CROSS_SITE')
  })

  it('is of no use to a page of another site, nor outside a cookie', async () => {
    const signed = await signIn('admin')
    expect((await by(signed, 'GET', '/v1/jobs', undefined, { 'sec-fetch-site': 'cross-site' })).body['code']).toBe(
      'CROSS_SITE',
    )
    const secret = signed.cookie.split('=')[1] ?? ''
    expect((await fixture.ask(secret, 'GET', '/v1/jobs')).status).toBe(401)
    // Nor is a token one, put into a cookie.
    const name = signed.cookie.split('=')[0]
    expect((await by({ cookie: `${name}=${fixture.secrets['acme']?.admin}` }, 'GET', '/v1/jobs')).status).toBe(401)
  })

  it('makes no other, and is over when it is signed out', async () => {
    const signed = await signIn('operator')
    expect((await by(signed, 'POST', '/v1/session', {})).body['code']).toBe('FORBIDDEN')
    const out = await by(signed, 'DELETE', '/v1/session')
    expect(out.headers.get('set-cookie')).toMatch(/=; Path=\/; Max-Age=0;/)
    expect((await by(signed, 'GET', '/v1/jobs')).status).toBe(401)
  })

  it('goes with its token', async () => {
    const { token, secret } = await fixture.gateway.tokens.create({
      name: 'ann',
      scope: 'operator',
      tenant: 'acme',
      queues: undefined,
    })
    const signed = await signIn(secret)
    await fixture.gateway.tokens.revoke(token.id, 'acme')
    expect((await by(signed, 'GET', '/v1/jobs')).status).toBe(401)
    expect((await fixture.gateway.tokens.list('acme')).filter(({ of }) => of === token.id)).toEqual([])
  })

  it('lasts no longer than its token, and there are so many of one', async () => {
    const { secret } = await fixture.gateway.tokens.create({
      name: 'short',
      scope: 'viewer',
      tenant: 'acme',
      queues: undefined,
      expiresInMs: 60_000,
    })
    const all: SignedIn[] = []
    for (let n = 0; n < 21; n += 1) all.push(await signIn(secret))
    const { body } = await by(all.at(-1) as SignedIn, 'GET', '/v1/session')
    expect(Date.parse(String(body['expiresAt'])) - Date.now()).toBeLessThanOrEqual(60_000)
    expect((await by(all[0] as SignedIn, 'GET', '/v1/jobs')).status).toBe(401)
    expect((await by(all[1] as SignedIn, 'GET', '/v1/jobs')).status).toBe(200)
  })
})

describe('a session and its token', () => {
  it('are one caller: what one token may have at a time is not had by each of its sessions again', async () => {
    await using one = await openGatewayFixture({ caps: { streamsPerToken: 1 } })
    const signedIn = await one.ask('viewer', 'POST', '/v1/session', {})
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    const gone = new AbortController()
    const stream = (headers: Record<string, string>) =>
      fetch(`${one.gateway.url}/v1/events`, {
        headers: { accept: 'text/event-stream', ...headers },
        signal: gone.signal,
      })
    expect((await stream({ authorization: `Bearer ${one.secrets['acme']?.viewer}` })).status).toBe(200)
    const another = await stream({ cookie })
    expect(another.status).toBe(429)
    expect(await another.json()).toMatchObject({ cap: 'streamsPerToken' })
    gone.abort()
  })

  it('end together, though the token was revoked at another gateway that this one has not heard of yet', async () => {
    const elsewhere = new Tokens(fixture.pawl.engine, realClock, realRandom)
    const words = { name: 'ann', scope: 'operator', tenant: 'acme', queues: undefined } as const
    const { token, secret } = await elsewhere.create(words)
    expect((await fixture.ask(secret, 'GET', '/v1/jobs')).status).toBe(200)
    await elsewhere.revoke(token.id, 'acme')
    expect((await fixture.ask(secret, 'POST', '/v1/session', {})).status).toBe(401)
    expect((await elsewhere.list('acme')).filter(({ of }) => of === token.id)).toEqual([])
  })
})

describe('a link', () => {
  it('signs in once, and opens nothing else', async () => {
    const { token } = await fixture.gateway.tokens.create({
      name: 'ann',
      scope: 'operator',
      tenant: 'acme',
      queues: undefined,
    })
    const link = await signInLink(fixture.gateway.tokens, token, fixture.gateway.url)
    const [address = '', secret = ''] = link.split('#')
    expect(address).toBe(`${fixture.gateway.url}/sign-in`)
    expect((await fixture.ask(secret, 'GET', '/v1/jobs')).status).toBe(401)
    const both = await Promise.all([1, 2].map(() => fixture.ask(secret, 'POST', '/v1/session', {})))
    expect(both.map(({ status }) => status).sort()).toEqual([201, 401])
    expect((await fixture.ask(secret, 'POST', '/v1/session', {})).status).toBe(401)
  })
})

describe('whoever needs no token', () => {
  it('is told who they are, and needs no session', async () => {
    await using open = await openGatewayFixture({ auth: false })
    const { body } = await open.ask(undefined, 'GET', '/v1/session')
    expect(body).toMatchObject({ name: 'anonymous', by: 'host' })
    expect(body['may']).toContain('listAudit')
    expect((await open.ask(undefined, 'POST', '/v1/session', {})).body['code']).toBe('FORBIDDEN')
  })
})
