/**
 * Group commit. Words leave in the order they came, whatever has gathered since the last call in one call, one call
 * at a time: a busy worker pays one commit for many jobs, an idle one waits for nobody. A call that fails is repeated
 * whole until it succeeds or nobody wants it any more; every word has a request id, so repeating is harmless.
 */
import type { Answer, Engine, Word } from '../engine/engine.ts'
import type { Log } from '../system/log.ts'
import type { Timers } from '../system/timers.ts'

/** Who hears the answer. An object rather than a function: a closure per job would show in a drain. */
export interface Sender {
  answered(word: Word, answer: Answer): void
}

export interface OutboxOptions {
  readonly engine: Pick<Engine, 'settle'>
  readonly timers: Timers
  readonly log: Log
}

const BATCH = 500
const FIRST_PAUSE_MS = 20
const LONGEST_PAUSE_MS = 1_000

export class Outbox {
  readonly #options: OutboxOptions
  #words: Word[] = []
  #senders: Sender[] = []
  /** A flush is scheduled or under way. */
  #busy = false
  #idle: (() => void)[] = []
  #closing = new AbortController()

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  /** Words not answered yet, those under way not counted. */
  get backlog(): number {
    return this.#words.length
  }

  post(word: Word, sender: Sender): void {
    this.#words.push(word)
    this.#senders.push(sender)
    if (this.#busy) return
    this.#busy = true
    // Not at once: handlers that end together are settled together.
    queueMicrotask(() => void this.#flush())
  }

  /** Resolves when every word has been answered. */
  idle(): Promise<void> {
    return this.#busy ? new Promise((resolve) => this.#idle.push(resolve)) : Promise.resolve()
  }

  /** From now on a call that fails is not repeated. */
  close(): void {
    this.#closing.abort()
  }

  async #flush(): Promise<void> {
    while (this.#words.length > 0) {
      const words = this.#words.length > BATCH ? this.#words.splice(0, BATCH) : this.#words
      const senders = this.#senders.length > BATCH ? this.#senders.splice(0, BATCH) : this.#senders
      if (words === this.#words) {
        this.#words = []
        this.#senders = []
      }
      const answers = await this.#settle(words)
      for (let i = 0; i < words.length; i += 1) {
        const answer = answers?.[i]
        if (answer !== undefined) (senders[i] as Sender).answered(words[i] as Word, answer)
      }
    }
    this.#busy = false
    const waiting = this.#idle
    this.#idle = []
    for (const resolve of waiting) resolve()
  }

  async #settle(words: readonly Word[]): Promise<readonly Answer[] | undefined> {
    const { engine, timers, log } = this.#options
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      try {
        return await engine.settle(words)
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error)
        log.warn('outcomes could not be written', { words: words.length, reason })
      }
      if (this.#closing.signal.aborted) return undefined
      await timers.sleep(pauseMs, this.#closing.signal)
    }
  }
}
