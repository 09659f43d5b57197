import type { Job } from '../../core/job.ts'
import { soon } from '../../system/turn.ts'
import type { Hint } from '../store.ts'

/** Tells listeners of a change, once it has been made and its caller has been answered. */
export class Hints {
  readonly #listeners = new Set<(hint: Hint) => void>()

  subscribe(wake: (hint: Hint) => void): AsyncDisposable {
    // Wrapped, so that the same function subscribed twice is two subscriptions.
    const listener = (hint: Hint) => wake(hint)
    this.#listeners.add(listener)
    return {
      [Symbol.asyncDispose]: async () => {
        this.#listeners.delete(listener)
      },
    }
  }

  /** A job that may be claimed some day is work for its queue; one with a flow, once it has been let in. */
  about(job: Job): void {
    this.aboutJob(job)
    if (job.readyAt !== undefined && job.spec.flow === undefined) this.aboutWork(job)
  }

  aboutWork({ spec, needs }: Job): void {
    const { tenant, queue } = spec.kind
    this.tell({ about: 'queue', tenant, queue, needs })
  }

  aboutJob({ id, spec }: Job): void {
    const { tenant, queue } = spec.kind
    this.tell({ about: 'job', id, tenant, queue })
  }

  tell(hint: Hint): void {
    for (const listener of this.#listeners) {
      soon(() => {
        if (this.#listeners.has(listener)) listener(hint)
      })
    }
  }

  close(): void {
    this.#listeners.clear()
  }
}
