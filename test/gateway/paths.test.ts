/** The table is closed: what is not in it does not exist, and says nothing. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture()
})
afterAll(async () => fixture[Symbol.asyncDispose]())

const METHODS = [
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'MKCOL',
  'PURGE',
  'SEARCH',
]
const ODD = [
  '//',
  '/v1',
  '/v1/',
  '/v1//jobs',
  '/v1/jobs/',
  '/V1/jobs',
  '/v1/Jobs',
  '/v1/jobs.',
  '/v1/jobs;a=b',
  '/v1/jobs/%2e%2e/jobs',
  '/v1/../v1/jobs',
  '/v1/%2e%2e/v1/jobs',
  '/v1/jobs/..',
  '/v1/jobs%00',
  '/v1/jobs/a%2fb',
  '/v1\\jobs',
  '/configs',
  '/.env',
  '/.git/config',
  '/v1/jobs/x/explode',
  '/debug',
  '/api/inngest',
  '/v1/jobs/__proto__/constructor',
]

/** `fetch` mends paths; a socket does not. */
function raw(
  method: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string }> {
  const { port } = new URL(fixture.gateway.url)
  return new Promise((resolve, reject) => {
    const call = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { authorization: `Bearer ${fixture.secrets['acme']?.admin}`, ...headers },
      },
      (response) => {
        let text = ''
        response.on('data', (chunk) => (text += chunk))
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    call.on('error', reject)
    call.end()
  })
}

describe.each(METHODS)('%s', (method) => {
  it.each(ODD)('%s is not there', async (path) => {
    const { status, text } = await raw(method, path)
    expect([404, 405, 400]).toContain(status)
    expect(text).not.toMatch(/node_modules|at .*:\d+|process\.env|PATH=|SELECT |4\.13/)
  })

  it('cannot be overridden', async () => {
    const { status } = await raw(method === 'GET' ? 'PATCH' : 'GET', '/v1/tokens/0123456789abcdef', {
      'x-http-method-override': 'DELETE',
    })
    expect([404, 405]).toContain(status)
  })
})

describe('the door', () => {
  it('says which methods there are', async () => {
    const { status, headers } = await fixture.ask('admin', 'PATCH', '/v1/jobs')
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('POST, GET')
  })

  it('refuses pages of other sites', async () => {
    const { status } = await fixture.ask('admin', 'GET', '/v1/jobs', undefined, { 'sec-fetch-site': 'cross-site' })
    expect(status).toBe(403)
  })

  it('does not open to the world without tokens', async () => {
    await expect(startGateway({ engine: fixture.pawl.engine, host: '0.0.0.0', port: 0, auth: false })).rejects.toThrow(
      'without tokens',
    )
  })

  it('takes JSON and nothing else', async () => {
    const form = await fixture.ask('producer', 'POST', '/v1/jobs', 'type=x', {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect(form.status).toBe(415)
    const plain = await fixture.ask('producer', 'POST', '/v1/jobs', '{"type":"x"}', { 'content-type': 'text/plain' })
    expect(plain.status).toBe(415)
    expect((await fixture.ask('producer', 'POST', '/v1/jobs', '{"type":')).status).toBe(400)
    expect((await fixture.ask('producer', 'POST', '/v1/jobs', '[]')).status).toBe(400)
  })

  it('takes no more than it can carry', async () => {
    const small = await openGatewayFixture({ caps: { bodyBytes: 1_000, bodyDepth: 5, bodyKeys: 10 } })
    try {
      expect((await small.ask('producer', 'POST', '/v1/jobs', { type: 'x', input: 'y'.repeat(2_000) })).status).toBe(
        413,
      )
      expect(
        (await small.ask('producer', 'POST', '/v1/jobs', `{"type":"x","input":${'['.repeat(9)}${']'.repeat(9)}}`))
          .status,
      ).toBe(413)
      const keys = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`k${i}`, '1']))
      expect((await small.ask('producer', 'POST', '/v1/jobs', { type: 'x', env: keys })).status).toBe(413)
      // What is kept as it is is never built, so nobody counts it.
      expect((await small.ask('producer', 'POST', '/v1/jobs', { type: 'x', input: keys })).status).toBe(201)
    } finally {
      await small[Symbol.asyncDispose]()
    }
  })
})
