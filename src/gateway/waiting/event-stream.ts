/**
 * Server-Sent Events: a walk over the feed from a position, so it can be resumed anywhere. The server keeps nothing for
 * a consumer but the piece it is sending, and a consumer that does not take it within a bounded time is cut off.
 *
 * Modes: asked (the consumer has taken everything: the next piece is being found) and sending (a piece is on its way:
 * the time to take it runs). It ends when the consumer goes, when its token is not good any more, when it was too slow
 * or when the store fails; the consumer comes back and goes on where it was.
 */
import type { Clock } from '../../system/clock.ts'
import type { Timers } from '../../system/timers.ts'
import type { FeedEntry } from './feed-window.ts'
import type { Following } from './following.ts'

export interface StreamOptions<Told> {
  readonly following: Following<Told>
  /** Where to begin. */
  readonly position: string
  readonly wants: (entry: FeedEntry<Told>) => boolean
  /** The frame; empty where, on a closer look, it is not wanted. */
  readonly frame: (told: Told) => string
  /** For reads that only this consumer needs. */
  readonly inTurn: <T>(read: () => Promise<T>) => Promise<T>
  /** Objects where the token is not good any more. */
  readonly stillWelcome: () => Promise<void>
  /** Aborts when the consumer has gone. */
  readonly signal: AbortSignal
  /** Drops the connection, whatever is still on its way. */
  readonly hangUp: () => void
  readonly ended: () => void
  readonly clock: Clock
  readonly timers: Timers
}

const PAGE = 200
/** A piece ends with the frame that makes it as long as this. */
const PIECE_LENGTH = 64 * 1024
const LOOK_EVERY_MS = 1_000
const COMMENT_EVERY_MS = 15_000
/** A piece that is not taken within this time ends the stream. */
const TAKE_WITHIN_MS = 30_000

export function eventStream<Told>(options: StreamOptions<Told>): ReadableStream<Uint8Array> {
  const stream = new EventStream(options)
  return new ReadableStream({ pull: (to) => stream.pull(to), cancel: () => stream.end() }, { highWaterMark: 1 })
}

class EventStream<Told> {
  readonly #options: StreamOptions<Told>
  readonly #gone = new AbortController()
  readonly #encoder = new TextEncoder()
  #position: string
  #begun = false
  #ended = false
  #spokenAt: number
  #welcomedAt: number
  /** Runs exactly while sending. */
  #taking: Disposable | undefined

  constructor(options: StreamOptions<Told>) {
    this.#options = options
    this.#position = options.position
    this.#spokenAt = options.clock.monotonicMs()
    this.#welcomedAt = this.#spokenAt
    options.signal.addEventListener('abort', () => this.end())
    if (options.signal.aborted) this.end()
  }

  /** The consumer has taken what was sent. */
  async pull(to: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    this.#taking?.[Symbol.dispose]()
    const piece = await this.#piece().catch(() => undefined)
    if (piece === undefined || this.#ended) {
      this.end()
      to.close()
      return
    }
    to.enqueue(this.#encoder.encode(piece))
    this.#spokenAt = this.#options.clock.monotonicMs()
    this.#taking = this.#options.timers.after(TAKE_WITHIN_MS, () => {
      // An end would wait behind what nobody takes, and the connection with it.
      this.end()
      this.#options.hangUp()
    })
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#gone.abort()
    this.#taking?.[Symbol.dispose]()
    this.#options.following[Symbol.dispose]()
    this.#options.ended()
  }

  /** The next that is to be said; undefined where there is nobody to say it to. */
  async #piece(): Promise<string | undefined> {
    const { following, inTurn, clock } = this.#options
    if (!this.#begun) {
      this.#begun = true
      return 'retry: 1000\n\n'
    }
    while (!this.#ended) {
      await this.#welcomed()
      const entries =
        following.after(this.#position, PAGE) ?? (await inTurn(() => following.page(this.#position, PAGE)))
      const text = await this.#framesOf(entries)
      if (text !== '') return text
      if (entries.length > 0) continue
      if (clock.monotonicMs() - this.#spokenAt >= COMMENT_EVERY_MS) return ': still here\n\n'
      await following.next(LOOK_EVERY_MS, this.#gone.signal)
    }
    return undefined
  }

  /** Moves on behind what it has made frames of; a stretch without anything for this consumer moves it on as well. */
  async #framesOf(entries: readonly FeedEntry<Told>[]): Promise<string> {
    const { following, wants, frame } = this.#options
    const wanted = entries.filter(wants)
    const told = await following.told(wanted)
    let text = ''
    for (const [i, each] of told.entries()) {
      text += frame(each)
      if (text.length < PIECE_LENGTH) continue
      this.#position = (wanted[i] as FeedEntry<Told>).item.position
      return text
    }
    this.#position = entries.at(-1)?.item.position ?? this.#position
    return text
  }

  async #welcomed(): Promise<void> {
    const now = this.#options.clock.monotonicMs()
    if (now - this.#welcomedAt < LOOK_EVERY_MS) return
    await this.#options.stillWelcome()
    this.#welcomedAt = now
  }
}
