/**
 * What is given up first when there is too much to do. Every class of requests may fill the house up to its own mark;
 * the less urgent a class, the lower its mark, so lists go before enqueues, enqueues before claims, and the words of
 * owners are never turned away: a heartbeat that is shed is a lease that is lost.
 */
import type { Urgency } from './contract/route.ts'

export interface SheddingOptions {
  /** Requests under way at which claims are turned away. */
  readonly capacity: number
}

const SHARE: Readonly<Record<Urgency, number>> = {
  owner: Number.POSITIVE_INFINITY,
  health: Number.POSITIVE_INFINITY,
  claim: 1,
  enqueue: 0.75,
  list: 0.5,
}

export class Shedding {
  readonly #capacity: number
  /** Requests under way; those that merely wait (long polls, streams) have left. */
  #busy = 0

  constructor({ capacity }: SheddingOptions) {
    this.#capacity = capacity
  }

  get busy(): number {
    return this.#busy
  }

  /** A function that leaves again; undefined where the request is to come back later. */
  enter(urgency: Urgency): (() => void) | undefined {
    if (this.#busy >= this.#capacity * SHARE[urgency]) return undefined
    this.#busy += 1
    let inside = true
    return () => {
      if (inside) this.#busy -= 1
      inside = false
    }
  }
}
