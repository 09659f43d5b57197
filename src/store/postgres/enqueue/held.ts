/**
 * Enqueues that want a key which a transaction of somebody's holds that has not ended: whether they are first is decided
 * when it ends. They wait here, beside everybody else, and are asked for again together, in a statement that waits for
 * nobody: one key that a transaction holds for seconds must not delay jobs that want another.
 */
import type { Timers } from '../../../system/timers.ts'
import type { NewJob } from '../../store.ts'
import { Batcher } from '../batch/batcher.ts'
import { BUSY, type InsertVerdict, isBusy } from './insert-verdict.ts'

export interface HeldParts {
  readonly ask: (items: readonly NewJob[]) => Promise<readonly InsertVerdict[]>
  readonly sizeOf: (item: NewJob) => number
  readonly timers: Timers
}

/** Pauses between two questions: doubled each time. All of them together are 5 s; then they are told that it is busy. */
const FIRST_PAUSE_MS = 10
const LONGEST_PAUSE_MS = 100
const TRIES = 53
/** Jobs asked for again in one statement: each may take a millisecond to be found held. */
const AT_A_TIME = 100

export class Held {
  readonly #timers: Timers
  readonly #batcher: Batcher<NewJob, InsertVerdict>
  readonly #closing = new AbortController()

  constructor({ ask, sizeOf, timers }: HeldParts) {
    this.#timers = timers
    this.#batcher = new Batcher({ run: ask, sizeOf, maxItems: AT_A_TIME })
  }

  /** The verdicts on those that were busy, in their order, which is kept: the first of two that want one key is first. */
  async decided(items: readonly NewJob[]): Promise<readonly InsertVerdict[]> {
    const verdicts: InsertVerdict[] = items.map(() => BUSY)
    const ask = async () => {
      const places = [...verdicts.keys()].filter((place) => isBusy(verdicts[place]))
      const answers = await this.#batcher.add(places.map((place) => items[place] as NewJob))
      for (const [i, place] of places.entries()) verdicts[place] = answers[i]
      return !verdicts.some(isBusy)
    }
    await this.repeated(ask)
    return verdicts
  }

  /** Calls `ask` until it answers true, in growing pauses, for as long as another's transaction is waited for. */
  async repeated(ask: () => Promise<boolean>): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS
    for (let tries = 0; tries < TRIES; tries += 1) {
      await this.#timers.sleep(pauseMs, this.#closing.signal)
      if (this.#closing.signal.aborted) throw new Error('pawl: the store is closed')
      if (await ask()) return
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)
    }
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#batcher.close()
  }
}
