/**
 * Whether somebody looks at what has come due. Where many processes may have a store, the one that looks leaves a notch in it; where one has,
 * its own rounds say so. A process that has no ticker, on a store without notches, cannot know.
 */
import type { Clock } from '../system/clock.ts'
import { type Notch, TAKEN_OVER_ROUNDS } from './duty.ts'

export interface UpkeepParts {
  readonly clock: Pick<Clock, 'monotonicMs'>
  /** How often it is looked, by this process's own options. */
  readonly everyMs: number
  /** What was left in the store. Absent: there are no notches. */
  readonly lastNotch: (() => Promise<Pick<Notch, 'now' | 'at'>>) | undefined
  /** This process looks. */
  readonly hasTicker: boolean
}

/** A process that dies is followed by another within seven rounds and a half second; a store that is busy may take longer. */
const LATE_LEAST_MS = 30_000

export class Upkeep {
  readonly #parts: UpkeepParts
  readonly #openedMs: number
  #lookedMs: number

  constructor(parts: UpkeepParts) {
    this.#parts = parts
    this.#openedMs = parts.clock.monotonicMs()
    this.#lookedMs = this.#openedMs
  }

  /** This process has looked. */
  looked(): void {
    this.#lookedMs = this.#parts.clock.monotonicMs()
  }

  /** For how long nobody has looked, where that is too long; 0 where it is not, undefined where nobody can say. */
  async lateMs(): Promise<number | undefined> {
    const { clock, everyMs, lastNotch, hasTicker } = this.#parts
    if (lastNotch === undefined && !hasTicker) return undefined
    const now = clock.monotonicMs()
    const agoMs = lastNotch === undefined ? now - this.#lookedMs : await agoOf(lastNotch)
    // Of what was before this process came it knows nothing: it may be the first for days.
    const unseenMs = Math.min(agoMs, now - this.#openedMs)
    return unseenMs < Math.max(LATE_LEAST_MS, 2 * TAKEN_OVER_ROUNDS * everyMs) ? 0 : unseenMs
  }
}

const agoOf = async (lastNotch: () => Promise<Pick<Notch, 'now' | 'at'>>): Promise<number> => {
  const { now, at } = await lastNotch()
  return Math.max(0, now - at)
}
