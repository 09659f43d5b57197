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
  readonly queues: readonly QueueShare[]
  readonly types: readonly string[]
  readonly running: () => number
}

export class Presence {
  readonly #options: PresenceOptions
  readonly #service: Service

  constructor(options: PresenceOptions) {
    this.#options = options
    const { timers, log } = options
    this.#service = service({ name: 'presence', everyMs: EVERY_MS, timers, log, round: () => this.#tell() })
    this.#service.start()
  }

  async stop(): Promise<void> {
    await this.#service.stop()
    const remove = (key: string) => ({ op: 'remove', collection: 'worker', key, rev: undefined }) as const
    await this.#options.engine.settings(this.#keys().map(remove)).catch(() => [])
  }

  async #tell(): Promise<void> {
    const { engine, concurrency, running, queues, types } = this.#options
    const names = [...new Set(queues.map(({ queue }) => queue))]
    const text = JSON.stringify({ queues: names, types, concurrency, running: running(), host: hostname(), pid })
    const put = (key: string) => ({ op: 'put', collection: 'worker', key, text, rev: undefined }) as const
    await engine.settings(this.#keys().map(put))
  }

  /** One document for each tenant it serves: a tenant sees its own workers only. */
  #keys(): readonly string[] {
    const { queues, workerId } = this.#options
    return [...new Set(queues.map(({ tenant }) => JSON.stringify([tenant, workerId])))]
  }
}
