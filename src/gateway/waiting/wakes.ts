/** Everybody who waits here for a job, woken by hints about that job and by the clock, and by nothing else. */
import type { JobId } from '../../core/job.ts'
import type { Hint } from '../../store/store.ts'
import type { Timers } from '../../system/timers.ts'

export class Wakes {
  readonly #timers: Timers
  readonly #waiting = new Map<JobId, Set<() => void>>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  hinted(hint: Hint): void {
    if (hint.about === 'job') for (const wake of this.#waiting.get(hint.id) ?? []) wake()
    else if (hint.about === 'anything') this.wakeAll()
  }

  wakeAll(): void {
    for (const waiting of this.#waiting.values()) for (const wake of waiting) wake()
  }

  /** Resolves at the next hint about the job, after `ms`, or when `signal` aborts: whichever comes first. */
  async next(id: JobId, ms: number, signal: AbortSignal): Promise<void> {
    const cut = new AbortController()
    // With a reason of its own: without one each would be made an error, with a stack.
    const wake = () => cut.abort('woken')
    const waiting = this.#waiting.get(id) ?? new Set()
    this.#waiting.set(id, waiting.add(wake))
    signal.addEventListener('abort', wake)
    try {
      if (!signal.aborted) await this.#timers.sleep(ms, cut.signal)
    } finally {
      waiting.delete(wake)
      if (waiting.size === 0 && this.#waiting.get(id) === waiting) this.#waiting.delete(id)
      signal.removeEventListener('abort', wake)
    }
  }
}
