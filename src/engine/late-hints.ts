import type { Hint } from '../store/store.ts'
import type { Timers } from '../system/timers.ts'

/** When a caller's transaction has probably been committed; polling finds what came later. */
const LATER_MS = 25

/**
 * Hints about jobs that were enqueued in somebody else's transaction. Nothing may be said inside it, and nobody tells
 * us when it is committed; so the listeners of this process are woken a moment later.
 *
 * Invariant: one timer per queue at most, none after disposal.
 */
export class LateHints implements Disposable {
  readonly #timers: Timers
  readonly #listeners = new Set<(hint: Hint) => void>()
  readonly #expected = new Map<string, Disposable>()

  constructor(timers: Timers) {
    this.#timers = timers
  }

  expect(tenant: string, queue: string): void {
    const name = JSON.stringify([tenant, queue])
    if (this.#expected.has(name)) return
    const tell = () => {
      this.#expected.delete(name)
      for (const listener of this.#listeners) listener({ about: 'queue', tenant, queue })
    }
    this.#expected.set(name, this.#timers.after(LATER_MS, tell))
  }

  subscribe(wake: (hint: Hint) => void): Disposable {
    const listener = (hint: Hint) => wake(hint)
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => this.#listeners.delete(listener) }
  }

  [Symbol.dispose](): void {
    for (const timer of this.#expected.values()) timer[Symbol.dispose]()
    this.#expected.clear()
    this.#listeners.clear()
  }
}
