import type { Job } from '../../core/job.ts'
import { original } from '../codec/text.ts'
import type { Hint } from '../store.ts'

/** The listeners of this process. One is never called from within the call that caused the hint. */
export class Hints {
  readonly #listeners = new Set<(hint: Hint) => void>()
  #unheard: Hint[] = []
  /** The last of them that was about a queue: nobody need hear it twice. */
  #lastQueue: Extract<Hint, { about: 'queue' }> | undefined

  get listeners(): number {
    return this.#listeners.size
  }

  /** Answers with how to end it, which answers whether it was still on. */
  subscribe(wake: (hint: Hint) => void): () => boolean {
    // Wrapped, so that the same function subscribed twice is two subscriptions.
    const listener = (hint: Hint) => wake(hint)
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** A job that may be claimed some day is work for its queue. */
  about(job: Job): void {
    if (this.#listeners.size === 0) return
    this.aboutJob(job)
    if (job.readyAt === undefined) return
    const { tenant, queue } = job.spec.kind
    const last = this.#lastQueue
    if (last?.tenant === tenant && last.queue === queue && last.needs === job.needs) return
    this.#lastQueue = { about: 'queue', tenant, queue, needs: job.needs }
    this.tell(this.#lastQueue)
  }

  /** Jobs were let into a queue, or to a side of it. Names as they are stored. */
  aboutQueue(tenant: string, queue: string, needs: string | null): void {
    const hint = { about: 'queue', tenant: original(tenant), queue: original(queue) } as const
    this.tell(needs === null ? hint : { ...hint, needs: original(needs) })
  }

  aboutJob({ id, spec }: Job): void {
    if (this.#listeners.size > 0) this.tell({ about: 'job', id, tenant: spec.kind.tenant, queue: spec.kind.queue })
  }

  /** Hints of one turn are told together: a microtask for each was felt in a drain. */
  tell(hint: Hint): void {
    if (this.#listeners.size === 0) return
    if (this.#unheard.length === 0) queueMicrotask(() => this.#tellAll())
    this.#unheard.push(hint)
  }

  #tellAll(): void {
    const hints = this.#unheard
    this.#unheard = []
    this.#lastQueue = undefined
    for (const listener of [...this.#listeners]) {
      for (const hint of hints) {
        if (this.#listeners.has(listener)) listener(hint)
      }
    }
  }

  close(): void {
    this.#listeners.clear()
  }
}
