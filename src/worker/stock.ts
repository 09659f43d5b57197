/**
 * What a worker holds and has not started: jobs for this process, and those that wait for a cell. It holds no more than it
 * will start soon, by its own pace; and nothing beyond free handlers where one of its types could not be handed back, since its
 * document knows no `release`: lanes do not say which types they give.
 */
import type { Draw } from '../core/lanes.ts'
import type { Execution } from './execution.ts'
import { Pace } from './pace.ts'
import { Prefetched } from './prefetched.ts'

export interface StockOptions {
  readonly concurrency: number
  /** Cells at a time. */
  readonly processes: number
  /** Jobs held ready at most, however quick handlers are. */
  readonly prefetchMax: number
  /** Whether all that is known to come can be handed back. */
  readonly isAllReturnable: boolean
}

/** The delay of a job that is handed back for want of a cell. */
const NO_CELL_DELAY_MS = 5_000
/**
 * What is held will be started within this time. A job that is more urgent, or in another queue, is heard of when half of it is
 * over, since then more is asked for; a claim takes a few milliseconds.
 */
const AHEAD_MS = 100

export class Stock {
  readonly #options: StockOptions
  readonly #pace: Pace
  readonly #here = new Prefetched()
  readonly #forCells = new Prefetched()
  /** Executions that have a cell. */
  readonly #inCells = new Set<Execution>()
  #isAllReturnable: boolean

  constructor(options: StockOptions) {
    this.#options = options
    this.#pace = new Pace(options.concurrency)
    this.#isAllReturnable = options.isAllReturnable
  }

  /** Jobs held for this process. */
  get size(): number {
    return this.#here.size
  }

  /** How many jobs may be held for this process beyond free handlers. */
  get most(): number {
    return this.#isAllReturnable ? this.#startsSoon : 0
  }

  /** Jobs that wait for a cell: each has a place among the running, where it will soon be. */
  get waiting(): number {
    return this.#forCells.size
  }

  put(execution: Execution, way: 'here' | 'isolated' | 'cell', draw: Draw, now: number): void {
    // A job is judged by the policy it was born with, which need not be that of its type today.
    if (!execution.isReturnable) this.#isAllReturnable = false
    if (way === 'here') this.#here.add(execution, draw)
    // Suspects may be many, and slow: half of the worker stays free of them for everybody else.
    else if (way === 'isolated' || !execution.isReturnable || this.waiting < this.#options.concurrency / 2)
      this.#forCells.add(execution, draw)
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

  /** An execution has let go, of its cell too if it had one. `atOnce`: before `start` returned. */
  left(execution: Execution, atOnce: boolean): void {
    this.#pace.ended(execution.tookMs, atOnce)
    if (this.#inCells.size > 0) this.#inCells.delete(execution)
  }

  /**
   * Hands back what has been held too long, or will be. `runningMs`: how long those have taken that run; `vacancies`: how many
   * could begin at once. Answers when to look again.
   */
  look(nowMs: number, runningMs: number, vacancies: number): number {
    this.#pace.look(nowMs, runningMs)
    // Only where handlers have become slow, not where they merely vary: then held jobs would wait for longer.
    const most = vacancies + this.#startsSoon
    if (this.size > 2 * most) this.#here.giveBackBeyond(most, nowMs - AHEAD_MS)
    return Math.min(this.#here.giveBackStale(nowMs), this.#forCells.giveBackStale(nowMs))
  }

  giveBackAll(reason: 'shutdown' | 'handed_back'): void {
    this.#here.giveBackAll(reason)
    this.#forCells.giveBackAll(reason)
  }

  get #startsSoon(): number {
    return Math.min(this.#options.prefetchMax, Math.floor(this.#pace.startsWithin(AHEAD_MS)))
  }
}
