/** The gateway on a port. Binds to loopback; a public address needs tokens. */
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import type { Engine } from '../engine/engine.ts'
import { JobTypes } from '../engine/job-types.ts'
import { type Clock, realClock } from '../system/clock.ts'
import { harmless, type Log, silentLog } from '../system/log.ts'
import { type Random, realRandom } from '../system/random.ts'
import { realTimers, type Timers } from '../system/timers.ts'
import { type Fetch, gateway } from './app.ts'
import { type BodyLimits, DEFAULT_LIMITS } from './body.ts'
import { Rate, type RateOptions } from './rate.ts'
import { Shedding } from './shedding.ts'
import { type Token, Tokens } from './token.ts'
import { Wakes } from './wakes.ts'

export interface GatewayOptions {
  readonly engine: Engine
  readonly host?: string | undefined
  /** 0 picks a free one. */
  readonly port?: number | undefined
  /** False: whoever reaches the port is an admin of this tenant. Loopback only. */
  readonly auth?: boolean | undefined
  readonly tenant?: string | undefined
  readonly limits?: Partial<BodyLimits> | undefined
  readonly capacity?: number | undefined
  readonly rate?: RateOptions | undefined
  readonly metricsText?: (() => Promise<string>) | undefined
  readonly clock?: Clock | undefined
  readonly timers?: Timers | undefined
  readonly random?: Random | undefined
  readonly log?: Log | undefined
}

export interface Gateway extends AsyncDisposable {
  readonly url: string
  readonly fetch: Fetch
  readonly tokens: Tokens
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost'])
const CAPACITY = 512
const RATE: RateOptions = { perSecond: 2_000, burst: 10_000 }
/** A worker's new announcement holds for everybody this soon. */
const TYPES_FRESH_MS = 2_000
const HEADERS_WITHIN_MS = 10_000
const REQUEST_WITHIN_MS = 30_000

export async function startGateway(options: GatewayOptions): Promise<Gateway> {
  const { host = '127.0.0.1', port = 7295, auth = true } = options
  if (!auth && !LOOPBACK.has(host)) {
    throw new Error(`pawl: refusing to serve ${host} without tokens. Bind to 127.0.0.1, or switch authentication on.`)
  }
  const { fetch, tokens, wakes } = await assemble(options, auth)
  const server = serve({
    fetch: (request, env) => fetch(request, env),
    hostname: host,
    port,
    serverOptions: { headersTimeout: HEADERS_WITHIN_MS, requestTimeout: REQUEST_WITHIN_MS, maxHeaderSize: 16 * 1024 },
  })
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('listening', resolve)
      server.once('error', reject)
    })
  } catch (error) {
    await wakes[Symbol.asyncDispose]()
    throw error
  }
  const address = server.address() as AddressInfo
  const url = `http://${address.family === 'IPv6' ? `[${address.address}]` : address.address}:${address.port}`
  return {
    url,
    fetch,
    tokens,
    async [Symbol.asyncDispose]() {
      await wakes[Symbol.asyncDispose]()
      if ('closeAllConnections' in server) server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

async function assemble(
  options: GatewayOptions,
  auth: boolean,
): Promise<{ readonly fetch: Fetch; readonly tokens: Tokens; readonly wakes: Wakes }> {
  const { engine, clock = realClock, timers = realTimers, random = realRandom, tenant = 'default' } = options
  const log = harmless(options.log ?? silentLog)
  const tokens = new Tokens(engine, clock, random)
  const wakes = new Wakes(timers)
  await wakes.listen(engine)
  const metricsText = options.metricsText ?? (async () => '')
  const fetch = gateway({
    parts: {
      engine,
      tokens,
      wakes,
      types: new JobTypes(engine, TYPES_FRESH_MS),
      clock,
      timers,
      random,
      log,
      metricsText,
    },
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    shedding: new Shedding({ capacity: options.capacity ?? CAPACITY }),
    rate: new Rate(options.rate ?? RATE, clock),
    anonymous: auth ? undefined : anonymousAdmin(tenant),
  })
  return { fetch, tokens, wakes }
}

const anonymousAdmin = (tenant: string): Token => ({
  id: 'anonymous',
  name: 'anonymous',
  scope: 'admin',
  tenant,
  queues: undefined,
  createdAt: 0,
  expiresAt: undefined,
  revokedAt: undefined,
})
