/** A gateway on a port, for the commands that serve; what goes wrong with the port is said in words. */
import type { Caps } from '../gateway/caps.ts'
import type { PrometheusMetrics } from '../gateway/prometheus.ts'
import type { Gateway } from '../gateway/serve.ts'
import type { Pawl } from '../library/pawl.ts'
import type { Log } from '../system/log.ts'
import { countOf } from './choice.ts'
import { Usage } from './exit.ts'

export const DEFAULT_PORT = 7295
export const DEFAULT_HOST = '127.0.0.1'

export interface Listening {
  readonly host: string
  /** 0 is any that is free. */
  readonly port: number
  /** Where that one is taken. Undefined: then it is refused, with what to do. */
  readonly otherwise?: number | undefined
  readonly auth: boolean
  readonly tenant: string | undefined
  readonly metrics: PrometheusMetrics
  readonly log?: Log | undefined
  readonly caps?: Partial<Caps> | undefined
  /** With pages for browsers. */
  readonly dashboard?: boolean | undefined
}

export const portOf = (text: string): number => countOf('--port', text, { min: 0, max: 65_535 })

/** What only a server needs is loaded only there. */
export async function collector({ metricValues }: Partial<Caps> = {}): Promise<PrometheusMetrics> {
  const { prometheus } = await import('../gateway/prometheus.ts')
  return prometheus({ values: metricValues })
}

export async function listening(pawl: Pawl, options: Listening): Promise<Gateway> {
  const { startGateway } = await import('../gateway/serve.ts')
  const { engine } = pawl
  const { durability, upkeep } = pawl.below
  const { otherwise, metrics, dashboard = false, ...where } = options
  const pages = dashboard ? (await import('../gateway/dashboard.ts')).dashboardPages() : undefined
  try {
    const gateway = await startGateway({
      ...where,
      engine,
      promise: durability?.promise,
      upkeep,
      pages,
      metricsText: () => metrics.text(),
    })
    // A collector watches an engine once, and only what has its port is ever scraped.
    metrics.watch(pawl)
    pawl.operations.serve(undefined)
    return gateway
  } catch (error) {
    if (!isTaken(error) || otherwise === undefined) throw explained(error, where)
    return await listening(pawl, { ...options, port: otherwise, otherwise: undefined })
  }
}

const isTaken = (error: unknown): boolean => (error as { readonly code?: string }).code === 'EADDRINUSE'

/** What is the matter with a port. */
export function explained(error: unknown, { host, port }: Pick<Listening, 'host' | 'port'>): unknown {
  const { code } = error as { readonly code?: string }
  if (isTaken(error))
    return new Usage(`Port ${port} of ${host} is taken.`, 'Choose another with --port; 0 picks a free one.')
  if (code === 'EACCES')
    return new Usage(`Port ${port} of ${host} is not yours to take.`, 'Choose one from 1024 up with --port.')
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return new Usage(`${host} is not an address of this machine.`)
  if (error instanceof Error && error.message.startsWith('pawl: refusing'))
    return new Usage(error.message.slice('pawl: '.length))
  return error
}
