/** Counts under names, by time: fine for what has just been, coarse for what was long ago, and nothing beyond that. */
import { assert } from '../../core/assert.ts'

/** So many buckets of so many milliseconds: what a window is drawn from. */
export const WINDOWS = {
  '15m': { stepMs: 5_000, steps: 180 },
  '1h': { stepMs: 60_000, steps: 60 },
  '24h': { stepMs: 20 * 60_000, steps: 72 },
  '7d': { stepMs: 3 * 60 * 60_000, steps: 56 },
} as const
export type WindowName = keyof typeof WINDOWS
export const WINDOW_NAMES = Object.keys(WINDOWS) as readonly WindowName[]

export interface Bucket {
  /** When it begins. */
  readonly at: number
  readonly counts: ReadonlyMap<string, number>
}

/** Names in one bucket: who makes up codes without end is counted under `other` from here on. */
const NAMES_MOST = 500
export const OTHER = 'other'

interface Own {
  readonly at: number
  readonly counts: Map<string, number>
}

export class Buckets {
  /** Per window, oldest first; only those in which something was. */
  readonly #kept: Readonly<Record<WindowName, Own[]>> = { '15m': [], '1h': [], '24h': [], '7d': [] }

  add(at: number, name: string, count: number): void {
    for (const window of WINDOW_NAMES) {
      const { counts } = this.#bucket(window, at)
      const under = counts.has(name) || counts.size < NAMES_MOST ? name : OTHER
      counts.set(under, (counts.get(under) ?? 0) + count)
    }
  }

  /** Those of the window that ends now, the empty ones among them left out. */
  within(window: WindowName, now: number): readonly Bucket[] {
    const from = windowFrom(window, now)
    return this.#kept[window].filter(({ at }) => at >= from)
  }

  #bucket(window: WindowName, when: number): Own {
    const { stepMs, steps } = WINDOWS[window]
    const kept = this.#kept[window]
    const at = floor(when, stepMs)
    const last = kept.at(-1)
    // The feed is in order but for milliseconds: what is late is counted with what is being counted.
    if (last !== undefined && last.at >= at) return last
    const bucket: Own = { at, counts: new Map() }
    kept.push(bucket)
    if (kept.length > steps + 1) kept.shift()
    assert(kept.length <= steps + 1, 'a window has a bucket per step, and the one that is being filled')
    return bucket
  }
}

/** The finest that reaches back to a moment. */
export const finestSince = (since: number, now: number): WindowName =>
  WINDOW_NAMES.find((window) => windowFrom(window, now) <= since) ?? '7d'

/** When the first whole step of the window begins. */
export const windowFrom = (window: WindowName, now: number): number => {
  const { stepMs, steps } = WINDOWS[window]
  return floor(now, stepMs) - (steps - 1) * stepMs
}

const floor = (at: number, step: number): number => at - (at % step)
