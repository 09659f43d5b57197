/**
 * Time that passes when a test says so. Timers fire in the order they are due; after each of them everything that
 * can happen without time passing happens first.
 */
import type { Clock } from '../system/clock.ts'
import type { Timers } from '../system/timers.ts'
import { turn } from '../system/turn.ts'

interface Pending {
  readonly dueMs: number
  readonly order: number
  readonly fire: () => void
}

/** Enough turns for a chain of promises and hints to come to rest. */
const TURNS = 3

export class VirtualTime implements Clock, Timers {
  readonly #startMs: number
  readonly #pending = new Set<Pending>()
  #nowMs: number
  #order = 0

  constructor(startMs: number) {
    this.#startMs = startMs
    this.#nowMs = startMs
  }

  now(): number {
    return this.#nowMs
  }

  monotonicMs(): number {
    return this.#nowMs - this.#startMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve()
      const done = () => {
        timer[Symbol.dispose]()
        signal?.removeEventListener('abort', done)
        resolve()
      }
      const timer = this.after(ms, done)
      signal?.addEventListener('abort', done)
    })
  }

  after(ms: number, fn: () => void): Disposable {
    const pending: Pending = { dueMs: this.#nowMs + Math.max(0, ms), order: this.#order, fire: fn }
    this.#order += 1
    this.#pending.add(pending)
    return { [Symbol.dispose]: () => void this.#pending.delete(pending) }
  }

  /** Timers that wait. */
  get pending(): number {
    return this.#pending.size
  }

  async advance(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms
    await this.settle()
    for (let next = this.#next(untilMs); next !== undefined; next = this.#next(untilMs)) {
      this.#pending.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.dueMs)
      next.fire()
      await this.settle()
    }
    this.#nowMs = untilMs
  }

  /** Lets everything happen that needs no time. */
  async settle(): Promise<void> {
    for (let i = 0; i < TURNS; i += 1) await turn()
  }

  #next(untilMs: number): Pending | undefined {
    let first: Pending | undefined
    for (const pending of this.#pending) {
      if (pending.dueMs > untilMs) continue
      const earlier =
        first === undefined ||
        pending.dueMs < first.dueMs ||
        (pending.dueMs === first.dueMs && pending.order < first.order)
      if (earlier) first = pending
    }
    return first
  }
}
