import type { Job, Time } from '../core/job.ts'
import type { Change, Store } from '../store/store.ts'
import { type Ended, EndedPass } from './ended-pass.ts'
import { notePurged } from './spent-by-purged.ts'

/**
 * Removes what ended long ago. What it spares it passes by each time: a page of them costs a read, and jobs are spared where somebody
 * wants to keep them all.
 */
export class Removal {
  readonly #store: Pick<Store, 'find' | 'commit' | 'settings'>
  readonly #pass: EndedPass
  readonly #spares: (job: Job) => boolean

  constructor(store: Pick<Store, 'find' | 'commit' | 'settings'>, ended: Ended, spares: (job: Job) => boolean) {
    this.#store = store
    this.#pass = new EndedPass(store, ended)
    this.#spares = spares
  }

  get isAtItsEnd(): boolean {
    return this.#pass.isAtItsEnd
  }

  /** Answers how many it has removed. */
  round(now: Time, signal: AbortSignal): Promise<number> {
    return this.#pass.round(now, signal, (jobs) => this.#remove(jobs))
  }

  async #remove(jobs: readonly Job[]): Promise<number> {
    const gone = jobs.filter((job) => !this.#spares(job))
    await notePurged(this.#store, gone)
    const changes = gone.map((before): Change => ({ kind: 'purge', before }))
    const { verdicts } = changes.length === 0 ? { verdicts: [] } : await this.#store.commit(changes)
    return verdicts.filter(({ status }) => status === 'applied').length
  }
}
