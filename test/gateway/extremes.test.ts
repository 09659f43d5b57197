/**
 * The largest and the most numerous of everything, for every route and every scope: what is allowed is taken and comes
 * back as it was, what is not is refused by name; and memory is what it was.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AT_ONCE } from '../../src/core/limits.ts'
import { described } from '../../src/gateway/contract/collections.ts'
import type { Route } from '../../src/gateway/contract/route.ts'
import { ROUTES } from '../../src/gateway/contract/routes.ts'
import { newJob, WORDS, type WordName } from '../../src/gateway/contract/schemas.ts'
import { SCOPES } from '../../src/gateway/contract/token-schema.ts'
import { eventually } from '../support/eventually.ts'
import { byTheClock, scaled, soaking } from '../support/scale.ts'
import { BOUNDLESS, type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'
import { goodBody } from './good-bodies.ts'
import { largest } from './largest.ts'
import { placesOf } from './places.ts'

let fixture: GatewayFixture
let jobId: string
beforeAll(async () => {
  fixture = await openGatewayFixture({
    caps: { ...BOUNDLESS, queuesPerTenant: 1e6, typesPerTenant: 1e6, kindsPerTenant: 1e6 },
  })
  jobId = String((await fixture.ask('producer', 'POST', '/v1/jobs', { type: 'x', queue: 'extremes' })).body['id'])
})
afterAll(async () => fixture[Symbol.asyncDispose]())

const pathOf = ({ path }: Route): string => path.replace('{id}', jobId).replaceAll(/\{\w+\}/g, 'none')

async function send(secret: string | undefined, route: Route, made: string, where: 'body' | 'query') {
  const url = `http://localhost${pathOf(route)}${where === 'query' ? `?${made}` : ''}`
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  const body = where === 'body' ? made : route.body === undefined ? undefined : JSON.stringify(goodBody(route))
  const request = new Request(url, { method: route.method, headers, ...(body === undefined ? {} : { body }) })
  const response = await fixture.gateway.fetch(request)
  return { status: response.status, text: await response.text() }
}

/** Says why it was refused in a way that names what there was too much of. */
const NAMED = /"cap":"\w+"|"violations":\[\{"field":"[^"]+","rule":"[^"]+"/

const places = ROUTES.filter(({ scopes }) => scopes !== 'open').flatMap(placesOf)
const every = scaled(31, 1)
const MOST = [1_000, 60_000]

describe('the most numerous', () => {
  it.each(ROUTES.filter(({ scopes }) => scopes !== 'open').map((route) => [route.name, route] as const))(
    '%s, of every scope',
    async (name, route) => {
      let n = name.length
      for (const place of places.filter((each) => each.route === route)) {
        for (const count of MOST) {
          for (const scope of SCOPES) {
            n += 1
            if (n % every !== 0) continue
            const { status, text } = await send(fixture.secrets['acme']?.[scope], route, place.request(count), place.in)
            const what = `${place.name} × ${count} by ${scope}: ${status} ${text.slice(0, 300)}`
            expect(status, what).toBeLessThan(500)
            if (status === 400 || status === 413) expect(text, what).toMatch(NAMED)
            // Each of those that may be named together has an answer of its own.
            expect(text.length, what).toBeLessThan(100_000 + 500 * Math.min(count, AT_ONCE.jobs))
          }
        }
      }
    },
  )
})

describe('the largest that is allowed', () => {
  const filled = { deep: { er: ['x'.repeat(10_000)] }, big: 1e300, minus: -0 }

  it.each(ROUTES.filter(({ body }) => body !== undefined).map((route) => [route.name, route] as const))(
    'is never too much for %s',
    async (_, route) => {
      const words = largest(described(route.body as never) as never, filled) as Record<string, unknown>
      const { status, text } = await send(
        fixture.secrets['acme']?.admin,
        route,
        JSON.stringify(withWords(route, words)),
        'body',
      )
      expect(status, text.slice(0, 500)).not.toBe(413)
      expect(status).toBeLessThan(500)
      // What is contradictory in itself (a delay and a time) is said so; nothing is said about its size.
      expect(text).not.toMatch(/"cap":"|at most \d|must be text of|too big|<=/i)
    },
  )

  it('comes back as it was', async () => {
    const words = largest(described(newJob) as never, filled) as Readonly<Record<string, unknown>>
    // One of two times, and neither a policy nor a parent that there is not.
    const { runAt: _, delay: __, policy: ___, parentId: ____, ...rest } = words
    const job: Readonly<Record<string, unknown>> = { ...rest, queue: 'largest' }
    const created = await fixture.ask('producer', 'POST', '/v1/jobs', job)
    expect(created.status, created.text.slice(0, 500)).toBe(201)
    const { body, text } = await fixture.ask('producer', 'GET', `/v1/jobs/${created.body['id']}`)
    for (const name of [
      'labels',
      'env',
      'contextPtr',
      'topic',
      'adapterId',
      'workflowId',
      'correlationId',
      'dedupeKey',
    ])
      expect(body[name], name).toEqual(job[name])
    expect(body['alias']).toBe(job['id'])
    expect(text).toContain(`"input":${JSON.stringify(filled)}`)
  })

  it('may have an input of eight megabytes, to the letter', async () => {
    const input = `[${'{ },'.repeat(2_000_000)}"é"]`
    const created = await fixture.ask('producer', 'POST', '/v1/jobs', `{"type":"x","queue":"eight","input":${input}}`)
    expect(created.status).toBe(201)
    const { text } = await fixture.ask('producer', 'GET', `/v1/jobs/${created.body['id']}`)
    expect(text.includes(`"input":${input}`)).toBe(true)
    const over = await fixture.ask(
      'producer',
      'POST',
      '/v1/jobs',
      `{"type":"x","input":"${'y'.repeat(8 * 1024 * 1024)}"}`,
    )
    expect(over.body).toMatchObject({ code: 'TOO_LARGE', cap: 'bodyBytes' })
  })
})

describe('the largest body there may be', () => {
  const fill = (piece: string) => piece.repeat(Math.floor((8 * 1024 * 1024 - 60) / piece.length))
  const inputs = {
    'empty lists': `[${fill('[],')}0]`,
    'empty objects': `[${fill('{},')}0]`,
    numbers: `[${fill('0,')}0]`,
    names: `{${fill('"a":0,')}"b":0}`,
    escapes: `"${fill('\\n')}"`,
    'letters of two bytes': `"${'é'.repeat(4 * 1024 * 1024 - 40)}"`,
  }

  it.each(Object.entries(inputs))('is taken, of %s; heartbeats are heard meanwhile', async (_, input) => {
    const headers = { authorization: `Bearer ${fixture.secrets['acme']?.producer}`, 'content-type': 'application/json' }
    const body = Buffer.from(`{"type":"x","queue":"heavy","input":${input}}`)
    const request = new Request('http://localhost/v1/jobs', { method: 'POST', headers, body })
    let last = performance.now()
    let longestMs = 0
    const ticking = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last)
      last = performance.now()
    }, 1)
    const response = await fixture.gateway.fetch(request)
    clearInterval(ticking)
    expect(response.status).toBe(201)
    const { id } = (await response.json()) as { id: string }
    expect((await fixture.pawl.engine.load([{ id, bodies: ['input'] }])).items[0]?.bodies['input'] === input).toBe(true)
    // How long that is depends on the machine: a soak has one to itself.
    if (byTheClock) expect(longestMs).toBeLessThan(200)
  })
})

