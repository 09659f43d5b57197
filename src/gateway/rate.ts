/**
 * A token bucket per API token, for everything an owner does not need: fairness between callers. What is counted is
 * what there is to do, not how it was wrapped: a batch of a thousand jobs is a thousand.
 */
import type { Clock } from '../system/clock.ts'
import { beyond, type Caps } from './caps.ts'

const MOST_BUCKETS = 10_000

export class Rate {
  readonly #caps: Caps
  readonly #clock: Clock
  /** The one asked for longest ago goes first. */
  readonly #rations = new Map<string, Ration>()

  constructor(caps: Caps, clock: Clock) {
    this.#caps = caps
    this.#clock = clock
  }

  of(token: string): Ration {
    const ration = this.#rations.get(token) ?? new Ration(this.#caps, this.#clock)
    this.#rations.delete(token)
    this.#rations.set(token, ration)
    if (this.#rations.size > MOST_BUCKETS) this.#rations.delete(this.#rations.keys().next().value as string)
    return ration
  }
}

export class Ration {
  readonly #caps: Caps
  readonly #clock: Clock
  #level: number
  #at: number

  constructor(caps: Caps, clock: Clock) {
    this.#caps = caps
    this.#clock = clock
    this.#level = caps.itemsAtOnce
    this.#at = clock.monotonicMs()
  }

  /** As many as can ever be taken together. */
  get most(): number {
    return this.#caps.itemsAtOnce
  }

  /** Objects, and takes nothing, where there is not enough left. */
  take(items: number): void {
    const { itemsPerSecond, itemsAtOnce } = this.#caps
    const now = this.#clock.monotonicMs()
    this.#level = Math.min(itemsAtOnce, this.#level + ((now - this.#at) / 1_000) * itemsPerSecond)
    this.#at = now
    if (this.#level < items) throw beyond('itemsPerSecond', this.#caps, { retryAfterMs: this.#until(items) * 1_000 })
    this.#level -= items
  }

  /** The fields of the RateLimit draft. */
  headers(): Readonly<Record<string, string>> {
    const { itemsPerSecond, itemsAtOnce } = this.#caps
    const window = Math.max(1, Math.ceil(itemsAtOnce / itemsPerSecond))
    return {
      'RateLimit-Policy': `"default";q=${itemsAtOnce};w=${window}`,
      RateLimit: `"default";r=${Math.floor(this.#level)};t=${this.#until(1)}`,
    }
  }

  /** Seconds until there are so many again. */
  #until(items: number): number {
    return Math.max(1, Math.ceil((items - this.#level) / this.#caps.itemsPerSecond))
  }
}
