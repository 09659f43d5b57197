/**
 * Something of which each token, and the whole process, may have so much at a time. Nobody waits for it here. Of what the
 * process has, a tenant may have so many times what it leaves to others: a tenant makes as many tokens as it likes, and
 * one that comes later must still be let in. However many are greedy, something is left.
 */
import { beyond, type Caps, type RefusingCap } from './caps.ts'
import type { Holder } from './lines.ts'
import { originOf } from './token.ts'

/** What one holder has taken, until it is disposed of. */
export interface Share extends Disposable {
  /** Objects, and takes nothing, where that would be too much. */
  take(amount: number): void
  /** Objects where it would be too much to take; takes nothing. */
  ask(amount: number): void
}

const AGAIN_AFTER_MS = 1_000
/** Alone a tenant has four fifths of all there is; the second that wants as much has, and leaves it, four ninths. */
export const TIMES_WHAT_IS_LEFT = 4

export class Allowance {
  readonly #caps: Caps
  readonly #perToken: RefusingCap
  readonly #inAll: RefusingCap
  readonly #byToken = new Tallies()
  readonly #byTenant = new Tallies()
  #sum = 0

  constructor(caps: Caps, perToken: RefusingCap, inAll: RefusingCap) {
    this.#caps = caps
    this.#perToken = perToken
    this.#inAll = inAll
  }

  share(holder: Holder, amount = 0): Share {
    let own = 0
    const take = (more: number) => {
      this.#take(holder, more)
      own += more
    }
    take(amount)
    return {
      take,
      ask: (more) => this.#check(holder, more),
      [Symbol.dispose]: () => {
        this.#add(holder, -own)
        own = 0
      },
    }
  }

  #check(holder: Holder, amount: number): void {
    const retry = { retryAfterMs: AGAIN_AFTER_MS }
    if (this.#byToken.of(originOf(holder)) + amount > this.#caps[this.#perToken])
      throw beyond(this.#perToken, this.#caps, retry)
    const left = this.#caps[this.#inAll] - this.#sum - amount
    const before = this.#byTenant.of(holder.tenant)
    // A tenant that has nothing yet is let in wherever there is room at all.
    const isGreedy = before > 0 && before + amount > TIMES_WHAT_IS_LEFT * left
    if (left < 0 || isGreedy) throw beyond(this.#inAll, this.#caps, retry)
  }

  #take(holder: Holder, amount: number): void {
    if (amount === 0) return
    this.#check(holder, amount)
    this.#add(holder, amount)
  }

  #add(holder: Holder, amount: number): void {
    this.#byToken.add(originOf(holder), amount)
    this.#byTenant.add(holder.tenant, amount)
    this.#sum += amount
  }
}

/** How much each has taken; one that has nothing is not in it. */
class Tallies {
  readonly #taken = new Map<string, number>()

  of(name: string): number {
    return this.#taken.get(name) ?? 0
  }

  add(name: string, amount: number): void {
    const now = this.of(name) + amount
    if (now > 0) this.#taken.set(name, now)
    else this.#taken.delete(name)
  }
}
