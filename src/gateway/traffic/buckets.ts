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

/** Names of users' own in one bucket: a window has up to 180, and each of them is summed up whenever somebody looks. */
const NAMES_MOST = 60

interface Own {
  readonly at: number
  readonly counts: Map<string, number>
  /** How many of the names are users' own. */
  made: number
}

/** A bucket as it is written down: when it begins, and its counts by name. */
export type PackedBucket = readonly [at: number, counts: Readonly<Record<string, number>>]
export type PackedBuckets = Readonly<Record<WindowName, readonly PackedBucket[]>>

export class Buckets {
  /** Per window, oldest first; only those in which something was. */
  readonly #kept: Readonly<Record<WindowName, Own[]>> = { '15m': [], '1h': [], '24h': [], '7d': [] }

  /** As they were written down. Which names are users' own: `isMadeUp`. */
  static from(packed: PackedBuckets, isMadeUp: (name: string) => boolean): Buckets {
    const buckets = new Buckets()
    for (const window of WINDOW_NAMES)
      for (const [at, counts] of packed[window].slice(-WINDOWS[window].steps)) {
        const names = Object.entries(counts)
        const made = names.filter(([name]) => isMadeUp(name)).length
        buckets.#kept[window].push({ at, counts: new Map(names), made })
      }
    return buckets
  }

  /** To be written down. `named`: what a name is written as, where names that are too long in all are put together. */
  packed(named: (name: string) => string = (name) => name): PackedBuckets {
    const packed = (window: WindowName) =>
      this.#kept[window].map(({ at, counts }): PackedBucket => {
        const summed: Record<string, number> = Object.create(null)
        for (const [name, count] of counts) summed[named(name)] = (summed[named(name)] ?? 0) + count
        return [at, summed]
      })
    return { '15m': packed('15m'), '1h': packed('1h'), '24h': packed('24h'), '7d': packed('7d') }
  }

  /** Of a name that is one of few. */
  add(at: number, name: string, count: number): void {
    for (const window of WINDOW_NAMES) increase(this.#bucket(window, at), name, count)
  }

  /** Of a name that users make up: without end, if they like. Beyond so many they are counted as `other`. */
  addMadeUp(at: number, name: string, count: number, other: string): void {
    for (const window of WINDOW_NAMES) {
      const bucket = this.#bucket(window, at)
      const isNew = !bucket.counts.has(name)
      const isBeyond = isNew && bucket.made >= NAMES_MOST
      if (isNew && !isBeyond) bucket.made += 1
      increase(bucket, isBeyond ? other : name, count)
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
    const bucket: Own = { at, counts: new Map(), made: 0 }
    kept.push(bucket)
    if (kept.length > steps + 1) kept.shift()
    assert(kept.length <= steps + 1, 'a window has a bucket per step, and the one that is being filled')
    return bucket
  }
}

const increase = ({ counts }: Own, name: string, count: number): void =>
  void counts.set(name, (counts.get(name) ?? 0) + count)

/** The finest that reaches back to a moment. */
export const finestSince = (since: number, now: number): WindowName =>
  WINDOW_NAMES.find((window) => windowFrom(window, now) <= since) ?? '7d'

/** When the first whole step of the window begins. */
export const windowFrom = (window: WindowName, now: number): number => {
  const { stepMs, steps } = WINDOWS[window]
  return floor(now, stepMs) - (steps - 1) * stepMs
}

const floor = (at: number, step: number): number => at - (at % step)
