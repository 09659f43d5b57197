/**
 * The last stretch of the feed, kept for all who follow it: whoever is within it reads nothing by itself. What falls
 * out at the front is read from the store by whoever is still there.
 *
 * Invariant: everything behind `#base` that has been read is in `#entries`, in order.
 */
import { comparePositions, type FeedItem } from '../../store/store.ts'

export interface FeedEntry<Told> {
  readonly item: FeedItem
  /** What is told of it, made for whoever wants it first. */
  told: Promise<Told> | undefined
}

const MOST_ENTRIES = 1_000

export class FeedWindow<Told> {
  #base: string
  readonly #entries: FeedEntry<Told>[] = []

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
