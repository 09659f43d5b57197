/**
 * The port of a process that works and serves nobody: is it alive, can it work, what has it done. Whoever reaches it may
 * ask, so it is on loopback unless told; it tells of no job.
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { PrometheusMetrics } from '../gateway/prometheus.ts'
import type { Pawl } from '../library/pawl.ts'
import type { Clock } from '../system/clock.ts'
import type { Timers } from '../system/timers.ts'
import { explained } from './listening.ts'

export interface ProbeOptions {
  readonly host: string
  /** 0 is any that is free. */
  readonly port: number
  readonly pawl: Pawl
  /** Absent where another process counts: the gateway, over HTTP. */
  readonly metrics: PrometheusMetrics | undefined
  readonly clock: Clock
  readonly timers: Timers
  /** Aborts when the process is asked to stop: then it is not ready any more. */
  readonly stopping: AbortSignal
}

export interface Probes extends AsyncDisposable {
  readonly url: string
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly body: string
}

const TEXT = 'text/plain; charset=utf-8'
const JSON_TYPE = 'application/json'

export async function probes(options: ProbeOptions): Promise<Probes> {
  const { host, port } = options
  const answers = await answersOf(options)
  const server = createServer(async ({ method, url = '' }, response) => {
    const answer = method === 'GET' ? answers.get(url) : undefined
    const { status, type, body } = await (answer?.() ?? NOWHERE).catch((error: unknown) =>
      answering(503, String(error)),
    )
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store' }).end(body)
  })
  const { address, port: taken, family } = await bound(server, host, port)
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${taken}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answersOf(options: ProbeOptions): Promise<ReadonlyMap<string, () => Promise<Answer>>> {
  const { EXPOSITION, readiness } = await import('../gateway/handlers/health.ts')
  const { pawl, metrics, clock, timers, stopping } = options
  const ready = async (): Promise<Answer> => {
    const { ready: answers, checks } = await readiness({
      engine: pawl.engine,
      clock,
      timers,
      promise: pawl.below.durability?.promise,
      upkeep: pawl.below.upkeep,
    })
    const isReady = answers && !stopping.aborted
    const status = stopping.aborted ? 'stopping' : answers ? 'ready' : 'not ready'
    return { status: isReady ? 200 : 503, type: JSON_TYPE, body: JSON.stringify({ status, checks }) }
  }
  const scraped = async (): Promise<Answer> =>
    metrics === undefined
      ? answering(404, 'The gateway counts what its workers do: scrape that.')
      : { status: 200, type: EXPOSITION, body: await metrics.text() }
  const alive = async (): Promise<Answer> => ({
    status: 200,
    type: JSON_TYPE,
    body: JSON.stringify({ status: 'alive' }),
  })
  return new Map([
    ['/livez', alive],
    ['/readyz', ready],
    ['/metrics', scraped],
  ])
}

const answering = (status: number, text: string): Answer => ({ status, type: TEXT, body: `${text}\n` })
const NOWHERE = Promise.resolve(answering(404, 'There are /livez, /readyz and /metrics.'))

async function bound(server: Server, host: string, port: number): Promise<AddressInfo> {
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    })
  } catch (error) {
    throw explained(error, { host, port })
  }
  return server.address() as AddressInfo
}
