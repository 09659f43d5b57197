/**
 * A list as far as it was read. Which jobs are in it, and in which order, is fixed when the search is made; of those only so many are
 * kept in memory, the ones around what is looked at, and the others come again by their names. What no index answers is looked
 * for job by job, in portions: behind each of them it stops until somebody wants the next, so that nothing is ever told as the end that is none.
 */
import type { Job, JobsAnswer, TheseAnswer } from '../api/wire.ts'

export interface Row {
  readonly job: Job
  /** It was found, and would not be any more. */
  readonly isGone: boolean
}

export interface Asking {
  page(cursor: string | undefined, signal: AbortSignal): Promise<JobsAnswer>
  /** Some of them as they are now. */
  these(ids: readonly string[], signal: AbortSignal): Promise<TheseAnswer>
}

/** What is known of it by now: another object whenever something has changed. */
export interface Extent {
  /** Rows that were found so far. */
  readonly count: number
  /** And there is nothing behind them. */
  readonly isEnd: boolean
  readonly isReading: boolean
  /** There is more to look at, and it waits for somebody to say so. */
  readonly isStopped: boolean
  /** Jobs that were looked at one by one to find these; undefined where indexes found them. */
  readonly read: number | undefined
  /** And how many of those have an input that is too long to be looked into. */
  readonly tooLong: number
  /** How long the reading has taken. */
  readonly tookMs: number
  readonly error: unknown
}

/** Jobs kept in memory. */
const KEPT = 1_000
/** Jobs that are looked at before somebody has to ask for more. */
export const PORTION = 10_000
/** The most that may be asked for by name. */
const THESE_MOST = 100
/** Rows that are there before they are scrolled to. */
const AHEAD = 20

export class Listing {
  readonly #asking: Asking
  readonly #over = new AbortController()
  readonly #watchers = new Set<() => void>()
  /** In their order; and the same to be found by name. */
  readonly #ids: string[] = []
  readonly #known = new Set<string>()
  readonly #jobs = new Map<string, Job>()
  readonly #gone = new Set<string>()
  /** There is no such job any more. */
  readonly #lost = new Set<string>()
  #cursor: string | undefined
  #allowed = PORTION
  #first = 0
  #last = 0
  #isReading = false
  #extent: Extent = {
    count: 0,
    isEnd: false,
    isReading: false,
    isStopped: false,
    read: undefined,
    tooLong: 0,
    tookMs: 0,
    error: undefined,
  }

  constructor(asking: Asking) {
    this.#asking = asking
  }

  readonly watch = (watcher: () => void): (() => void) => {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  readonly extent = (): Extent => this.#extent

  /** Undefined where it is not in memory: it comes once it is looked at. */
  at(index: number): Row | undefined {
    const id = this.#ids[index]
    const job = id === undefined ? undefined : this.#jobs.get(id)
    return job && { job, isGone: this.#gone.has(job.id) }
  }

  has(id: string): boolean {
    return this.#known.has(id)
  }

  /** As it was told last; undefined where it is not in memory. */
  job(id: string): Job | undefined {
    return this.#jobs.get(id)
  }

  /** Those that are in memory, in their order. */
  kept(): readonly Job[] {
    return this.#ids.flatMap((id) => this.#jobs.get(id) ?? [])
  }

  /** These rows are looked at: what of them is missing is read. */
  see(first: number, last: number): void {
    this.#first = Math.max(0, first)
    this.#last = Math.max(first, last)
    void this.#read()
  }

  /** Another portion is looked at. */
  on(): void {
    this.#allowed = (this.#extent.read ?? 0) + PORTION
    void this.#read()
  }

  /** The rows that are looked at, as they are now; and what has failed, once more. */
  async refresh(): Promise<void> {
    if (this.#extent.error !== undefined) return await this.#read()
    const ids = this.#ids.slice(this.#first, this.#last + 1).slice(0, THESE_MOST)
    if (ids.length === 0) return
    this.#hear(await this.#asking.these(ids, this.#over.signal))
    this.#tell({})
  }

  end(): void {
    this.#over.abort()
    this.#watchers.clear()
  }

  /** One request after the other, until there is what is looked at. */
  async #read(): Promise<void> {
    if (this.#isReading) return
    const { signal } = this.#over
    const [since, before] = [performance.now(), this.#extent.tookMs]
    try {
      for (let next = this.#next(); next !== undefined && !signal.aborted; next = this.#next()) {
        this.#isReading = true
        this.#tell({})
        await next()
        this.#forget()
        this.#tell({ tookMs: before + performance.now() - since, error: undefined })
      }
      if (!this.#isReading) return
      this.#isReading = false
      this.#tell({})
    } catch (error) {
      this.#isReading = false
      if (!signal.aborted) this.#tell({ error })
    }
  }

  /** The request that is to be made; undefined where there is all that may be there. */
  #next(): (() => Promise<void>) | undefined {
    const { signal } = this.#over
    const missing = this.#ids
      .slice(Math.max(0, this.#first - AHEAD), this.#last + AHEAD)
      .filter((id) => !this.#jobs.has(id) && !this.#lost.has(id))
      .slice(0, THESE_MOST)
    if (missing.length > 0)
      return async () => {
        this.#hear(await this.#asking.these(missing, signal))
        // What was removed meanwhile does not come, and is not asked for again and again.
        for (const id of missing) if (!this.#jobs.has(id)) this.#lost.add(id)
      }
    return this.#isWanted() ? async () => this.#take(await this.#asking.page(this.#cursor, signal)) : undefined
  }

  #isWanted(): boolean {
    const { isEnd, read } = this.#extent
    return !isEnd && this.#ids.length <= this.#last + AHEAD && (read === undefined || read < this.#allowed)
  }

  #take({ jobs, cursor, read, tooLong = 0 }: JobsAnswer): void {
    for (const job of jobs) {
      this.#jobs.set(job.id, job)
      if (this.#known.has(job.id)) continue
      this.#known.add(job.id)
      this.#ids.push(job.id)
    }
    this.#cursor = cursor
    const extent = this.#extent
    this.#extent = {
      ...extent,
      isEnd: cursor === undefined,
      read: read === undefined ? extent.read : (extent.read ?? 0) + read,
      tooLong: extent.tooLong + tooLong,
    }
  }

  #hear({ jobs, gone }: TheseAnswer): void {
    for (const job of jobs) {
      this.#jobs.set(job.id, job)
      this.#gone.delete(job.id)
    }
    for (const id of gone) this.#gone.add(id)
  }

  /** What is farthest from where somebody looks is let go first. */
  #forget(): void {
    let [from, to] = [0, this.#ids.length - 1]
    while (this.#jobs.size > KEPT && from < to) {
      const id = this.#ids[this.#first - from > to - this.#last ? from++ : to--]
      if (id !== undefined) this.#jobs.delete(id)
    }
  }

  #tell(changed: Partial<Extent>): void {
    const next = { ...this.#extent, ...changed, count: this.#ids.length, isReading: this.#isReading }
    const { isEnd, read, isReading, error } = next
    const isStopped = !isEnd && !isReading && error === undefined && read !== undefined && read >= this.#allowed
    this.#extent = { ...next, isStopped }
    for (const watcher of this.#watchers) watcher()
  }
}
