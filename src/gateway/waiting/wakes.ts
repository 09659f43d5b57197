/** Everybody who waits here for something to happen, woken by the store's hints and by the clock. */
import type { Engine } from '../engine/engine.ts'
import type { Timers } from '../system/timers.ts'

export class Wakes {
  readonly #timers: Timers
  readonly #waiting = new Set<() => void>()
  #subscription: AsyncDisposable | undefined

  constructor(timers: Timers) {
    this.#timers = timers
  }

  async listen(engine: Engine): Promise<void> {
    this.#subscription = await engine.subscribe(() => this.wakeAll())
  }

  wakeAll(): void {
    for (const wake of [...this.#waiting]) wake()
  }

  /** Resolves at the next hint, after `ms`, or when `signal` aborts: whichever comes first. */
  async next(ms: number, signal: AbortSignal): Promise<void> {
    const cut = new AbortController()
    const wake = () => cut.abort()
    this.#waiting.add(wake)
    signal.addEventListener('abort', wake)
    try {
      if (!signal.aborted) await this.#timers.sleep(ms, cut.signal)
    } finally {
      this.#waiting.delete(wake)
      signal.removeEventListener('abort', wake)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.wakeAll()
    await this.#subscription?.[Symbol.asyncDispose]()
  }
}
