/**
 * Workers of the bus among all others that have told of themselves: routing looks there who is live, `explain` who could have a job, and
 * `pawl workers ls` shows them. Each is written down now and then, and whenever it tells something else of what it is and can do.
 */
import type { Time } from '../core/job.ts'
import type { JobTypes } from '../engine/job-types.ts'
import { addressedBy } from '../engine/topic.ts'
import type { SeenWorker, Workers } from '../engine/workers.ts'
import { beyond, type Caps } from '../gateway/caps.ts'
import type { Headcount } from '../gateway/headcount.ts'
import { Objected, objection } from '../gateway/problem.ts'
import type { Attendance } from './attendance.ts'
import { type Heartbeat, type Refused, toldOfObjection } from './messages.ts'
import type { Squad } from './squad.ts'

export interface RegistryParts {
  readonly workers: Pick<Workers, 'find' | 'report'>
  readonly types: Pick<JobTypes, 'kind'>
  readonly tenant: string
  readonly attendance: Attendance
  readonly workerCount: Headcount
  readonly caps: Caps
  readonly now: () => Time
}

/** As often as other workers tell of themselves; what has changed is told sooner. */
const EVERY_MS = 30_000
const CHANGED_MS = 1_000

interface Written {
  readonly at: Time
  readonly squad: string
}

export class Registry {
  readonly #parts: RegistryParts
  /** Of each worker that is present, when it was written down and as what. */
  readonly #written = new Map<string, Written>()

  constructor(parts: RegistryParts) {
    this.#parts = parts
  }

  /** The squad that a worker is of; or why it cannot be one. */
  async heard(said: Heartbeat): Promise<{ readonly ok: true; readonly squad: Squad } | Refused> {
    const { attendance, caps, now } = this.#parts
    const heard = attendance.heard(said)
    if (!heard.ok) return refusedBy(beyond(heard.cap, caps, { retryAfterMs: EVERY_MS }))
    const { squad, name } = heard
    const written = this.#written.get(said.worker_id)
    const staleMs = written?.squad === name ? EVERY_MS : CHANGED_MS
    if (written !== undefined && now() - written.at < staleMs) return { ok: true, squad }
    try {
      await this.#write(said, squad)
    } catch (error) {
      if (error instanceof Objected) return refusedBy(error)
      throw error
    }
    this.#written.delete(said.worker_id)
    this.#written.set(said.worker_id, { at: now(), squad: name })
    if (this.#written.size > caps.workersPerTenant) this.#written.delete(this.#written.keys().next().value as string)
    return { ok: true, squad }
  }

  async #write({ worker_id, free, jobs }: Heartbeat, { pool, topics, capabilities }: Squad): Promise<void> {
    const { workers, types, tenant, workerCount, caps } = this.#parts
    const there = await workers.find(tenant, worker_id)
    if (isAnothers(there))
      throw new Objected(objection('FORBIDDEN', 'Somebody else works under this name: choose another.'))
    if (there === undefined && !(await workerCount.letsIn(tenant))) throw beyond('workersPerTenant', caps)
    const queues = await Promise.all(topics.map(async (topic) => (await addressedBy(types, tenant, topic)).queue))
    const running = jobs.length
    const load = { running, concurrency: running + free }
    const about = { queues: [...new Set(queues)], pool, capabilities, ...load, via: 'bus' }
    await workers.report(tenant, worker_id, undefined, about)
  }
}

/** While a worker is present, its record is whose it is: one that came over HTTP has a token, and nobody speaks for it here. */
const isAnothers = (there: SeenWorker | undefined): boolean => there?.present === true && there.token !== undefined

const refusedBy = (error: Objected): Refused => ({ ok: false, told: toldOfObjection(error) })
