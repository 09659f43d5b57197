import type { Job, JobId } from '../../core/job.ts'
import type { Hint } from '../store.ts'

/** Who wants to know. A listener is never called from within the call that caused the hint. */
export class Hints {
  readonly #listeners = new Set<(hint: Hint) => void>()

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
  about({ id, readyAt, spec }: Job): void {
    if (this.#listeners.size === 0) return
    this.aboutJob(id)
    if (readyAt !== undefined) this.tell({ about: 'queue', tenant: spec.kind.tenant, queue: spec.kind.queue })
  }

  aboutJob(id: JobId): void {
    if (this.#listeners.size > 0) this.tell({ about: 'job', id })
  }

  tell(hint: Hint): void {
    for (const listener of this.#listeners) {
      queueMicrotask(() => {
        if (this.#listeners.has(listener)) listener(hint)
      })
    }
  }

  close(): void {
    this.#listeners.clear()
  }
}
