/**
 * Expensive reads, a few at a time, whoever asks: a store that reads for one caller is not there for the heartbeats of
 * all others. Who has to wait waits in the line of its own token, and the lines take turns, so that a token with many
 * readers is slow to itself.
 */
import type { Allowance, Share } from './allowance.ts'
import type { Caps } from './caps.ts'
import { Objected, objection } from './problem.ts'

interface Line {
  readonly token: string
  readonly waiting: (() => void)[]
}

export class Turns {
  readonly #caps: Caps
  readonly #allowance: Allowance
  /** Lines with somebody in them, the one whose turn it is first. */
  readonly #lines = new Map<string, Line>()
  #reading = 0

  constructor(caps: Caps, allowance: Allowance) {
    this.#caps = caps
    this.#allowance = allowance
  }

  /** Objects where the token's line is full. Nothing is read for whoever is gone when its turn comes. */
  async read<T>(token: string, signal: AbortSignal, read: () => Promise<T>): Promise<T> {
    using _place: Share = this.#allowance.share(token, 1)
    await this.#turn(token)
    try {
      if (signal.aborted) throw new Objected(objection('UNAVAILABLE', 'Nobody waits for the answer any more.'))
      return await read()
    } finally {
      this.#reading -= 1
      this.#next()
    }
  }

  async #turn(token: string): Promise<void> {
    if (this.#reading < this.#caps.reads) {
      this.#reading += 1
      return
    }
    const line = this.#lines.get(token) ?? { token, waiting: [] }
    this.#lines.set(token, line)
    await new Promise<void>((resolve) => line.waiting.push(resolve))
  }

  #next(): void {
    const [line] = this.#lines.values()
    if (line === undefined || this.#reading >= this.#caps.reads) return
    const go = line.waiting.shift()
    this.#lines.delete(line.token)
    if (line.waiting.length > 0) this.#lines.set(line.token, line)
    this.#reading += 1
    go?.()
  }
}
