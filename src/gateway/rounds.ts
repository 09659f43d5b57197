/**
 * The event loop, shared out: a gateway has one thread, and while one request is being understood no other is
 * heard. Requests are taken up in rounds, one turn of the loop each; in a round every token is given the same amount of
 * work, measured by how much it sent, and what is more waits in the token's own line for the next. Who sends little goes
 * on at once; who sends much is slow to itself.
 *
 * Modes: idle (no token has work to make up for: nothing is scheduled) and turning (a round follows each turn of the loop, until every
 * line is empty and made up for). Invariant: requests of one token go on in the order they came, and in one round no token begins a
 * request after it has used up its share; one that is longer than a share is paid for by the rounds that follow.
 */
import { turn } from '../system/turn.ts'
import { beyond, type Caps } from './caps.ts'

/**
 * Letters a token may have understood in one round: some tenths of a millisecond. Node takes in one new connection per turn
 * of the loop, however many knock: with 64 KB, and four tokens doing their worst, a turn took 20 ms, and a client with a new
 * connection stood at the door for seconds.
 */
const SHARE = 8 * 1024
/** What a request weighs besides its letters. */
const LEAST = 2 * 1024

interface Waiting {
  readonly weight: number
  readonly go: () => void
}

interface Line {
  /** Work done that has not been made up for yet. Above its share the token waits. */
  done: number
  readonly waiting: Waiting[]
}

export class Rounds {
  readonly #caps: Caps
  /** Lines of tokens that have work to make up for, or wait. */
  readonly #lines = new Map<string, Line>()
  #turning = false

  constructor(caps: Caps) {
    this.#caps = caps
  }

  /** Resolves when it is this token's turn. Objects where too many of its requests wait already, if it may be refused. */
  async take(token: string, length: number, mayRefuse: boolean): Promise<void> {
    const line = this.#lines.get(token) ?? { done: 0, waiting: [] }
    this.#lines.set(token, line)
    const weight = LEAST + length
    if (!this.#turning) void this.#turn()
    if (line.waiting.length === 0 && line.done < SHARE) {
      line.done += weight
      return
    }
    if (mayRefuse && line.waiting.length >= this.#caps.waitingPerToken)
      throw beyond('waitingPerToken', this.#caps, { retryAfterMs: 1_000 })
    await new Promise<void>((go) => line.waiting.push({ weight, go }))
  }

  async #turn(): Promise<void> {
    this.#turning = true
    while (this.#lines.size > 0) {
      await turn()
      for (const [token, line] of this.#lines) {
        line.done = Math.max(0, line.done - SHARE)
        this.#goOn(line)
        if (line.done === 0 && line.waiting.length === 0) this.#lines.delete(token)
      }
    }
    this.#turning = false
  }

  #goOn(line: Line): void {
    while (line.done < SHARE) {
      const next = line.waiting.shift()
      if (next === undefined) return
      line.done += next.weight
      next.go()
    }
  }
}
