import type { Job, JobId } from '../core/job.ts'
import type { Engine } from '../engine/engine.ts'
import type { Hint } from '../store/store.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'

/** How often everything that is awaited is looked at, hints or not. */
const POLL_MS = 250
const PAGE = 500

interface Waiter {
  readonly resolve: (job: Job) => void
  readonly reject: (error: unknown) => void
}

/**
 * Waits for jobs to end. Modes: idle (nobody waits: no subscription, no timer), watching (one subscription and one
 * loop for all that are awaited), closed (everybody who waited was told so).
 */
export class Endings implements AsyncDisposable {
  readonly #engine: Engine
  readonly #waiters = new Map<JobId, Set<Waiter>>()
  readonly #loop: Service
  /** Present exactly while watching. */
  #subscription: Promise<AsyncDisposable> | undefined
  #closed = false

  constructor(engine: Engine, timers: Timers, log: Log) {
    this.#engine = engine
    this.#loop = service({ name: 'endings', everyMs: POLL_MS, timers, log, round: () => this.#look() })
  }

  /** The record once the job has ended. Whoever does not want to wait any longer aborts the signal. */
  of(job: Job, signal: AbortSignal | undefined): Promise<Job> {
    return job.endedAt === undefined ? this.#wait(job.id, signal) : Promise.resolve(job)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true
    for (const waiters of this.#waiters.values()) for (const { reject } of waiters) reject(new Error('pawl was closed'))
    this.#waiters.clear()
    await this.#rest()
  }

  #wait(id: JobId, signal: AbortSignal | undefined): Promise<Job> {
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error('pawl was closed'))
      const done = () => {
        signal?.removeEventListener('abort', abort)
        this.#forget(id, waiter)
      }
      const waiter: Waiter = {
        resolve: (job) => {
          done()
          resolve(job)
        },
        reject: (error) => {
          done()
          reject(error)
        },
      }
      const abort = () => waiter.reject(signal?.reason)
      signal?.addEventListener('abort', abort)
      const waiters = this.#waiters.get(id) ?? new Set()
      this.#waiters.set(id, waiters.add(waiter))
      this.#watch()
    })
  }

  #forget(id: JobId, waiter: Waiter): void {
    const waiters = this.#waiters.get(id)
    waiters?.delete(waiter)
    if (waiters?.size === 0) this.#waiters.delete(id)
    if (this.#waiters.size === 0) void this.#rest()
  }

  #watch(): void {
    this.#subscription ??= this.#engine.subscribe((hint) => this.#hinted(hint))
    // Without hints the loop still looks.
    this.#subscription.catch(() => {})
    this.#loop.start()
  }

  async #rest(): Promise<void> {
    const subscription = this.#subscription
    this.#subscription = undefined
    await Promise.all([
      this.#loop.stop(),
      subscription?.then(
        (each) => each[Symbol.asyncDispose](),
        () => {},
      ),
    ])
    // Somebody may have begun to wait meanwhile.
    if (this.#waiters.size > 0 && !this.#closed) this.#watch()
  }

  #hinted(hint: Hint): void {
    if (hint.about === 'anything' || (hint.about === 'job' && this.#waiters.has(hint.id))) this.#loop.wake()
  }

  async #look(): Promise<void> {
    const ids = [...this.#waiters.keys()]
    for (let from = 0; from < ids.length; from += PAGE) {
      const page = ids.slice(from, from + PAGE)
      const { items } = await this.#engine.load(page.map((id) => ({ id })))
      for (const [i, id] of page.entries()) {
        const waiters = [...(this.#waiters.get(id) ?? [])]
        const job = items[i]?.job
        if (job === undefined) for (const { reject } of waiters) reject(new Error(`Job ${id} is gone.`))
        else if (job.endedAt !== undefined) for (const { resolve } of waiters) resolve(job)
      }
    }
  }
}
