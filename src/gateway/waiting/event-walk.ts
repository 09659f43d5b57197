/** What an event stream is made of: a walk over the feed from a position, so it can be resumed anywhere. */
import type { FeedEntry } from './feed-window.ts'
import type { Following, Long } from './following.ts'
import type { Source } from './sse.ts'

export interface WalkOptions<Frames extends Long> {
  readonly following: Following<Frames>
  /** The position to begin behind. */
  readonly position: string
  /** The same as its consumer knows it: who is cut off before the first event goes on from here. */
  readonly opening: string
  readonly wants: (entry: FeedEntry<Frames>) => boolean
  /** The frame; empty where, on a closer look, it is not wanted. */
  readonly frame: (frames: Frames) => string
  /** For reads that only this consumer needs. */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T>
  /**
   * Resolves when so much may be told. A tenant tells all its streams what a single word of its own brought about: with 800 streams
   * that was 100 MB a second, and heartbeats of others took 240 ms.
   */
  readonly paced: (letters: number) => Promise<void>
}

const PAGE = 200
/** Events that are read together: how long they are is known afterwards, and a piece may have room for one. */
const READ_AT_ONCE = 20
/** A piece ends with the frame that makes it as long as this. */
const PIECE_LENGTH = 64 * 1024

export class EventWalk<Frames extends Long> implements Source {
  readonly #options: WalkOptions<Frames>
  readonly opening: string
  #position: string

  constructor(options: WalkOptions<Frames>) {
    this.#options = options
    this.opening = options.opening
    this.#position = options.position
  }

  /** Moves on behind what it has made frames of; a stretch without anything for this consumer moves it on as well. */
  async frames(): Promise<string | undefined> {
    const text = await this.#frames()
    if (text !== undefined && text !== '') await this.#options.paced(text.length)
    return text
  }

  async #frames(): Promise<string | undefined> {
    const { following, wants, frame, inTurn } = this.#options
    const entries = following.after(this.#position, PAGE) ?? (await inTurn(() => following.page(this.#position, PAGE)))
    const last = entries.at(-1)
    if (last === undefined) return undefined
    const wanted = entries.filter(wants)
    let text = ''
    for (let from = 0; from < wanted.length; from += READ_AT_ONCE) {
      const some = wanted.slice(from, from + READ_AT_ONCE)
      for (const [i, frames] of (await following.frames(some)).entries()) {
        text += frame(frames)
        if (text.length < PIECE_LENGTH) continue
        this.#position = (some[i] as FeedEntry<Frames>).item.position
        return text
      }
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
