/** What a worker holds and has not started: jobs for this process, and those that wait for a cell. */
import type { Execution } from './execution.ts'
import { Prefetched } from './prefetched.ts'

export interface StockOptions {
  readonly concurrency: number
  /** Cells at a time. */
  readonly processes: number
}

/** Until somebody may have a cell free. */
const NO_CELL_DELAY_MS = 5_000

export class Stock {
  readonly #options: StockOptions
  readonly #here = new Prefetched()
  readonly #forCells = new Prefetched()
  /** Those that have a cell. */
  readonly #inCells = new Set<Execution>()

  constructor(options: StockOptions) {
    this.#options = options
  }

  /** Those for this process. */
  get size(): number {
    return this.#here.size
  }

  /** Those that wait for a cell: each has a place among the running, where it will soon be. */
  get waiting(): number {
    return this.#forCells.size
  }

  put(execution: Execution, way: 'here' | 'isolated' | 'cell', now: number): void {
    if (way === 'here') this.#here.add(execution)
    // Suspects may be many, and slow: half of the worker stays free of them for everybody else.
    else if (way === 'isolated' || this.waiting < this.#options.concurrency / 2) this.#forCells.add(execution)
    else execution.giveBack('handed_back', now + NO_CELL_DELAY_MS)
  }

  /** The next that may begin. */
  take(): Execution | undefined {
    const execution =
      this.waiting > 0 && this.#inCells.size < this.#options.processes ? this.#forCells.take() : undefined
    if (execution === undefined) return this.#here.take()
    this.#inCells.add(execution)
    return execution
  }

  /** It has let go, of its cell too if it had one. */
  left(execution: Execution): void {
    if (this.#inCells.size > 0) this.#inCells.delete(execution)
  }

  /** Answers when to look again. */
  giveBackStale(nowMs: number): number {
    return Math.min(this.#here.giveBackStale(nowMs), this.#forCells.giveBackStale(nowMs))
  }

  giveBackAll(reason: 'shutdown' | 'handed_back'): void {
    this.#here.giveBackAll(reason)
    this.#forCells.giveBackAll(reason)
  }
}
