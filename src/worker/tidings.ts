/**
 * What a handler says in passing: progress and counters, gathered here and written at most once a second; with the next word that
 * the handler waits for, in its commit, or else at the next pulse, in one of their own.
 */
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
    return this.#isAny ? this.#saidMs + EVERY_MS : Number.POSITIVE_INFINITY
  }

  /** Undefined where nothing is due. */
  take(nowMs: number): { progress: Progress | undefined; counters: Record<string, number> | undefined } | undefined {
    if (nowMs < this.dueMs || !this.#isAny) return undefined
    const taken = { progress: this.#progress, counters: this.#counters }
    this.#progress = undefined
    this.#counters = undefined
    this.#saidMs = nowMs
    return taken
  }

  get #isAny(): boolean {
    return this.#progress !== undefined || this.#counters !== undefined
  }

  /** Counters alone: they ride along with the completion. */
  takeCounters(): Record<string, number> | undefined {
    const counters = this.#counters
    this.#counters = undefined
    return counters
  }
}
