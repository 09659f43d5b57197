/** The gateway as a part of somebody's server, in the words of each. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import express from 'express'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { prometheus } from '../../src/gateway/prometheus.ts'
import { Tokens } from '../../src/gateway/token.ts'
import { gateway, type Mounted, type MountOptions } from '../../src/gateway.ts'
import { defineJob, open, type Pawl } from '../../src/index.ts'
import { realClock } from '../../src/system/clock.ts'
import { realRandom } from '../../src/system/random.ts'
import { eventually } from '../support/eventually.ts'
import { migratedDatabase } from '../support/migrated-postgres.ts'
import { startProxy } from '../support/proxy.ts'

const PATH = '/internal/jobs'

const listening = async (server: Server): Promise<string> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const closed = (server: Server) => async (): Promise<void> => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}

interface Host extends AsyncDisposable {
  readonly url: string
}

/** Each has a page of its own at `/`, and the gateway below. */
const HOSTS: Readonly<Record<string, (mounted: Mounted) => Promise<Host>>> = {
  async Hono({ fetch }) {
    const app = new Hono()
    app.get('/', (c) => c.text('shop'))
    app.all(`${PATH}/*`, (c) => fetch(c.req.raw, c.env))
    const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }) as Server
    await eventually('it to listen', () => server.listening)
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, [Symbol.asyncDispose]: closed(server) }
  },
  async 'Express, with use'({ node }) {
    const app = express()
    app.get('/', (_, response) => void response.send('shop'))
    app.use(PATH, node)
    app.use(express.json())
    const server = createServer(app)
    return { url: await listening(server), [Symbol.asyncDispose]: closed(server) }
  },
  async 'node:http'({ node }) {
    const server = createServer((request, response) => {
      if (request.url === '/') response.end('shop')
      else void node(request, response)
    })
    return { url: await listening(server), [Symbol.asyncDispose]: closed(server) }
  },
}

const greet = defineJob({ type: 'greet', run: (name: string) => `hello ${name}` })

const tokenOf = async (pawl: Pawl): Promise<string> => {
  const tokens = new Tokens(pawl.engine, realClock, realRandom)
  return (await tokens.create({ name: 'app', scope: 'admin', tenant: 'default', queues: undefined })).secret
}

const opened = () => open('memory:', { log: 'silent' })

describe.each(Object.entries(HOSTS))('mounted in %s', (_, host) => {
  it('serves a client and a worker below its path, and leaves the rest alone', async () => {
    await using pawl = await opened()
    await using at = await host(gateway(pawl, { basePath: PATH }))
    expect(await (await fetch(at.url)).text()).toBe('shop')
    await using remote = await open(`${at.url}${PATH}`, { token: await tokenOf(pawl), log: 'silent' })
    await using _worker = remote.work([greet])
    expect(await (await remote.enqueue(greet, 'you')).result({ timeout: '20s' })).toBe('hello you')
  })

  it('tells of its places as they are from outside', async () => {
    await using pawl = await opened()
    const access = { name: 'me', scope: 'admin' } as const
    await using at = await host(gateway(pawl, { basePath: PATH, authorize: () => access }))
    const created = await fetch(`${at.url}${PATH}/v1/jobs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'greet', input: -0 }),
    })
    expect(created.status).toBe(201)
    const place = created.headers.get('location') ?? ''
    expect(place).toMatch(/^\/internal\/jobs\/v1\/jobs\/pj_/)
    expect(await (await fetch(at.url + place)).json()).toMatchObject({ type: 'greet', state: 'queued' })
    const problem = (await (await fetch(`${at.url}${PATH}/v1/jobs/pj_404`)).json()) as { readonly type: string }
    expect(problem.type).toBe(`${PATH}/docs/errors#not_found`)
    expect((await fetch(at.url + problem.type)).status).toBe(200)
    for (const root of [PATH, `${PATH}/`]) expect((await fetch(at.url + root)).status, root).toBe(200)
    const { servers } = (await (await fetch(`${at.url}${PATH}/openapi.json`)).json()) as { readonly servers: unknown }
    expect(servers).toEqual([{ url: PATH }])
    const wrong = await fetch(`${at.url}${PATH}/v1/jobs`, { method: 'DELETE' })
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'POST, GET'])
  })
})

