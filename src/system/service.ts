import { Complaint } from './complaint.ts'
import type { Log } from './log.ts'
import type { Timers } from './timers.ts'

/**
 * A loop with a life. Modes: idle (nothing runs), running (exactly one `runOnce` at a time, a pause after each),
 * stopping (no new round begins; `stop` resolves when the round under way has ended). `start` and `stop` may be
 * called in any order and any number of times. A round that throws is logged, once for a row of the same kind, and does not
 * end the loop.
 */
export interface Service extends AsyncDisposable {
  start(): void
  stop(): Promise<void>
  /** One round, now. Tests call this instead of waiting for the loop. */
  runOnce(): Promise<void>
  /** Cuts the pause under way short: something has happened. */
  wake(): void
}

export interface ServiceOptions {
  readonly name: string
  /** The pause after a round; or what the round answers, where it knows better. */
  readonly everyMs: number
  readonly timers: Timers
  readonly log: Log
  /** One round. May answer with the pause to make after it, in milliseconds. */
  readonly round: (signal: AbortSignal) => Promise<number | void>
}

export function service(options: ServiceOptions): Service {
  return new Loop(options)
}

class Loop implements Service {
  readonly #options: ServiceOptions
  /** Present exactly while running: aborts when asked to stop. */
  #stopping: AbortController | undefined
  /** Present exactly while a loop has not ended. */
  #ended: Promise<void> | undefined
  readonly #complaint = new Complaint()
  /** Aborts the pause under way. */
  #pause = new AbortController()

  constructor(options: ServiceOptions) {
    this.#options = options
  }

  start(): void {
    if (this.#stopping !== undefined) return
    const stopping = new AbortController()
    this.#stopping = stopping
    const before = this.#ended ?? Promise.resolve()
    this.#ended = before.then(() => this.#loop(stopping.signal))
  }

  async stop(): Promise<void> {
    this.#stopping?.abort()
    this.#stopping = undefined
    this.wake()
    await this.#ended
  }

  async runOnce(): Promise<void> {
    await this.#options.round(this.#stopping?.signal ?? new AbortController().signal)
  }

  wake(): void {
    this.#pause.abort()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async #loop(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // Armed before the round: a wake-up during it cuts the pause after it.
      this.#pause = new AbortController()
      const pauseMs = await this.#round(signal)
      if (!signal.aborted) await this.#options.timers.sleep(pauseMs, this.#pause.signal)
    }
  }

  async #round(signal: AbortSignal): Promise<number> {
    const { name, log, everyMs } = this.#options
    try {
      const pauseMs = await this.#options.round(signal)
      this.#complaint.over()
      return pauseMs ?? everyMs
    } catch (error) {
      this.#complaint.about(error, (reason) => log.error('round failed', { service: name, reason }))
      return everyMs
    }
  }
}
