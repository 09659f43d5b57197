/**
 * Calls to the store, a bounded amount at a time for all tokens together: a store that works for one caller is not there
 * for the heartbeats of all others. Who has to wait waits in the line of its own token, and the lines take turns, so that a
 * token, or a tenant, with much to do is slow to itself.
 */
import { beyond, type Caps, type RefusingCap } from './caps.ts'
import { type Holder, Lines } from './lines.ts'
import { Objected, objection } from './problem.ts'

export interface TurnsOptions {
  readonly caps: Caps
  /** The cap on how much may be under way. */
  readonly capacity: 'reads' | 'lanesAsked' | 'writes'
  /** The cap on how many calls of one token may wait. */
  readonly line: RefusingCap
}

export interface Turn<T> {
  readonly holder: Holder
  /** How much of the capacity the call takes. One that takes more than there is waits until nothing else is under way. */
  readonly weight: number
  readonly work: () => Promise<T>
  /** A call that is aborted before its turn comes is not made. */
  readonly signal?: AbortSignal | undefined
  /** True for words of owners: they wait, but are not turned away. */
  readonly always?: boolean | undefined
}

interface Waiting {
  readonly weight: number
  readonly go: () => void
}

export class Turns {
  readonly #options: TurnsOptions
  readonly #lines = new Lines<Waiting>()
  #underWay = 0

  constructor(options: TurnsOptions) {
    this.#options = options
  }

  /** Objects where the token's line is full. */
  async take<T>({ holder, weight, work, signal, always = false }: Turn<T>): Promise<T> {
    if (!this.#lines.isEmpty || !this.#fits(weight)) await this.#wait(holder, weight, always)
    else this.#underWay += weight
    try {
      if (signal?.aborted === true)
        throw new Objected(objection('UNAVAILABLE', 'Nobody waits for the answer any more.'))
      return await work()
    } finally {
      this.#underWay -= weight
      this.#goOn()
    }
  }

  #fits(weight: number): boolean {
    return this.#underWay === 0 || this.#underWay + weight <= this.#options.caps[this.#options.capacity]
  }

  async #wait(holder: Holder, weight: number, always: boolean): Promise<void> {
    const { caps, line } = this.#options
    if (!always && this.#lines.lengthOf(holder) >= caps[line]) throw beyond(line, caps, { retryAfterMs: 1_000 })
    await new Promise<void>((go) => this.#lines.add(holder, { weight, go }))
  }

  #goOn(): void {
    for (let next = this.#lines.first; next !== undefined && this.#fits(next.weight); next = this.#lines.first) {
      this.#lines.shift()
      this.#underWay += next.weight
      next.go()
    }
  }
}
