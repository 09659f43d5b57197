/**
 * The last stretch of the feed, kept for all who follow it: a stream within it reads nothing by itself. What falls
 * out at the front is read from the store by streams that are still there. The frames of its entries are kept up to a length,
 * the latest: an event may be a thousand times as long as another, and a thousand of the longest would be all the memory there is.
 *
 * Invariant: everything behind `#base` that has been read is in `#entries`, in order; `#letters` is the length of `#made`.
 */
import { comparePositions } from '../../store/compare-positions.ts'
import type { FeedItem } from '../../store/store.ts'

export interface FeedEntry<Frames> {
  readonly item: FeedItem
  /** Its frames, made for the first stream that wants them. */
  frames: Promise<Frames> | undefined
}

const MOST_ENTRIES = 1_000
const MOST_LETTERS = 4 * 1024 * 1024

export class FeedWindow<Frames> {
  #base: string
  readonly #entries: FeedEntry<Frames>[] = []
  /** Entries that have frames, with their length, in the order in which they were made. */
  readonly #made = new Map<FeedEntry<Frames>, number>()
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
    for (const item of items) this.#entries.push({ item, frames: undefined })
    const fallen = this.#entries.splice(0, Math.max(0, this.#entries.length - MOST_ENTRIES))
    this.#base = fallen.at(-1)?.item.position ?? this.#base
    for (const entry of fallen) this.#forget(entry)
  }

  /** So long are its frames. Where all together are too long the oldest are dropped, and made again for a stream that still wants them. */
  weigh(entry: FeedEntry<Frames>, letters: number): void {
    // An entry that is not in the window (read by a stream that fell behind, or fallen out meanwhile) is not kept here.
    if (comparePositions(entry.item.position, this.#base) <= 0 || entry.frames === undefined) return
    this.#forget(entry)
    this.#made.set(entry, letters)
    this.#letters += letters
    for (const oldest of this.#made.keys()) {
      if (this.#letters <= MOST_LETTERS) break
      this.#forget(oldest)
      oldest.frames = undefined
    }
  }

  #forget(entry: FeedEntry<Frames>): void {
    this.#letters -= this.#made.get(entry) ?? 0
    this.#made.delete(entry)
  }

  /**
   * What comes after a position, at most `limit`; undefined where that lies before the window, as the beginning of all
   * (`''`) always does.
   */
  after(position: string, limit: number): readonly FeedEntry<Frames>[] | undefined {
    if (position === '' || comparePositions(position, this.#base) < 0) return undefined
    let from = 0
    let to = this.#entries.length
    while (from < to) {
      const middle = (from + to) >> 1
      const { item } = this.#entries[middle] as FeedEntry<Frames>
      if (comparePositions(item.position, position) > 0) to = middle
      else from = middle + 1
    }
    return this.#entries.slice(from, from + limit)
  }
}
