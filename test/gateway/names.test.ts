/** Each name, in each place where a name can be: taken and then usable everywhere, or refused at once with the rule. */
import { request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROUTES } from '../../src/gateway/contract/routes.ts'
import { defineJob, defineSpec, Invalid, open, type Pawl } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { type GatewayFixture, openGatewayFixture } from './gateway-fixture.ts'

const TAKEN = [
  'a/b',
  'orders/42/lines',
  '/',
  '//',
  'a/',
  '/a',
  'mail.send',
  'x.',
  '.x',
  '...',
  '../x',
  'a/../b',
  'a/./b',
  './',
  '%',
  '%2F',
  '%2e%2e',
  '%252F',
  'a%',
  '%zz',
  'a?b=c&d',
  'a#b',
  'a;b=c',
  'a\\b',
  'a:batch',
  'a+b',
  'a b',
  ' a ',
  '"quoted"',
  'été',
  '日本語',
  '😀',
  'pause',
  'events',
  'constructor',
] as const

/** With what a refusal says. */
const REFUSED: readonly (readonly [name: string, rule: RegExp])[] = [
  ['.', /must not be \. or \.\./],
  ['..', /must not be \. or \.\./],
  ['', /1 to|expected string to have >=1/],
  ['a\u0000b', /control characters/],
  ['a\nb', /control characters/],
  ['\u007f', /control characters/],
  ['\ud800', /control characters/],
  ['x'.repeat(257), /1 to|at most|<=/],
]

let fixture: GatewayFixture
let pawl: Pawl
beforeAll(async () => {
  fixture = await openGatewayFixture()
  pawl = await open(fixture.gateway.url, { token: fixture.secrets['acme']?.admin, log: 'silent' })
})
afterAll(async () => {
  await pawl.close()
  await fixture[Symbol.asyncDispose]()
})

/** `fetch` mends paths; a socket does not. */
function raw(method: string, path: string, body = '{}'): Promise<{ status: number; body: Record<string, unknown> }> {
  const { port } = new URL(fixture.gateway.url)
  const headers = { authorization: `Bearer ${fixture.secrets['acme']?.admin}`, 'content-type': 'application/json' }
  return new Promise((resolve, reject) => {
    const call = request({ host: '127.0.0.1', port, method, path, headers }, (response) => {
      let text = ''
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => {
        const told = text.startsWith('{') ? (JSON.parse(text) as Record<string, unknown>) : {}
        resolve({ status: response.statusCode ?? 0, body: told })
      })
    })
    call.on('error', reject)
    call.end(method === 'GET' || method === 'DELETE' ? undefined : body)
  })
}

/** Routes that name something, and what they need to hear to be about it. */
const NAMING = ROUTES.filter(({ path }) => path.includes('{'))
const BODIES: Readonly<Record<string, string>> = {
  signalJob: '{"name":"s"}',
  deadletterJob: '{"reason":"timeout"}',
  announceType: '{"queue":"q"}',
  progressJob: '{"fence":"f"}',
  checkpointJob: '{"fence":"f","state":1}',
  recordJob: '{"fence":"f","undone":"x"}',
  failJob: '{"fence":"f","code":"c"}',
  waitJob: '{"fence":"f","name":"n"}',
  run002: '{"fence":"f"}',
  result002: '{"fence":"f","status":"SUCCEEDED"}',
  defineSchedule: '{"type":"x","every":"1h"}',
  setLimit: '{"weight":2}',
  setPolicy: '{"text":"rules: [{ id: a, decision: allow }]"}',
  approveJob: '{"policyHash":"h","jobHash":"h"}',
}
const bodyFor = (name: string): string =>
  BODIES[name] ?? (/^(start|heartbeat|complete|release|compensated)Job$/.test(name) ? '{"fence":"f"}' : '{}')

