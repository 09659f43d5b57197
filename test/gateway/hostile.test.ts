/** Hostile values in every position of every body and query: 4xx with a pointer, or kept; never 5xx, never a stuck job. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import type { Route } from '../../src/gateway/contract/route.ts'
import { ROUTES } from '../../src/gateway/contract/routes.ts'
import { scaled } from '../support/scale.ts'
import { BOUNDLESS, type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'
import { goodBody } from './good-bodies.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGatewayFixture({ caps: BOUNDLESS })
})
afterAll(async () => fixture[Symbol.asyncDispose]())

/** As JSON text, so that what JSON.stringify would mend stays broken. */
const WORDS = [
  '',
  ' ',
  '\u0000',
  '\u0007',
  '\ud800',
  '\udfff',
  '\u202e',
  '\ufeff',
  '\u001b[31m',
  '\r\nSet-Cookie: a=b',
  '__proto__',
  'constructor',
  'toString',
  'null',
  'undefined',
  'NaN',
  "'; drop table jobs; --",
  '" or 1=1 --',
  '$\u007b7*7}',
  '{{7*7}}',
  '<script>alert(1)</script>',
  '../../etc/passwd',
  '%00',
  '%2e%2e',
  'pj_1',
  'pj_0',
  'pj_zzzz',
  '😀'.repeat(50),
  'x'.repeat(129),
  'x'.repeat(257),
  'x'.repeat(3_000),
  'x'.repeat(100_000),
  '-1',
  '1e999',
  '9007199254740993',
  '-0',
  '0x10',
  'true',
  '[]',
  '{}',
  'http://169.254.169.254/',
  '0.1.0123456789abcdef',
  'cancelled',
  'canceled',
  '2026-11-15T00:00:00Z',
  '0000-00-00T00:00:00Z',
  '+275760-09-13T00:00:00.001Z',
  '1d',
  '-1d',
  '99999999999999d',
  '1e9s',
]
const NUMBERS = [
  '0',
  '-0',
  '-1',
  '1',
  '1.5',
  '1e308',
  '1e400',
  '-1e400',
  '9007199254740991',
  '9007199254740993',
  '123456789012345678901234567890',
  '1e-400',
  '2147483648',
  '4294967296',
  '0.1',
  '10',
]
const SHAPES = [
  'null',
  'true',
  'false',
  '[]',
  '{}',
  '[null]',
  '[[]]',
  '{"":""}',
  '{"__proto__":{"polluted":1}}',
  '{"constructor":{"prototype":{"polluted":1}}}',
  '{"toString":1}',
  '{"a":1,"a":2}',
  `${'['.repeat(90)}${']'.repeat(90)}`,
  `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  `[${'0,'.repeat(5_000)}0]`,
  `{${Array.from({ length: 300 }, (_, i) => `"k${i}":${i}`).join(',')}}`,
]
const inside = (text: string) => [`[${text}]`, `{"name":${text}}`, `{"a":${text},"b":{"c":${text}}}`]
const BASE = [...WORDS.map((word) => JSON.stringify(word)), ...NUMBERS, ...SHAPES]
const VALUES = [...BASE, ...BASE.slice(0, 60).flatMap(inside)]

const keysOf = (schema: z.ZodType | undefined): readonly string[] =>
  Object.keys((schema as { shape?: Record<string, unknown> } | undefined)?.shape ?? {})

/** The body of a route with one member replaced by this text. */
function bodyWith(route: Route, key: string, text: string): string {
  const own = Object.entries(goodBody(route)).filter(([name]) => name !== key && keysOf(route.body).includes(name))
  return `{${[...own.map(([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`), `${JSON.stringify(key)}:${text}`].join(',')}}`
}

async function send(method: string, path: string, body: string | undefined): Promise<{ status: number; text: string }> {
  const headers = { authorization: `Bearer ${fixture.secrets['acme']?.admin}`, 'content-type': 'application/json' }
  const request = new Request(`http://localhost${path}`, { method, headers, ...(body === undefined ? {} : { body }) })
  const response = await fixture.gateway.fetch(request)
  return { status: response.status, text: await response.text() }
}

const pathOf = (route: Route, job: string): string =>
  route.path.replace('{id}', job).replace('{queue}', 'hostile').replace('{worker}', 'w').replace('{token}', 'none')

const every = scaled(23, 1)

describe('hostile values', () => {
  it('are many', () => {
    expect(VALUES.length).toBeGreaterThanOrEqual(250)
  })

  it.each(ROUTES.filter(({ body }) => keysOf(body).length > 0).map((route) => [route.name, route] as const))(
    '%s',
    async (name, route) => {
      const { body } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'hostile' })
      const job = String(body['id'])
      let n = name.length
      for (const key of keysOf(route.body)) {
        // Waiting for nothing for a minute is not what this is about.
        if (key === 'waitMs') continue
        for (const value of VALUES) {
          n += 1
          if (n % every !== 0) continue
          const { status, text } = await send(route.method, pathOf(route, job), bodyWith(route, key, value))
          expect(status, `${key}: ${value.slice(0, 80)} → ${text.slice(0, 300)}`).toBeLessThan(500)
          expect(text).not.toMatch(/node_modules|\bat .*:\d+:\d+/)
          if (status === 400 && value !== '{}')
            expect(text).toMatch(/"violations":\[\{"field":|The body|not JSON|tenant/)
        }
      }
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
      const readable = await fixture.ask('operator', 'GET', `/v1/jobs/${job}`)
      expect(readable.status).toBe(200)
    },
  )

  it.each(ROUTES.filter(({ query }) => keysOf(query).length > 0).map((route) => [route.name, route] as const))(
    '%s, in its query',
    async (name, route) => {
      const { body } = await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'hostile' })
      let n = name.length
      for (const key of [...keysOf(route.query), '__proto__', 'tenant']) {
        if (key === 'waitMs') continue
        for (const word of [...WORDS, ...NUMBERS]) {
          n += 1
          if (n % every !== 0 || word.length > 3_000 || !word.isWellFormed()) continue
          const { status, text } = await send(
            route.method,
            `${pathOf(route, String(body['id']))}?${key}=${encodeURIComponent(word)}`,
            undefined,
          )
          expect(status, `${key}=${word} → ${text.slice(0, 300)}`).toBeLessThan(500)
        }
      }
    },
  )

  it('are kept to the letter as an input, or refused with a pointer', async () => {
    for (const [i, value] of VALUES.entries()) {
      const queue = `kept${i}`
      const { status } = await send('POST', '/v1/jobs', `{"type":"x","queue":"${queue}","input":${value}}`)
      if (status === 413 || status === 400) continue
      expect(status, value.slice(0, 80)).toBe(201)
      const claimed = await send('POST', '/v1/claims', `{"workerId":"w","queues":["${queue}"]}`)
      expect(claimed.text.endsWith(`"input":${value}}]}`), value.slice(0, 80)).toBe(true)
    }
  })
})

describe('random requests', () => {
  it('never break anything', async () => {
    let seed = 7
    const random = (n: number) => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % n
    }
    const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T
    const jobs: string[] = []
    for (let i = 0; i < 20; i += 1)
      jobs.push(
        String((await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'fuzz', queue: `fuzz${i}` })).body['id']),
      )
    for (let i = 0; i < scaled(3_000, 100_000); i += 1) {
      const route = pick(ROUTES)
      if (route.name === 'streamEvents' || route.name === 'revokeToken') continue
      const keys = keysOf(route.body).filter((key) => key !== 'waitMs')
      const chosen = keys.filter(() => random(2) === 0)
      const members = chosen.map(
        (key) =>
          `${JSON.stringify(key)}:${random(3) === 0 ? pick(VALUES) : JSON.stringify(goodBody(route)[key] ?? 'x')}`,
      )
      const body = route.body === undefined ? undefined : random(20) === 0 ? pick(VALUES) : `{${members.join(',')}}`
      const { status, text } = await send(route.method, pathOf(route, pick([...jobs, 'none'])), body)
      expect(status, `${route.name} ${body?.slice(0, 200)} → ${text.slice(0, 300)}`).toBeLessThan(500)
    }
    for (const id of jobs) expect((await send('GET', `/v1/jobs/${id}`, undefined)).status).toBe(200)
    expect((await fixture.pawl.verify()).discrepancies).toEqual([])
  })
})
