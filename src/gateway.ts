/**
 * `pawl/gateway`: the gateway inside an application's own server. It listens nowhere: whoever mounts it hands it requests,
 * as `fetch` knows them (Hono, Next, Bun, Deno) or as Node does (Express, Fastify, node:http).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import type { Fetch, Pages } from './gateway/app.ts'
import { type Assembly, assemble } from './gateway/assemble.ts'
import type { Caps } from './gateway/caps.ts'
import type { Access, Authorize } from './gateway/host.ts'
import { isUnavailable, objection } from './gateway/problem.ts'
import type { PrometheusMetrics } from './gateway/prometheus.ts'
import type { Pawl } from './library/pawl.ts'

export type { Scope } from './gateway/contract/route.ts'
export type { Access, Authorize, Caps, Fetch }

export interface MountOptions {
  /**
   * Where it is mounted: '/jobs' makes '/jobs/v1/jobs' of '/v1/jobs'. Hono's `route` and Express's `use` say so themselves; a bare
   * `fetch` or `node:http` does not.
   * @default where Hono or Express has mounted it, else the root
   */
  readonly basePath?: string | undefined
  /**
   * The application's own word on who asks, before any token is looked at. `env` is what was handed to `fetch` besides the
   * request; from Node it is `{ incoming, outgoing }`, with whatever middleware has put on `incoming`.
   * @default tokens alone, made with `pawl token create`
   */
  readonly authorize?: Authorize | undefined
  /**
   * What `/metrics` answers with; the same that was given to `open`.
   * @default nothing
   */
  readonly metrics?: Pick<PrometheusMetrics, 'text'> | undefined
  /**
   * How much of everything there may be (docs/limits.md).
   * @default as that page says
   */
  readonly caps?: Partial<Caps> | undefined
}

export interface Handlers extends AsyncDisposable {
  readonly fetch: Fetch
  /** For Express and its like, before anything that reads bodies; and for `http.createServer`. */
  readonly node: (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    next?: (error?: unknown) => void,
  ) => Promise<void>
}

/** A Hono application besides, so that Hono takes it as it is: `app.route('/jobs', gateway(pawl))`. */
export type Mounted = Hono & Handlers

/** The gateway to these jobs, until it is disposed of or the jobs are closed. */
export const gateway = (pawl: Pawl, options: MountOptions = {}): Mounted => gatewayWith(pawl, options, () => undefined)

/** @internal With pages for browsers, which know where they are mounted. */
export function gatewayWith(
  pawl: Pawl,
  options: MountOptions,
  pagesAt: (basePath: string) => Pages | undefined,
): Mounted {
  const given = options.basePath === undefined ? undefined : basePathOf(options.basePath)
  const { authorize, metrics, caps } = options
  return pawl.accompanied(({ engine, timers, log }) => {
    const metricsText = metrics && (() => metrics.text())
    const around = {
      engine,
      timers,
      log,
      promise: pawl.below.durability?.promise,
      upkeep: pawl.below.upkeep,
      authorize,
      metricsText,
      caps,
    }
    const street = new Street((basePath) => assemble({ ...around, basePath, pages: pagesAt(basePath), auth: true }))
    const at = async (basePath: string, request: Request, env: unknown): Promise<Response> => {
      const assembly = await street.at(given ?? basePath).opened()
      return assembly === undefined ? away() : assembly.fetch(request, env)
    }
    const fetch: Fetch = (request, env) => at('', request, env)
    const app = new Hono()
    // Where it was mounted is known to whoever is asked there, and to nobody before. (The helper in `hono/route` would read what its own
    // copy of Hono has put there, and an application may have another.)
    app.all('*', (c) => at(placeIn(c.req.routePath), c.req.raw, c.env))
    return Object.assign(app, {
      fetch,
      node: nodeHandler(given, at),
      [Symbol.asyncDispose]: () => street.close(),
    })
  })
}

type At = (basePath: string, request: Request, env: unknown) => Promise<Response>

function nodeHandler(given: string | undefined, at: At): Handlers['node'] {
  const places = new WeakMap<IncomingMessage, string>()
  const listener = getRequestListener(
    (request, env) => at(places.get((env as HttpBindings).incoming) ?? '', request, env),
    { overrideGlobalObjects: false },
  )
  return async (incoming: Routed, outgoing, next) => {
    if (incoming.readableDidRead) {
      const error = new Error('pawl: something has read the body before the gateway. Mount it before body parsers.')
      if (next === undefined) throw error
      return next(error)
    }
    const { url = '/', originalUrl = url, baseUrl = '' } = incoming
    places.set(incoming, given ?? basePathOf(baseUrl))
    // Express hands on what is behind the place where something is mounted, and keeps the whole beside it.
    incoming.url = given === '' ? url : originalUrl
    await listener(incoming, outgoing)
  }
}

/** As Express has them. */
interface Routed extends IncomingMessage {
  readonly originalUrl?: string
  readonly baseUrl?: string
}

/** `/jobs/*` is below `/jobs`. */
const placeIn = (routePath: string): string => basePathOf(routePath.replace(/\/?\*$/, ''))

/** To whoever comes before the store could be asked for the first time. */
function away(): Response {
  const { status, body } = objection('UNAVAILABLE')
  const headers = { 'Content-Type': 'application/problem+json', 'Retry-After': '1' }
  return new Response(JSON.stringify(body), { status, headers })
}

/** More than an application has any use for: each is a gateway of its own. */
const PLACES_MOST = 8

/** A house for each place that it is mounted at: one, as a rule. */
class Street {
  readonly #make: (basePath: string) => Promise<Assembly>
  readonly #houses = new Map<string, House>()
  #closed = false

  constructor(make: (basePath: string) => Promise<Assembly>) {
    this.#make = make
  }

  at(basePath: string): House {
    if (this.#closed) throw new Error('pawl: the gateway is closed')
    const there = this.#houses.get(basePath) ?? new House(() => this.#make(basePath))
    if (this.#houses.size >= PLACES_MOST && !this.#houses.has(basePath))
      throw new Error(`pawl: one gateway is mounted at ${PLACES_MOST} places at most; make another`)
    this.#houses.set(basePath, there)
    return there
  }

  async close(): Promise<void> {
    this.#closed = true
    for (const house of this.#houses.values()) await house.close()
  }
}

/** Opened by the first request, and again by the next where that failed. */
class House {
  readonly #make: () => Promise<Assembly>
  #assembly: Promise<Assembly> | undefined

  constructor(make: () => Promise<Assembly>) {
    this.#make = make
  }

  /** Undefined where the store is away. */
  async opened(): Promise<Assembly | undefined> {
    this.#assembly ??= this.#make()
    try {
      return await this.#assembly
    } catch (error) {
      this.#assembly = undefined
      if (isUnavailable(error)) return undefined
      throw error
    }
  }

  async close(): Promise<void> {
    const assembly = await this.#assembly?.catch(() => undefined)
    await assembly?.[Symbol.asyncDispose]()
  }
}

function basePathOf(given = ''): string {
  const path = given.replace(/\/+$/, '')
  if (path === '' || /^(?:\/[A-Za-z0-9._~-]+)+$/.test(path)) return path
  throw new TypeError(`gateway: basePath ${JSON.stringify(given)} is not a path such as '/jobs'`)
}
