import type { Job, TerminalState, Time } from '../core/job.ts'
import type { Store } from '../store/store.ts'

/** Pages of jobs that a round looks at, at most. */
const PAGES = 20

export interface Ended {
  readonly states: readonly TerminalState[]
  /** Absent: all. */
  readonly types?: readonly string[] | undefined
  /** How long ago they ended, at least. */
  readonly ageMs: number
  /** Jobs looked at together. */
  readonly batch: number
}

/** A pass over all that has ended in some states and is old enough, oldest first, over as many rounds as it takes. */
export class EndedPass {
  readonly #store: Pick<Store, 'find'>
  readonly #ended: Ended
  /** How far the pass has come; absent between passes. */
  #cursor: string | undefined

  constructor(store: Pick<Store, 'find'>, ended: Ended) {
    this.#store = store
    this.#ended = ended
  }

  get isAtItsEnd(): boolean {
    return this.#cursor === undefined
  }

  /** Does something to each page, which answers to how many jobs it was done; answers to how many in all. */
  async round(now: Time, signal: AbortSignal, act: (jobs: readonly Job[]) => Promise<number>): Promise<number> {
    const { states, types, ageMs, batch } = this.#ended
    const old = { endedBefore: now - ageMs, roughlyBornBefore: now - ageMs }
    let done = 0
    let pages = 0
    do {
      const query = { states, types, ...old, order: 'oldest', limit: batch, cursor: this.#cursor } as const
      const { jobs, cursor } = await this.#store.find(query)
      done += await act(jobs)
      this.#cursor = cursor
      pages += 1
    } while (this.#cursor !== undefined && pages < PAGES && !signal.aborted)
    return done
  }
}
