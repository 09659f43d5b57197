/** A stream that follows the reader of the feed: out of its window while it keeps up, page by page from the store if not. */
import type { Event } from '../../core/event.ts'
import type { JobId } from '../../core/job.ts'
import type { Engine } from '../../engine/engine.ts'
import type { FeedItem } from '../../store/store.ts'
import type { Bell } from './bell.ts'
import type { FeedEntry, FeedWindow } from './feed-window.ts'

export interface FollowingOptions<Frames extends Long> {
  readonly window: FeedWindow<Frames>
  readonly engine: Pick<Engine, 'events'>
  readonly framesOf: (item: FeedItem, event: Event | undefined) => Frames
  /** Rings when the window has grown. */
  readonly grown: Bell
  readonly leave: () => void
}

/** Frames have a length, by which they are kept. */
export interface Long {
  readonly length: number
}

/** Events of one job that are read in one go. */
const EVENTS_MOST = 1_000

export class Following<Frames extends Long> implements Disposable {
  readonly #options: FollowingOptions<Frames>
  #left = false

  constructor(options: FollowingOptions<Frames>) {
    this.#options = options
  }

  /** The position behind which everything comes from now on. */
  get head(): string {
    return this.#options.window.head
  }

  /** Resolves when there may be more, `ms` have passed, or `signal` aborts. */
  next(ms: number, signal: AbortSignal): Promise<void> {
    return this.#options.grown.next(ms, signal)
  }

  /** Entries after a position; undefined where the window does not reach back so far. */
  after(position: string, limit: number): readonly FeedEntry<Frames>[] | undefined {
    return this.#options.window.after(position, limit)
  }

  /** Entries after a position out of the store, for a stream that has fallen behind; not kept. */
  async page(position: string, limit: number): Promise<readonly FeedEntry<Frames>[]> {
    const { feed } = await this.#options.engine.events({ by: 'feed', after: position, limit })
    return feed.map((item) => ({ item, frames: undefined }))
  }

  /** The frames of these; each event is read once, however many streams want it. */
  async frames(entries: readonly FeedEntry<Frames>[]): Promise<readonly Frames[]> {
    const missing = Map.groupBy(
      entries.filter(({ frames }) => frames === undefined),
      ({ item }) => item.jobId,
    )
    for (const [jobId, wanted] of missing) {
      const read = this.#eventsOf(
        jobId,
        wanted.map(({ item }) => item.rev),
      )
      for (const entry of wanted) entry.frames = this.#framesOf(entry, read)
    }
    return (await Promise.all(entries.map(({ frames }) => frames))) as readonly Frames[]
  }

  [Symbol.dispose](): void {
    if (!this.#left) this.#options.leave()
    this.#left = true
  }

  async #framesOf(entry: FeedEntry<Frames>, read: Promise<ReadonlyMap<number, Event>>): Promise<Frames> {
    try {
      const frames = this.#options.framesOf(entry.item, (await read).get(entry.item.rev))
      this.#options.window.weigh(entry, frames.length)
      return frames
    } catch (error) {
      // The next stream that wants them reads again.
      entry.frames = undefined
      throw error
    }
  }

  async #eventsOf(id: JobId, revs: readonly number[]): Promise<ReadonlyMap<number, Event>> {
    const first = Math.min(...revs)
    const limit = Math.min(EVENTS_MOST, Math.max(...revs) - first + 1)
    const { events } = await this.#options.engine.events({ by: 'job', id, afterRev: first - 1, limit })
    return new Map(events.map((event) => [event.rev, event]))
  }
}
