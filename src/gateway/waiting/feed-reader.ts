/**
 * The one reader of the feed in this process. Streams follow it; each has its own filter and its own position, and none
 * of them asks the store while it keeps up.
 *
 * Modes: idle (nobody follows: nothing is read, nothing kept) and following (a read at every hint, at most one at a
 * time, and one a second for hints that were lost).
 */
import type { Event } from '../../core/event.ts'
import type { Engine } from '../../engine/engine.ts'
import type { FeedItem } from '../../store/store.ts'
import type { Log } from '../../system/log.ts'
import { type Service, service } from '../../system/service.ts'
import type { Timers } from '../../system/timers.ts'
import { Bell } from './bell.ts'
import { FeedWindow } from './feed-window.ts'
import { Following, type Long } from './following.ts'

export interface ReaderOptions<Frames extends Long> {
  readonly engine: Pick<Engine, 'events'>
  readonly timers: Timers
  readonly log: Log
  /** The frames of an item, for all streams that want it. The event is missing where it has been removed since. */
  readonly framesOf: (item: FeedItem, event: Event | undefined) => Frames
}

const PAGE = 500
const LOOK_EVERY_MS = 1_000
/** After a read, this long until the next: what comes in between is read together. */
const REST_MS = 10

export class FeedReader<Frames extends Long> {
  readonly #options: ReaderOptions<Frames>
  readonly #reading: Service
  /** Present exactly while a stream follows. */
  #window: FeedWindow<Frames> | undefined
  #opening: Promise<FeedWindow<Frames>> | undefined
  #followers = 0
  readonly #grown: Bell
  /** A hint came while a read was under way or had just ended: another read follows. */
  #hinted = false

  constructor(options: ReaderOptions<Frames>) {
    this.#options = options
    const { timers, log } = options
    this.#grown = new Bell(timers)
    this.#reading = service({ name: 'feed reader', everyMs: LOOK_EVERY_MS, timers, log, round: () => this.#read() })
  }

  /** A hint came: the feed may have grown. */
  hinted(): void {
    if (this.#window === undefined) return
    this.#hinted = true
    this.#reading.wake()
  }

  /** Follows the feed from its end on, until disposed of. */
  async follow(): Promise<Following<Frames>> {
    this.#followers += 1
    try {
      const window = await this.#opened()
      const { engine, framesOf } = this.#options
      return new Following({ window, engine, framesOf, grown: this.#grown, leave: this.#leave.bind(this) })
    } catch (error) {
      this.#leave()
      throw error
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#grown.ring()
    await this.#reading[Symbol.asyncDispose]()
  }

  async #opened(): Promise<FeedWindow<Frames>> {
    if (this.#window !== undefined) return this.#window
    this.#opening ??= this.#open().finally(() => {
      this.#opening = undefined
    })
    return await this.#opening
  }

  async #open(): Promise<FeedWindow<Frames>> {
    const { cursor = '' } = await this.#options.engine.events({ by: 'feed', after: undefined, limit: 1 })
    const window = new FeedWindow<Frames>(cursor)
    this.#window = window
    this.#reading.start()
    return window
  }

  #leave(): void {
    this.#followers -= 1
    if (this.#followers > 0) return
    this.#window = undefined
    void this.#reading.stop()
  }

  async #read(): Promise<number> {
    this.#hinted = false
    const { engine, timers } = this.#options
    for (let window = this.#window; window !== undefined; window = this.#window) {
      const { feed } = await engine.events({ by: 'feed', after: window.head, limit: PAGE })
      window.push(feed)
      if (feed.length > 0) this.#grown.ring()
      if (feed.length < PAGE) break
    }
    await timers.sleep(REST_MS)
    return this.#hinted ? 0 : LOOK_EVERY_MS
  }
}
