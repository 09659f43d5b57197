import type { Job, TerminalState, Time } from '../core/job.ts'
import type { Change, Store } from '../store/store.ts'

/** Pages of jobs that a round removes at most. */
const PAGES = 20

/**
 * A pass over all that has ended in some states and is old enough, oldest first, over as many rounds as it takes. What it
 * spares it passes by each time: a page of them costs a read, and jobs are spared where somebody wants to keep them all.
 */
export class Removal {
  readonly #store: Store
  readonly #states: readonly TerminalState[]
  readonly #ageMs: number
  readonly #batch: number
  readonly #spares: (job: Job) => boolean
  /** How far the pass has come; absent between passes. */
  #cursor: string | undefined

  constructor(
    store: Store,
    states: readonly TerminalState[],
    ageMs: number,
    batch: number,
    spares: (job: Job) => boolean,
  ) {
    this.#store = store
    this.#states = states
    this.#ageMs = ageMs
    this.#batch = batch
    this.#spares = spares
  }

  get isAtItsEnd(): boolean {
    return this.#cursor === undefined
  }

  /** Answers how many it has removed. */
  async round(now: Time, signal: AbortSignal): Promise<number> {
    const old = { endedBefore: now - this.#ageMs, roughlyBornBefore: now - this.#ageMs }
    let purged = 0
    let pages = 0
    do {
      const query = { states: this.#states, ...old, order: 'oldest', limit: this.#batch, cursor: this.#cursor } as const
      const { jobs, cursor } = await this.#store.find(query)
      const gone = jobs.filter((job) => !this.#spares(job))
      const changes = gone.map((before): Change => ({ kind: 'purge', before }))
      const { verdicts } = changes.length === 0 ? { verdicts: [] } : await this.#store.commit(changes)
      purged += verdicts.filter(({ status }) => status === 'applied').length
      this.#cursor = cursor
      pages += 1
    } while (this.#cursor !== undefined && pages < PAGES && !signal.aborted)
    return purged
  }
}