describe('mounted without a word on where', () => {
  const access = { name: 'me', scope: 'admin' } as const
  const problemAt = async (url: string) => ((await (await fetch(url)).json()) as { readonly type: string }).type

  it('is below the path that Hono’s route has for it, also where that is below another', async () => {
    await using pawl = await opened()
    const mounted = gateway(pawl, { authorize: () => access })
    const shop = new Hono().route('/jobs', mounted)
    const app = new Hono().get('/', (c) => c.text('shop')).route('/admin', shop)
    const get = async (path: string) => await app.request(path)
    expect(await (await get('/')).text()).toBe('shop')
    for (const path of ['/admin/jobs', '/admin/jobs/', '/admin/jobs/v1/jobs'])
      expect((await get(path)).status, path).toBe(200)
    expect(await (await get('/admin/jobs/v1/jobs/pj_404')).json()).toMatchObject({
      type: '/admin/jobs/docs/errors#not_found',
    })
    expect((await get('/admin/jobsv1/jobs')).status).toBe(404)
    await mounted[Symbol.asyncDispose]()
    expect((await get('/admin/jobs/v1/jobs')).status).toBe(500)
  })

  it('is below the path that Express’s use has for it', async () => {
    await using pawl = await opened()
    const app = express().use(PATH, gateway(pawl, { authorize: () => access }).node)
    const server = createServer(app)
    await using _closing = { [Symbol.asyncDispose]: closed(server) }
    expect(await problemAt(`${await listening(server)}${PATH}/v1/jobs/pj_404`)).toBe(`${PATH}/docs/errors#not_found`)
  })
})

describe('whom the application knows', () => {
  const ask = (mounted: Mounted, path: string, headers: Record<string, string> = {}) =>
    mounted.fetch(new Request(`http://shop.example${path}`, { headers }))
  const mount = (pawl: Pawl, options: MountOptions = {}) => gateway(pawl, options)

  it('is whoever it says they are: scope, tenant and queues', async () => {
    await using pawl = await opened()
    await pawl.enqueue(greet, 'you')
    const mounted = mount(pawl, {
      async authorize({ headers }) {
        const name = headers.get('x-user')
        return name === null ? undefined : { name, scope: 'viewer', tenant: name === 'eve' ? 'rival' : undefined }
      },
    })
    const jobs = async (user: string) =>
      ((await (await ask(mounted, '/v1/jobs', { 'x-user': user })).json()) as { readonly jobs: [] }).jobs
    expect(await jobs('ann')).toHaveLength(1)
    expect(await jobs('eve')).toHaveLength(0)
    expect((await ask(mounted, '/v1/tokens', { 'x-user': 'ann' })).status).toBe(403)
    expect((await ask(mounted, '/v1/jobs')).status).toBe(401)
    const authorization = `Bearer ${await tokenOf(pawl)}`
    expect((await ask(mounted, '/v1/tokens', { authorization })).status).toBe(200)
  })

  it('is no page of another site, whatever cookie it has', async () => {
    await using pawl = await opened()
    const mounted = mount(pawl, { authorize: () => ({ name: 'ann', scope: 'admin' }) })
    expect((await ask(mounted, '/v1/jobs', { 'sec-fetch-site': 'cross-site' })).status).toBe(403)
    expect((await ask(mounted, '/v1/jobs', { origin: 'https://evil.example' })).status).toBe(403)
    expect((await ask(mounted, '/v1/jobs', { 'sec-fetch-site': 'same-origin' })).status).toBe(200)
  })

  it('is found in what came with the request: middleware has put it there', async () => {
    await using pawl = await opened()
    const { node } = mount(pawl, {
      basePath: PATH,
      authorize: (_, env) => (env as { incoming: { user?: { name: string; scope: 'viewer' } } }).incoming.user,
    })
    const app = express()
    app.use((request, __, next) => {
      if (request.headers.cookie === 'session=ann') Object.assign(request, { user: { name: 'ann', scope: 'viewer' } })
      next()
    })
    app.use(PATH, node)
    const server = createServer(app)
    const url = await listening(server)
    expect((await fetch(`${url}${PATH}/v1/jobs`, { headers: { cookie: 'session=ann' } })).status).toBe(200)
    expect((await fetch(`${url}${PATH}/v1/jobs`)).status).toBe(401)
    await closed(server)()
  })
})

