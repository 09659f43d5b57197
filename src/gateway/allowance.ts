/** Something of which each token, and the whole process, may have so much at a time. Nobody waits for it here. */
import { beyond, type Caps, type RefusingCap } from './caps.ts'

/** What has been taken of it, until it is given back. */
export interface Share extends Disposable {
  /** Objects, and takes nothing, where that would be too much. */
  take(amount: number): void
  /** Objects where it would be too much to take; takes nothing. */
  ask(amount: number): void
}

const AGAIN_AFTER_MS = 1_000

export class Allowance {
  readonly #caps: Caps
  readonly #perToken: RefusingCap
  readonly #inAll: RefusingCap
  /** By token; whoever has nothing is not there. */
  readonly #taken = new Map<string, number>()
  #sum = 0

  constructor(caps: Caps, perToken: RefusingCap, inAll: RefusingCap) {
    this.#caps = caps
    this.#perToken = perToken
    this.#inAll = inAll
  }

  share(token: string, amount = 0): Share {
    let own = 0
    const take = (more: number) => {
      this.#take(token, more)
      own += more
    }
    take(amount)
    return {
      take,
      ask: (more) => this.#check(token, more),
      [Symbol.dispose]: () => {
        this.#give(token, own)
        own = 0
      },
    }
  }

  #check(token: string, amount: number): void {
    const own = (this.#taken.get(token) ?? 0) + amount
    if (own > this.#caps[this.#perToken]) throw beyond(this.#perToken, this.#caps, { retryAfterMs: AGAIN_AFTER_MS })
    if (this.#sum + amount > this.#caps[this.#inAll])
      throw beyond(this.#inAll, this.#caps, { retryAfterMs: AGAIN_AFTER_MS })
  }

  #take(token: string, amount: number): void {
    if (amount === 0) return
    this.#check(token, amount)
    this.#taken.set(token, (this.#taken.get(token) ?? 0) + amount)
    this.#sum += amount
  }

  #give(token: string, amount: number): void {
    const left = (this.#taken.get(token) ?? 0) - amount
    if (left > 0) this.#taken.set(token, left)
    else this.#taken.delete(token)
    this.#sum -= amount
  }
}