describe.each(TAKEN)('%j', (name) => {
  it('is a name that every route reads as it was meant', async () => {
    const made = await raw('POST', '/v1/jobs', JSON.stringify({ type: name, queue: name, id: name, delay: '1h' }))
    expect(made.status).toBe(201)
    expect(made.body).toMatchObject({ type: name, queue: name, alias: name })
    await pawl.engine.settings([
      { op: 'put', collection: 'worker', key: JSON.stringify(['acme', name]), text: '{}', rev: undefined },
    ])
    for (const route of NAMING) {
      const path = route.path.replaceAll(/\{\w+\}/g, encodeURIComponent(name))
      const { status, body } = await raw(route.method, path, bodyFor(route.name))
      // What is about the job finds it, though it may not be moved so; what does not exist says that it does not.
      const about = `${route.method} ${path}: ${status} ${JSON.stringify(body)}`
      if (route.path.includes('{token}')) expect(about).toContain('No token has this id')
      else if (route.path.startsWith('/v1/schedules/')) expect(about).toMatch(/: (20\d |404 .*There is no schedule)/)
      else if (route.path.startsWith('/v1/limits/')) expect(about).toMatch(/: (20\d |404 .*There is no limit key)/)
      else if (route.path.startsWith('/v1/policies/')) expect(about).toMatch(/: (20\d |404 .*There is no policy)/)
      else if (route.path.startsWith('/v1/operations/')) expect(about).toMatch(/: 404 .*There is no operation/)
      else if (route.name === 'showType') expect(about).toMatch(/: (404|200) .*(No worker has announced|"type":)/)
      else if (status >= 400)
        expect(about).toMatch(new RegExp(`"jobId":"${made.body['id']}"|not among the dead letters`))
      else expect([200, 202]).toContain(status)
    }
  })

  it('is the same to the library at the other end', async () => {
    const type = defineSpec({ type: name, queue: name })
    const job = await pawl.enqueue(type, { n: 1 }, { id: `${name}~lib`, delay: '1h' })
    expect((await pawl.get(`${name}~lib`))?.id).toBe(job.id)
    expect(await pawl.body(`${name}~lib`, 'input')).toEqual({ n: 1 })
    expect((await pawl.events(`${name}~lib`)).map(({ type }) => type)).toEqual(['enqueued'])
    await pawl.signal(`${name}~lib`, 'hello', name)
    expect(await pawl.body(`${name}~lib`, 'signal/1')).toBe(name)
    await pawl.reschedule(`${name}~lib`, { delay: '2h' })
    const queues = (await pawl.find({ queues: [name], types: [name] })).jobs
    expect(queues.map(({ id }) => id)).toContain(job.id)
    await pawl.pause(name)
    expect((await fixture.pawl.explain(job.id)).way).toBe('delayed')
    expect(
      (await pawl.engine.settings([{ op: 'get', collection: 'queue', key: JSON.stringify(['acme', name]) }]))[0]
        ?.settings[0]?.text,
    ).toContain('"paused":true')
    await pawl.resume(name)
    await pawl.cancel(`${name}~lib`)
    expect((await pawl.get(`${name}~lib`))?.state).toBe('cancelled')
  })
})

describe.each(REFUSED)('%j', (name, rule) => {
  it('is refused at once, as an id, a queue, a type and a worker, by the library and by the gateway', async () => {
    const plain = defineSpec({ type: 'plain' })
    for (const where of [fixture.pawl, pawl]) {
      const refused = await where.enqueue(plain, 1, { id: name }).catch((error: unknown) => error)
      expect(refused).toMatchObject({ code: 'INVALID' })
      expect((refused as Error).message).toMatch(rule)
      expect(await where.get(name)).toBeUndefined()
    }
    expect(() => defineSpec({ type: name })).toThrow(Invalid)
    expect(() => defineSpec({ type: 'a', queue: name })).toThrow(Invalid)
    const run = defineJob({ type: 'run', run: () => 1 })
    expect(() => fixture.pawl.work([run], { id: name })).toThrow(TypeError)
    for (const words of [{ type: name }, { type: 'a', queue: name }, { type: 'a', id: name }]) {
      const { status, body } = await raw('POST', '/v1/jobs', JSON.stringify(words))
      expect(status).toBe(400)
      expect(JSON.stringify(body['violations'])).toMatch(rule)
    }
    const claim = await raw('POST', '/v1/claims', JSON.stringify({ workerId: name, queues: ['q'] }))
    expect([claim.status, JSON.stringify(claim.body['violations'])]).toEqual([400, expect.stringMatching(rule)])
  })
})

describe('a comma', () => {
  it('is for lists of names: no queue or type has one, an id may', async () => {
    expect(() => defineSpec({ type: 'a,b' })).toThrow('must not contain a comma')
    expect(() => defineSpec({ type: 'a', queue: 'a,b' })).toThrow('must not contain a comma')
    const { status, body } = await raw('POST', '/v1/jobs', '{"type":"a","queue":"a,b"}')
    expect([status, JSON.stringify(body['violations'])]).toEqual([400, expect.stringContaining('comma')])
    const job = await pawl.enqueue('a', 1, { queue: 'q', id: 'a,b' })
    expect((await pawl.get('a,b'))?.id).toBe(job.id)
  })

  it('may be in the name of a step, and its body is found over HTTP', async () => {
    const stepping = defineJob({ type: 'stepping', run: (_: undefined, ctx) => ctx.step('a,b', () => 7) })
    await using _worker = fixture.pawl.work([stepping])
    const job = await fixture.pawl.enqueue(stepping)
    await eventually('it to end', async () => (await job.state()) === 'succeeded')
    expect(await pawl.body(job.id, 'step/a,b#1')).toEqual({ step: true, value: 7 })
  })
})
