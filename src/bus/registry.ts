/** Workers of the bus among all others that have told of themselves: each is written down now and then, not with each heartbeat. */
import type { Time } from '../core/job.ts'
import type { Workers } from '../engine/workers.ts'
import type { Heartbeat } from './messages.ts'

/** As often as other workers tell of themselves. */
const EVERY_MS = 30_000
/** Workers that are remembered; the one that was first goes first, and is written down once more. */
const KNOWN_MOST = 10_000

export class Registry {
  readonly #workers: Pick<Workers, 'report'>
  readonly #tenant: string
  readonly #now: () => Time
  readonly #told = new Map<string, Time>()

  constructor(workers: Pick<Workers, 'report'>, tenant: string, now: () => Time) {
    this.#workers = workers
    this.#tenant = tenant
    this.#now = now
  }

  async heard({ worker_id, pool, free, capabilities, jobs }: Heartbeat): Promise<void> {
    const name = JSON.stringify([worker_id, pool])
    const now = this.#now()
    if (now - (this.#told.get(name) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return
    this.#told.delete(name)
    this.#told.set(name, now)
    if (this.#told.size > KNOWN_MOST) this.#told.delete(this.#told.keys().next().value as string)
    const running = jobs.length
    const about = { queues: [pool], types: capabilities, running, concurrency: running + free, via: 'bus' }
    await this.#workers.report(this.#tenant, worker_id, undefined, about)
  }
}
