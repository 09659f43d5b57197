/** What a handler says in passing: progress and counters, gathered here and written at most once a second. */
import type { Progress } from '../core/job.ts'

const EVERY_MS = 1_000

export class Tidings {
  #progress: Progress | undefined
  #counters: Record<string, number> | undefined
  #saidMs = Number.NEGATIVE_INFINITY

  progress(progress: Progress): void {
    this.#progress = progress
  }

  count(name: string, by: number): void {
    this.#counters ??= {}
    this.#counters[name] = (Object.hasOwn(this.#counters, name) ? (this.#counters[name] as number) : 0) + by
  }

  get dueMs(): number {
    const any = this.#progress !== undefined || this.#counters !== undefined
    return any ? this.#saidMs + EVERY_MS : Number.POSITIVE_INFINITY
  }

  /** All of it, if any is due by then. */
  take(nowMs: number): { progress: Progress | undefined; counters: Record<string, number> | undefined } | undefined {
    if (nowMs < this.dueMs || (this.#progress === undefined && this.#counters === undefined)) return undefined
    const taken = { progress: this.#progress, counters: this.#counters }
    this.#progress = undefined
    this.#counters = undefined
    this.#saidMs = nowMs
    return taken
  }

  /** Counters alone: they ride along with the completion. */
  takeCounters(): Record<string, number> | undefined {
    const counters = this.#counters
    this.#counters = undefined
    return counters
  }
}
