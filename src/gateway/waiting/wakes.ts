/** Requests that wait here for a job, woken by hints about that job and by the clock, and by nothing else. */
import type { JobId } from '../../core/job.ts'
import type { Hint } from '../../store/store.ts'
import type { Timers } from '../../system/timers.ts'
import { Bell } from './bell.ts'

export class Wakes {
  readonly #timers: Timers
  /** Bells of jobs that are waited for. */
  readonly #bells = new Map<JobId, Bell>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  hinted(hint: Hint): void {
    if (hint.about === 'job') this.#bells.get(hint.id)?.ring()
    else if (hint.about === 'anything') this.wakeAll()
  }

  wakeAll(): void {
    for (const bell of this.#bells.values()) bell.ring()
  }

  /** Resolves at the next hint about the job, after `ms`, or when `signal` aborts: whichever comes first. */
  async next(id: JobId, ms: number, signal: AbortSignal): Promise<void> {
    const bell = this.#bells.get(id) ?? new Bell(this.#timers)
    this.#bells.set(id, bell)
    try {
      await bell.next(ms, signal)
    } finally {
      if (bell.isIdle && this.#bells.get(id) === bell) this.#bells.delete(id)
    }
  }
}
