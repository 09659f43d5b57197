/**
 * Failed authentications, rationed by address and in all: each of them asks the store about a token that nobody has.
 * A good token is not rationed, whatever others do at the same address: known ones are not asked about,
 * unknown ones together (`strangers.ts`). The memory it takes is the
 * same for one address and for all there are: addresses share places, by a hash that only this process knows.
 */
import { hash32 } from '../core/hash.ts'
import type { Clock } from '../system/clock.ts'
import { beyond, type Caps, type RefusingCap } from './caps.ts'
import type { Objected } from './problem.ts'

const PLACES = 1_024
const MINUTE_MS = 60_000

interface Bucket {
  /** Failures that are not forgotten yet. */
  failures: number
  at: number
}

export class Guard {
  readonly #caps: Caps
  readonly #clock: Clock
  readonly #salt: string
  readonly #all: Bucket = { failures: 0, at: 0 }
  readonly #places: readonly Bucket[] = Array.from({ length: PLACES }, () => ({ failures: 0, at: 0 }))

  constructor(caps: Caps, clock: Clock, salt: string) {
    this.#caps = caps
    this.#clock = clock
    this.#salt = salt
  }

  /**
   * Called before an unknown secret is looked up. Where too many of an address were wrong: what to answer with if this one is wrong,
   * too. Its failure is not counted, or the address would never be heard again.
   */
  attempt(address: string): Objected | undefined {
    const beyondIt = this.#check(this.#place(address), 'failuresPerAddress') ?? this.#check(this.#all, 'failures')
    // Counted beforehand: a thousand at once are a thousand, though none of them has failed yet.
    if (beyondIt === undefined) this.#count(address, 1)
    return beyondIt
  }

  /** The attempt showed a good token: it is not counted. */
  succeeded(address: string): void {
    this.#count(address, -1)
  }

  #check(bucket: Bucket, cap: RefusingCap): Objected | undefined {
    const now = this.#clock.monotonicMs()
    bucket.failures = Math.max(0, bucket.failures - ((now - bucket.at) / MINUTE_MS) * this.#caps[cap])
    bucket.at = now
    if (bucket.failures <= this.#caps[cap] - 1) return undefined
    const retryAfterMs = MINUTE_MS / this.#caps[cap]
    const detail = `At most ${this.#caps[cap]} failed authentications a minute.`
    return beyond(cap, this.#caps, { retryAfterMs, detail })
  }

  #count(address: string, change: number): void {
    for (const bucket of [this.#place(address), this.#all]) bucket.failures = Math.max(0, bucket.failures + change)
  }

  #place(address: string): Bucket {
    return this.#places[hash32(this.#salt + address) % PLACES] as Bucket
  }
}
