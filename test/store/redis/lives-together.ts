/** Several lives at once, on one store or several, and what a test does to them meanwhile. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Store } from '../../../src/store/store.ts'
import { expectTold } from './expect-told.ts'
import { live, liveOn } from './life.ts'
import { type Told, toldNothing } from './told.ts'

export interface Lives {
  readonly told: Told
  /** Until so many more jobs have ended. */
  worked(count: number): Promise<void>
  /** They come to their ends, and so do all jobs. */
  over(): Promise<void>
  /** What they were told is so, whichever store is asked. */
  expectTold(): Promise<void>
}

export function startLives(stores: readonly Store[], onEach: number): Lives {
  const told = toldNothing()
  const over = new AbortController()
  const all = stores.flatMap((store) => Array.from({ length: onEach }, () => live(store, told, over.signal)))
  const ended = Promise.all(all)
  ended.catch(() => over.abort())
  return {
    told,
    async worked(count) {
      const before = told.ended.size
      while (told.ended.size < before + count && !over.signal.aborted) await pause(2)
      if (over.signal.aborted) await ended
    },
    async over() {
      over.abort()
      await ended
      for (const store of stores.slice(0, 1)) await liveOn(store, told)
    },
    async expectTold() {
      for (const store of stores) await expectTold(store, told)
    },
  }
}
