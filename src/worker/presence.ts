/** Tells everybody who looks that this worker is there, and what it is doing. Nothing depends on it. */
import { hostname } from 'node:os'
import { pid } from 'node:process'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import type { QueueShare } from './claiming.ts'

/** How often a worker tells of itself; one that is silent for twice as long is taken for gone. */
const EVERY_MS = 30_000

export interface PresenceOptions {
  readonly engine: Pick<Engine, 'settings'>
  readonly timers: Timers
  readonly log: Log
  readonly workerId: string
  readonly concurrency: number
  readonly queues: readonly Pick<QueueShare, 'tenant' | 'queue'>[]
  readonly types: readonly ServedType[]
  readonly pool: string | undefined
  readonly capabilities: readonly string[] | undefined
  readonly version: string | undefined
  readonly running: () => number
}

/** A type that a worker has a handler for, with whose jobs those are. */
export interface ServedType {
  readonly tenant: string
  readonly type: string
}

export class Presence {
  readonly #options: PresenceOptions
  readonly #tenants: readonly string[]
  readonly #service: Service

  constructor(options: PresenceOptions) {
    this.#options = options
    this.#tenants = [...new Set(options.queues.map(({ tenant }) => tenant))]
    const { timers, log } = options
    this.#service = service({ name: 'presence', everyMs: EVERY_MS, timers, log, round: () => this.#tell() })
    this.#service.start()
  }

  async stop(): Promise<void> {
    await this.#service.stop()
    const remove = (tenant: string) =>
      ({ op: 'remove', collection: 'worker', key: this.#keyFor(tenant), rev: undefined }) as const
    await this.#options.engine.settings(this.#tenants.map(remove)).catch(() => [])
  }

  /** A tenant's document names that tenant's queues and types only: the names of others are not for it, and a worker of many would write them all for each. */
  async #tell(): Promise<void> {
    const { engine, concurrency, running, queues, types, pool, capabilities, version } = this.#options
    const common = { pool, capabilities, concurrency, running: running(), host: hostname(), pid, version }
    const queuesOf = Map.groupBy(queues, ({ tenant }) => tenant)
    const typesOf = Map.groupBy(types, ({ tenant }) => tenant)
    const put = (tenant: string) => {
      const names = queuesOf.get(tenant)?.map(({ queue }) => queue) ?? []
      const known = typesOf.get(tenant)?.map(({ type }) => type) ?? []
      const text = JSON.stringify({ queues: names, types: known, ...common })
      return { op: 'put', collection: 'worker', key: this.#keyFor(tenant), text, rev: undefined } as const
    }
    await engine.settings(this.#tenants.map(put))
  }

  /** One document for each tenant it serves: a tenant sees its own workers only. */
  #keyFor(tenant: string): string {
    return JSON.stringify([tenant, this.#options.workerId])
  }
}