describe('a gateway that is mounted', () => {
  it('says so where a body parser came first', async () => {
    await using pawl = await opened()
    const app = express()
    app.use(express.json())
    app.use(PATH, gateway(pawl, { basePath: PATH }).node)
    const told: unknown[] = []
    app.use(((error, _request, response, _next) => {
      told.push(error)
      response.status(500).end()
    }) satisfies express.ErrorRequestHandler)
    const server = createServer(app)
    const url = await listening(server)
    const body = JSON.stringify({ type: 'greet' })
    await fetch(`${url}${PATH}/v1/jobs`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    await closed(server)()
    expect(String(told[0])).toContain('Mount it before body parsers')
  })

  it('ends with the jobs it is a gateway to, streams and long polls included', async () => {
    const pawl = await opened()
    const { fetch: ask } = gateway(pawl, { authorize: () => ({ name: 'me', scope: 'admin' }) })
    const stream = await ask(new Request('http://shop.example/v1/events'))
    expect(stream.status).toBe(200)
    const read = stream.text()
    const poll = ask(
      new Request('http://shop.example/v1/claims', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ workerId: 'w', queues: ['default'], limit: 1, waitMs: 30_000 }),
      }),
    )
    await pawl.close()
    await read
    expect((await poll).status).toBeLessThan(600)
    await expect(async () => ask(new Request('http://shop.example/livez'))).rejects.toThrow('the gateway is closed')
  })

  it('has the metrics it is given, for whoever may see them', async () => {
    const metrics = prometheus()
    await using pawl = await open('memory:', { metrics, log: 'silent' })
    metrics.watch(pawl)
    const { fetch: ask } = gateway(pawl, { metrics, authorize: () => ({ name: 'prometheus', scope: 'metrics' }) })
    await pawl.enqueue(greet, 'you')
    const text = await (await ask(new Request('http://shop.example/metrics'))).text()
    expect(text).toContain('pawl_jobs{queue="default",state="queued"} 1\n')
  })

  it.each(['jobs', '/jobs//x', '/a b', '/{x}'])('is not mounted at %s', async (basePath) => {
    await using pawl = await opened()
    expect(() => gateway(pawl, { basePath })).toThrow('is not a path')
  })

  it('that meets a store which is away says when to come again, and is there when that is', async () => {
    await using database = await migratedDatabase()
    await using proxy = await startProxy(database.url)
    await using pawl = await open(proxy.url, { migrate: true, retryFor: '500ms', log: 'silent' })
    const { fetch: ask } = gateway(pawl, { authorize: () => ({ name: 'me', scope: 'viewer' }) })
    const jobs = () => ask(new Request('http://shop.example/v1/jobs'))
    proxy.fresh('refuse')
    proxy.reset()
    const answer = await jobs()
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
    proxy.fresh('pass')
    await eventually('it to serve', async () => (await jobs()).status === 200)
  })

  it('is made where the store is, not over HTTP', async () => {
    await using far = await open('http://127.0.0.1:9', { log: 'silent' })
    expect(() => gateway(far)).toThrow('mount one where the store is')
  })

  it('is a route of Next: each method is its fetch', async () => {
    await using pawl = await opened()
    const { fetch: handler } = gateway(pawl, {
      basePath: '/api/jobs',
      authorize: () => ({ name: 'me', scope: 'viewer' }),
    })
    // As Next calls it, with what it knows of the route.
    const answer = await handler(new Request('http://shop.example/api/jobs/v1/jobs'), { params: Promise.resolve({}) })
    expect(answer.status).toBe(200)
  })
})
