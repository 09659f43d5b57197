/**
 * Runs operations: in every process that has a worker or a gateway on the store, or has asked for one. There is no leader: an
 * operation is a job, and whoever claims it runs it. Nothing is kept running for it: a tenant has a worker for operations while
 * it has operations.
 */
import { OPERATION_POLICY, OPERATION_TYPE, OPERATIONS_QUEUE } from '../core/operation.ts'
import type { Engine } from '../engine/engine.ts'
import { Operations, specFrom } from '../engine/operations/operations.ts'
import { type RunParts, runOperation } from '../engine/operations/run.ts'
import type { Hint } from '../store/store.ts'
import { type Service, service } from '../system/service.ts'
import { within } from '../system/within.ts'
import { Crew } from '../worker/crew.ts'
import type { JobDefinition } from '../worker/definition.ts'
import { startWorker, type Worker } from '../worker/worker.ts'
import type { PawlParts } from './pawl-parts.ts'

export const RUNNER_DEFAULTS = {
  /** Hints tell of new ones; this is for what a hint got lost of, and for what a process left behind that died. */
  everyMs: 30_000,
  /** Between two looks while some are at work. */
  busyMs: 1_000,
} as const

/** Operations at a time, of each tenant. */
const CONCURRENCY = 4
/** For the page under way: another process goes on with the next. */
const SOON = { drain: 1_000 } as const
/** For a round under way to end. */
const REST_WITHIN_MS = 1_000

export class OperationsRunner implements AsyncDisposable {
  readonly #parts: PawlParts
  readonly #stored: Engine
  readonly #service: Service
  readonly #definition: JobDefinition
  /** Whose operations are run here; undefined: everybody's. */
  #tenants: Set<string> | undefined = new Set()
  readonly #workers = new Map<string, Worker>()
  /** A crew of its own: an operation whose process died runs apart from other operations, not from everybody's jobs. */
  readonly #crew = new Crew()
  #listening: Promise<AsyncDisposable | undefined> | undefined
  #isClosed = false

  constructor(parts: PawlParts) {
    const { engine, stored = engine, timers, log } = parts
    this.#parts = parts
    this.#stored = stored
    this.#definition = definitionWith({ engine, purge: parts.purge ?? nobody })
    const round = () => this.#round()
    this.#service = service({ name: 'operations', everyMs: RUNNER_DEFAULTS.everyMs, timers, log, round })
  }

  /** From now on operations of this tenant are run here, or of every tenant. */
  serve(tenant: string | undefined): void {
    if (this.#isClosed || this.#parts.purge === undefined) return
    if (tenant === undefined) this.#tenants = undefined
    else this.#tenants?.add(tenant)
    this.#listening ??= this.#listen()
    this.#service.start()
    this.#service.wake()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#workers.values()].map((worker) => worker.stop(SOON)))
    const deaf = async () => (await this.#listening)?.[Symbol.asyncDispose]()
    // A store that does not answer is not waited for: what is asked of it ends when it is closed.
    await within(this.#parts.timers, REST_WITHIN_MS, Promise.all([deaf(), this.#service.stop()]))
  }

  async #listen(): Promise<AsyncDisposable | undefined> {
    const wake = (hint: Hint) => {
      if (hint.about === 'queue' && hint.queue === OPERATIONS_QUEUE) this.#service.wake()
    }
    // Without hints they are found all the same.
    return this.#stored.subscribe(wake).catch(() => undefined)
  }

  /** Workers for those that have operations, none for others. */
  async #round(): Promise<number> {
    const mine = this.#tenants
    const [only] = mine?.size === 1 ? [...mine] : []
    const found = await new Operations(this.#stored).tenantsAtWork(only)
    const busy = [...found].filter((tenant) => mine === undefined || mine.has(tenant))
    for (const tenant of busy)
      if (!this.#workers.has(tenant) && !this.#isClosed) this.#workers.set(tenant, this.#start(tenant))
    for (const [tenant, worker] of this.#workers) {
      if (found.has(tenant) || worker.held > 0) continue
      this.#workers.delete(tenant)
      await worker.stop(SOON)
    }
    return this.#workers.size > 0 ? RUNNER_DEFAULTS.busyMs : RUNNER_DEFAULTS.everyMs
  }

  /** Its own words are kept as they are: only what it does to jobs goes through whoever encrypts. */
  #start(tenant: string): Worker {
    const { timers, ids, log, surroundings } = this.#parts
    const { clock, machineMs } = surroundings ?? {}
    const options = {
      tenant,
      concurrency: CONCURRENCY,
      prefetch: 0,
      timers,
      ids,
      log,
      clock,
      machineMs,
      crew: this.#crew,
    }
    return startWorker(this.#stored, [this.#definition], options)
  }
}

const definitionWith = (parts: RunParts): JobDefinition => ({
  type: OPERATION_TYPE,
  tenant: undefined,
  queue: OPERATIONS_QUEUE,
  policy: OPERATION_POLICY,
  run: (input, ctx) => runOperation(parts, specFrom(JSON.stringify(input)), ctx),
})

const nobody: RunParts['purge'] = () => Promise.reject(new Error('there is no store here to remove anything from'))
