/**
 * Server-Sent Events. The server keeps nothing for a consumer but the piece it is sending, and a consumer that does not
 * take it within a bounded time is cut off.
 *
 * Modes: asked (the consumer has taken everything: the next piece is being found) and sending (a piece is on its way:
 * the time to take it runs). It ends when the consumer goes, when its token is not good any more, when it was too slow
 * or when its source fails; the consumer comes back.
 */
import type { Clock } from '../../system/clock.ts'
import type { Timers } from '../../system/timers.ts'

/** What a stream is made of. It is disposed of when the stream ends. */
export interface Source extends Disposable {
  /** Fields of the first frame: what a consumer is to know before anything has happened. */
  readonly opening?: string
  /** The next frames. Empty where it has got further without any; undefined where there is nothing more by now. */
  frames(): Promise<string | undefined>
  /** Resolves when there may be more, `ms` have passed, or `signal` aborts. */
  next(ms: number, signal: AbortSignal): Promise<void>
}

export interface StreamOptions {
  readonly source: Source
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

const LOOK_EVERY_MS = 1_000
/** A client that hears nothing for thrice as long takes the connection for dead. */
const COMMENT_EVERY_MS = 3_000
/** A piece that is not taken within this time ends the stream. */
const TAKE_WITHIN_MS = 30_000

export function serverSentEvents(options: StreamOptions): ReadableStream<Uint8Array> {
  const stream = new Stream(options)
  return new ReadableStream({ pull: (to) => stream.pull(to), cancel: () => stream.end() }, { highWaterMark: 1 })
}

class Stream {
  readonly #options: StreamOptions
  readonly #gone = new AbortController()
  readonly #encoder = new TextEncoder()
  #begun = false
  #ended = false
  #spokenAt: number
  #welcomedAt: number
  /** Runs exactly while sending. */
  #taking: Disposable | undefined

  constructor(options: StreamOptions) {
    this.#options = options
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
    this.#options.source[Symbol.dispose]()
    this.#options.ended()
  }

  /** The next that is to be said; undefined where there is nobody to say it to. */
  async #piece(): Promise<string | undefined> {
    const { source, clock } = this.#options
    if (!this.#begun) {
      this.#begun = true
      return `retry: 1000\n${source.opening ?? ''}\n`
    }
    while (!this.#ended) {
      await this.#welcomed()
      const text = await source.frames()
      if (text === '') continue
      if (text !== undefined) return text
      if (clock.monotonicMs() - this.#spokenAt >= COMMENT_EVERY_MS) return ': still here\n\n'
      await source.next(LOOK_EVERY_MS, this.#gone.signal)
    }
    return undefined
  }

  async #welcomed(): Promise<void> {
    const now = this.#options.clock.monotonicMs()
    if (now - this.#welcomedAt < LOOK_EVERY_MS) return
    await this.#options.stillWelcome()
    this.#welcomedAt = now
  }
}
