/** Tokens put together out of good ones, and what a good one may make of itself: nobody is more than they were let be. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Route, Scope } from '../../src/gateway/contract/route.ts'
import { ROUTES } from '../../src/gateway/contract/routes.ts'
import { SCOPES } from '../../src/gateway/contract/token-schema.ts'
import { BOUNDLESS, type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture({ caps: BOUNDLESS })
})
afterAll(async () => fixture[Symbol.asyncDispose]())

const secretOf = (scope: Scope, tenant = 'acme'): string => fixture.secrets[tenant]?.[scope] ?? ''

/** Headers that look like those of an admin, to somebody. */
function crafted(scope: Scope): readonly string[] {
  const admin = secretOf('admin')
  const [, id = '', rest = ''] = /^pawl_([^_]+)_(.*)$/.exec(admin) ?? []
  const [, otherId = '', otherRest = ''] = /^pawl_([^_]+)_(.*)$/.exec(secretOf(scope, 'rival')) ?? []
  return [
    `Bearer pawl_${id}_${otherRest}`,
    `Bearer pawl_${otherId}_${rest}`,
    `Bearer pawl_${id.toUpperCase()}_${rest}x`,
    `Bearer pawl_${id}_${rest}, Bearer ${secretOf(scope)}`,
    `Bearer ${admin} ${secretOf(scope)}`,
    `Bearer Bearer ${admin}`,
    `Bearer "${admin}"`,
    `Bearer ${encodeURIComponent(`${admin}=`)}`,
    `Bearer ${admin.slice(0, -1)}`,
    `Bearer ${admin}${admin}`,
    `Bearer ${Buffer.from(admin).toString('base64')}`,
    `Basic ${Buffer.from(`admin:${admin}`).toString('base64')}`,
    `Token ${admin}`,
    admin,
  ]
}

const send = (route: Route, headers: Record<string, string>) => {
  const path = route.path.replaceAll(/\{\w+\}/g, 'x')
  const body = route.body === undefined ? {} : { body: '{}' }
  const all = { accept: 'application/json', 'content-type': 'application/json', ...headers }
  return fixture.gateway.fetch(new Request(`http://localhost${path}`, { method: route.method, headers: all, ...body }))
}

describe('a token', () => {
  it.each(ROUTES.filter(({ scopes }) => scopes !== 'open').map((route) => [route.name, route] as const))(
    'that was put together is none: %s',
    async (name, route) => {
      const scope = SCOPES[name.length % SCOPES.length] as Scope
      for (const authorization of crafted(scope))
        expect((await send(route, { authorization })).status, authorization).toBe(401)
      // Neither is one that stands anywhere else.
      const admin = secretOf('admin')
      for (const header of ['x-api-key', 'cookie', 'proxy-authorization', 'x-authorization'])
        expect((await send(route, { [header]: `Bearer ${admin}` })).status, header).toBe(401)
    },
  )

  it('makes none that may do more than it may itself', async () => {
    const queues = ['a', 'b']
    const { secret } = await fixture.gateway.tokens.create({ name: 'bound', scope: 'admin', tenant: 'acme', queues })
    const make = (words: object) => fixture.ask(secret, 'POST', '/v1/tokens', { name: 'n', scope: 'worker', ...words })
    expect((await make({ queues: ['a'] })).status).toBe(201)
    expect((await make({ queues })).status).toBe(201)
    for (const words of [{}, { queues: ['c'] }, { queues: ['a', 'c'] }, { scope: 'admin' }])
      expect((await make(words)).body).toMatchObject({ status: 403, code: 'FORBIDDEN' })
    expect((await make({ queues: ['a'], tenant: 'rival' })).body['code']).toBe('TENANT')
  })
})
