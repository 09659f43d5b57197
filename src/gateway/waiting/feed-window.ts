/**
 * The last stretch of the feed, kept for all who follow it: whoever is within it reads nothing by itself. What falls
 * out at the front is read from the store by whoever is still there. What is told of its entries is kept up to a length,
 * the latest: an event may be a thousand times as long as another, and a thousand of the longest would be all the memory there is.
 *
 * Invariant: everything behind `#base` that has been read is in `#entries`, in order; `#letters` is the length of `#told`.
 */
import { comparePositions } from '../../store/compare-positions.ts'
import type { FeedItem } from '../../store/store.ts'

export interface FeedEntry<Told> {
  readonly item: FeedItem
  /** What is told of it, made for whoever wants it first. */
  told: Promise<Told> | undefined
}

const MOST_ENTRIES = 1_000
const MOST_LETTERS = 4 * 1024 * 1024

export class FeedWindow<Told> {
  #base: string
  readonly #entries: FeedEntry<Told>[] = []
  /** Those of which something is told, with its length, in the order in which that was made. */
  readonly #told = new Map<FeedEntry<Told>, number>()
  #letters = 0

  /** `end`: the position that everything comes after. */
  constructor(end: string) {
    this.#base = end
  }

  /** The position reached. */
  get head(): string {
    return this.#entries.at(-1)?.item.position ?? this.#base
  }

  push(items: readonly FeedItem[]): void {
    for (const item of items) this.#entries.push({ item, told: undefined })
    const fallen = this.#entries.splice(0, Math.max(0, this.#entries.length - MOST_ENTRIES))
    this.#base = fallen.at(-1)?.item.position ?? this.#base
    for (const entry of fallen) this.#forget(entry)
  }

  /** So long is what is told of it. Whoever wants what was told first, and is dropped for that, has it made again. */
  weigh(entry: FeedEntry<Told>, letters: number): void {
    // One that was read by somebody who has fallen behind, or has fallen out meanwhile, is nobody's but theirs.
    if (comparePositions(entry.item.position, this.#base) <= 0 || entry.told === undefined) return
    this.#forget(entry)
    this.#told.set(entry, letters)
    this.#letters += letters
    for (const oldest of this.#told.keys()) {
      if (this.#letters <= MOST_LETTERS) break
      this.#forget(oldest)
      oldest.told = undefined
    }
  }

  #forget(entry: FeedEntry<Told>): void {
    this.#letters -= this.#told.get(entry) ?? 0
    this.#told.delete(entry)
  }

  /**
   * What comes after a position, at most `limit`; undefined where that lies before the window, as the beginning of all
   * (`''`) always does.
   */
  after(position: string, limit: number): readonly FeedEntry<Told>[] | undefined {
    if (position === '' || comparePositions(position, this.#base) < 0) return undefined
    let from = 0
    let to = this.#entries.length
    while (from < to) {
      const middle = (from + to) >> 1
      const { item } = this.#entries[middle] as FeedEntry<Told>
      if (comparePositions(item.position, position) > 0) to = middle
      else from = middle + 1
    }
    return this.#entries.slice(from, from + limit)
  }
}
