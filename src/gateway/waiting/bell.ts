/** Wakes all who wait for it. */
import type { Timers } from '../../system/timers.ts'

export class Bell {
  readonly #timers: Timers
  readonly #waiting = new Set<() => void>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  /** True while nobody waits for it. */
  get isIdle(): boolean {
    return this.#waiting.size === 0
  }

  ring(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Resolves when it rings, after `ms`, or when `signal` aborts: whichever comes first. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return
    const cut = new AbortController()
    // Aborted with a reason: without one Node makes an error with a stack for each.
    const wake = () => cut.abort('woken')
    this.#waiting.add(wake)
    signal.addEventListener('abort', wake)
    try {
      await this.#timers.sleep(ms, cut.signal)
    } finally {
      this.#waiting.delete(wake)
      signal.removeEventListener('abort', wake)
    }
  }
}
