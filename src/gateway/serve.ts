/** The gateway on a port. Binds to loopback; a public address needs tokens. */
import type { AddressInfo } from 'node:net'
import { type HttpBindings, serve } from '@hono/node-server'
import { realClock } from '../system/clock.ts'
import type { Fetch } from './app.ts'
import { type AssemblyOptions, assemble } from './assemble.ts'
import { Leftovers } from './leftovers.ts'
import type { Tokens } from './token.ts'

export interface GatewayOptions extends Omit<AssemblyOptions, 'auth'> {
  readonly host?: string | undefined
  /** 0 picks a free one. */
  readonly port?: number | undefined
  /** False: every caller is an admin of `tenant`. Loopback only. */
  readonly auth?: boolean | undefined
}

export interface Gateway extends AsyncDisposable {
  readonly url: string
  readonly fetch: Fetch
  readonly tokens: Tokens
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])
const HEADERS_WITHIN_MS = 10_000
const REQUEST_WITHIN_MS = 30_000
/**
 * How long a connection may say nothing between two requests, told to its client (`Keep-Alive`). Longer than the pause
 * between two heartbeats of a usual lease and than the idle time of usual load balancers (60 s): with Node's 5 s every heartbeat
 * came by a connection of its own, and Node takes in one of these per turn of the loop, so under siege a worker that
 * was never at fault stood in one line with all who knocked (p50 1.5 s there, 0.08 s by a kept connection).
 */
const KEPT_MS = 75_000

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { host = '127.0.0.1', port = 7295, auth = true } = options
  if (!auth && !LOOPBACK.has(host)) {
    throw new Error(`pawl: refusing to serve ${host} without tokens. Bind to 127.0.0.1, or switch authentication on.`)
  }
  const assembly = await assemble({ ...options, auth })
  const { fetch, tokens } = assembly
  const leftovers = new Leftovers(options.clock ?? realClock)
  const server = serve({
    fetch(request, env) {
      const { incoming, outgoing } = env as HttpBindings
      leftovers.watch(incoming, outgoing)
      return fetch(request, env)
    },
    hostname: host,
    port,
    serverOptions: {
      headersTimeout: HEADERS_WITHIN_MS,
      requestTimeout: REQUEST_WITHIN_MS,
      keepAliveTimeout: KEPT_MS,
      maxHeaderSize: 16 * 1024,
    },
  })
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve)
      server.once('error', reject)
    })
  } catch (error) {
    await assembly[Symbol.asyncDispose]()
    throw error
  }
  const address = server.address() as AddressInfo
  const url = `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
  return {
    url,
    fetch,
    tokens,
    async [Symbol.asyncDispose]() {
      await assembly[Symbol.asyncDispose]()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
