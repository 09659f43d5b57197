/** What an event stream is made of: a walk over the feed from a position, so it can be resumed anywhere. */
import type { FeedEntry } from './feed-window.ts'
import type { Following } from './following.ts'
import type { Source } from './sse.ts'

export interface WalkOptions<Told> {
  readonly following: Following<Told>
  /** Where to begin. */
  readonly position: string
  readonly wants: (entry: FeedEntry<Told>) => boolean
  /** The frame; empty where, on a closer look, it is not wanted. */
  readonly frame: (told: Told) => string
  /** For reads that only this consumer needs. */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T>
}

const PAGE = 200
/** A piece ends with the frame that makes it as long as this. */
const PIECE_LENGTH = 64 * 1024

export class EventWalk<Told> implements Source {
  readonly #options: WalkOptions<Told>
  #position: string

  constructor(options: WalkOptions<Told>) {
    this.#options = options
    this.#position = options.position
  }

  /** Moves on behind what it has made frames of; a stretch without anything for this consumer moves it on as well. */
  async frames(): Promise<string | undefined> {
    const { following, wants, frame, inTurn } = this.#options
    const entries = following.after(this.#position, PAGE) ?? (await inTurn(() => following.page(this.#position, PAGE)))
    const last = entries.at(-1)
    if (last === undefined) return undefined
    const wanted = entries.filter(wants)
    const told = await following.told(wanted)
    let text = ''
    for (const [i, each] of told.entries()) {
      text += frame(each)
      if (text.length < PIECE_LENGTH) continue
      this.#position = (wanted[i] as FeedEntry<Told>).item.position
      return text
    }
    this.#position = last.item.position
    return text
  }

  next(ms: number, signal: AbortSignal): Promise<void> {
    return this.#options.following.next(ms, signal)
  }

  [Symbol.dispose](): void {
    this.#options.following[Symbol.dispose]()
  }
}
