/** What a worker does when it is told to, and what its handlers do. */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Able, type Connection, nowMs, type Payload, payload, type Working } from '../contender.ts'
import type { WorkOrder } from '../orders.ts'

/** Of a long job's steps, as many parts. */
const MARKS = 10

export class Performing {
  /** Handlers so far. */
  started = 0
  readonly latencies: number[] = []
  /** When each tenth of all steps had been taken, of a job that is alone. */
  taken: number[] = []
  readonly #connection: Connection
  #working: Working | undefined
  /** Those that have failed, as they are to do once. */
  readonly #failed = new Set<number>()
  #lastFailedMs = 0
  #firstAgainMs = Number.POSITIVE_INFINITY
  #steps = 0

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async work(order: WorkOrder): Promise<void> {
    const { purpose, concurrency, limited, failEvery } = order
    this.#failed.clear()
    this.taken = []
    this.#steps = 0
    this.#lastFailedMs = 0
    this.#firstAgainMs = Number.POSITIVE_INFINITY
    const handle = (job: Payload, able?: Able) => this.#handle(order, job, able)
    this.#working = await this.#connection.work({
      purpose,
      handle,
      concurrency,
      limited,
      failing: failEvery !== undefined,
    })
  }

  #handle(order: WorkOrder, job: Payload, able: Able | undefined): void | Promise<void> {
    const { purpose, hold, steps = 0, failEvery, waiting } = order
    this.started += 1
    if (purpose === 'latency') this.latencies.push(nowMs() - job.at)
    const fails = failEvery !== undefined && job.n % failEvery === 0 && this.#isFirstTime(job)
    if (steps > 0) return this.#take(steps, fails, able)
    if (fails) throw new Once()
    if (waiting === true) return awaited(able)
    return hold === true ? NEVER : undefined
  }

  #isFirstTime({ n }: Payload): boolean {
    if (this.#failed.has(n)) {
      this.#firstAgainMs = Math.min(this.#firstAgainMs, nowMs())
      return false
    }
    this.#failed.add(n)
    this.#lastFailedMs = nowMs()
    return true
  }

  async #take(steps: number, fails: boolean, able: Able | undefined): Promise<void> {
    if (able === undefined) throw new Error('it has no steps')
    for (let n = 0; n < steps; n += 1) {
      if (fails && n === steps - 1) throw new Once()
      await able.step(`step-${n}`, async () => payload().text)
      this.#steps += 1
      if (this.#steps % (steps / MARKS) === 0 && this.taken.length < MARKS) this.taken.push(nowMs())
    }
  }

  get pausedMs(): number {
    const pausedMs = this.#firstAgainMs - this.#lastFailedMs
    return Number.isFinite(pausedMs) ? Math.max(0, pausedMs) : 0
  }

  async settled(): Promise<number> {
    while (!(await this.#working?.settled())) await sleep(2)
    return this.started
  }

  async stop(): Promise<void> {
    await this.#working?.stop()
    this.#working = undefined
  }
}

const NEVER = new Promise<void>(() => {})

async function awaited(able: Able | undefined): Promise<void> {
  if (able?.wait === undefined) throw new Error('it cannot wait')
  await able.wait()
}

class Once extends Error {
  constructor() {
    super('once')
  }
}
