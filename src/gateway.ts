/**
 * `pawl/gateway`: the gateway inside an application's own server. It listens nowhere: whoever mounts it hands it requests,
 * as `fetch` knows them (Hono, Next, Bun, Deno) or as Node does (Express, Fastify, node:http).
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
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
   * Where it is mounted: '/jobs' makes '/jobs/v1/jobs' of '/v1/jobs'.
   * @default '', the root
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

export interface Mounted extends AsyncDisposable {
  readonly fetch: Fetch
  /** For Express and its like, before anything that reads bodies; and for `http.createServer`. */
  readonly node: (
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    next?: (error?: unknown) => void,
  ) => Promise<void>
}

/** The gateway to these jobs, until it is disposed of or the jobs are closed. */
export const gateway = (pawl: Pawl, options: MountOptions = {}): Mounted => gatewayWith(pawl, options, () => undefined)

/** @internal With pages for browsers, which know where they are mounted. */
export function gatewayWith(
  pawl: Pawl,
  options: MountOptions,
  pagesAt: (basePath: string) => Pages | undefined,
): Mounted {
  const basePath = basePathOf(options.basePath)
  const { authorize, metrics, caps } = options
  return pawl.accompanied(({ engine, timers, log }) => {
    const metricsText = metrics && (() => metrics.text())
    const pages = pagesAt(basePath)
    const around = { engine, timers, log, promise: pawl.durability?.promise }
    const make = () => assemble({ ...around, basePath, authorize, metricsText, caps, pages, auth: true })
    const house = new House(make)
    const fetch: Fetch = async (request, env) => {
      const assembly = await house.opened()
      return assembly === undefined ? away() : assembly.fetch(request, env)
    }
    const listener = getRequestListener((request, env) => fetch(request, env), { overrideGlobalObjects: false })
    return {
      fetch,
      async node(incoming, outgoing, next) {
        if (incoming.readableDidRead) {
          const error = new Error('pawl: something has read the body before the gateway. Mount it before body parsers.')
          if (next === undefined) throw error
          return next(error)
        }
        incoming.url = fullUrl(incoming, basePath)
        await listener(incoming, outgoing)
      },
      [Symbol.asyncDispose]: () => house.close(),
    }
  })
}

/** To whoever comes before the store could be asked for the first time. */
function away(): Response {
  const { status, body } = objection('UNAVAILABLE')
  const headers = { 'Content-Type': 'application/problem+json', 'Retry-After': '1' }
  return new Response(JSON.stringify(body), { status, headers })
}

/** Opened by the first request, and again by the next where that failed. */
class House {
  readonly #make: () => Promise<Assembly>
  #assembly: Promise<Assembly> | undefined
  #closed = false

  constructor(make: () => Promise<Assembly>) {
    this.#make = make
  }

  /** Undefined where the store is away. */
  async opened(): Promise<Assembly | undefined> {
    if (this.#closed) throw new Error('pawl: the gateway is closed')
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
    this.#closed = true
    const assembly = await this.#assembly?.catch(() => undefined)
    await assembly?.[Symbol.asyncDispose]()
  }
}

function basePathOf(given = ''): string {
  const path = given.replace(/\/+$/, '')
  if (path === '' || /^(?:\/[A-Za-z0-9._~-]+)+$/.test(path)) return path
  throw new TypeError(`gateway: basePath ${JSON.stringify(given)} is not a path such as '/jobs'`)
}

/** Express hands on what is behind the place where something is mounted, and keeps the whole beside it. */
function fullUrl(incoming: IncomingMessage & { readonly originalUrl?: string }, basePath: string): string {
  const { url = '/', originalUrl = url } = incoming
  return basePath === '' ? url : originalUrl
}
