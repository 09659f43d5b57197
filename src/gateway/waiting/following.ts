/** One who follows the reader of the feed: out of its window while it keeps up, page by page from the store if not. */
import type { Event } from '../../core/event.ts'
import type { JobId } from '../../core/job.ts'
import type { Engine } from '../../engine/engine.ts'
import type { FeedItem } from '../../store/store.ts'
import type { Bell } from './bell.ts'
import type { FeedEntry, FeedWindow } from './feed-window.ts'

export interface FollowingOptions<Told extends Long> {
  readonly window: FeedWindow<Told>
  readonly engine: Pick<Engine, 'events'>
  readonly tell: (item: FeedItem, event: Event | undefined) => Told
  /** Rings when the window has grown. */
  readonly grown: Bell
  readonly leave: () => void
}

/** What is told has a length, by which it is kept. */
export interface Long {
  readonly length: number
}

/** Of one job, read in one go. */
const EVENTS_MOST = 1_000

export class Following<Told extends Long> implements Disposable {
  readonly #options: FollowingOptions<Told>
  #left = false

  constructor(options: FollowingOptions<Told>) {
    this.#options = options
  }

  /** Where everything that comes from now on comes after. */
  get head(): string {
    return this.#options.window.head
  }

  /** Until there may be more, `ms` have passed, or `signal` aborts. */
  next(ms: number, signal: AbortSignal): Promise<void> {
    return this.#options.grown.next(ms, signal)
  }

  /** What comes after a position; undefined where the reader is ahead by more than it keeps. */
  after(position: string, limit: number): readonly FeedEntry<Told>[] | undefined {
    return this.#options.window.after(position, limit)
  }

  /** The same for one who has fallen behind; kept by nobody. */
  async page(position: string, limit: number): Promise<readonly FeedEntry<Told>[]> {
    const { feed } = await this.#options.engine.events({ by: 'feed', after: position, limit })
    return feed.map((item) => ({ item, told: undefined }))
  }

  /** What is told of these; each event is read once, whoever else wants it. */
  async told(entries: readonly FeedEntry<Told>[]): Promise<readonly Told[]> {
    const missing = Map.groupBy(
      entries.filter(({ told }) => told === undefined),
      ({ item }) => item.jobId,
    )
    for (const [jobId, wanted] of missing) {
      const read = this.#eventsOf(
        jobId,
        wanted.map(({ item }) => item.rev),
      )
      for (const entry of wanted) entry.told = this.#tellOne(entry, read)
    }
    return (await Promise.all(entries.map(({ told }) => told))) as readonly Told[]
  }

  [Symbol.dispose](): void {
    if (!this.#left) this.#options.leave()
    this.#left = true
  }

  async #tellOne(entry: FeedEntry<Told>, read: Promise<ReadonlyMap<number, Event>>): Promise<Told> {
    try {
      const told = this.#options.tell(entry.item, (await read).get(entry.item.rev))
      this.#options.window.weigh(entry, told.length)
      return told
    } catch (error) {
      // Whoever wants it next may have more luck.
      entry.told = undefined
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