/** A batch of words has one of each: what their own schemas allow is not in that of the batch. */
function withWords(route: Route, words: Record<string, unknown>): object {
  // A thousand of the largest jobs are more than a body may have.
  if (route.name === 'createJobs') return { jobs: (words['jobs'] as readonly unknown[]).slice(0, 20) }
  // Waiting for nothing for a minute is not what this is about.
  if (route.name === 'claim') return { ...words, waitMs: 0 }
  if (route.name === 'dispatch002') return { ...words, wait_ms: 0 }
  if (route.name !== 'settle') return words
  const transitions = (Object.keys(WORDS) as WordName[]).map((command) => ({
    ...(largest(described(WORDS[command]) as never, 1) as object),
    id: jobId,
    command,
  }))
  return { transitions }
}

describe('memory', () => {
  it(
    'is what it was before, once giants have come and gone',
    async () => {
      setFlagsFromString('--expose-gc')
      const collect = runInNewContext('gc') as () => void
      const used = () => {
        collect()
        return process.memoryUsage().heapUsed
      }
      const table = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']))
      const giants = [
        JSON.stringify({ type: 'x', labels: table(100_000) }),
        JSON.stringify({ type: 'x', input: 'y'.repeat(9_000_000) }),
        `{"type":"x","input":${'['.repeat(4_000_000)}`,
        JSON.stringify({ jobs: new Array(60_000).fill({ type: 'x' }) }),
      ]
      const round = async () => {
        for (const giant of giants)
          for (const path of ['/v1/jobs', '/v1/jobs:batch']) {
            const { status } = await fixture.ask('producer', 'POST', path, giant)
            expect([400, 413]).toContain(status)
          }
      }
      await round()
      const before = used()
      for (let n = 0; n < scaled(3, 30); n += 1) await round()
      await eventually('the heap is back at its baseline', () => used() - before < 8 * 1024 * 1024, { everyMs: 100 })
    },
    soaking ? 600_000 : 120_000,
  )
})
