/**
 * A token bucket per API token, for everything an owner does not need: fairness between callers. What is counted is
 * what there is to do, not how it was wrapped: a batch of a thousand jobs is a thousand.
 */
import type { Clock } from '../system/clock.ts'
import { beyond, type Caps } from './caps.ts'

const MOST_BUCKETS = 10_000

interface Bucket {
  level: number
  at: number
}

export class Rate {
  readonly #caps: Caps
  readonly #clock: Clock
  /** The one asked for longest ago goes first. */
  readonly #buckets = new Map<string, Bucket>()

  constructor(caps: Caps, clock: Clock) {
    this.#caps = caps
    this.#clock = clock
  }

  /** Objects, and takes nothing, where there is not enough left. */
  take(token: string, items: number): void {
    const bucket = this.#bucket(token)
    if (bucket.level < items)
      throw beyond('itemsPerSecond', this.#caps, { retryAfterMs: this.#until(bucket, items) * 1_000 })
    bucket.level -= items
  }

  /** The fields of the RateLimit draft. */
  headers(token: string): Readonly<Record<string, string>> {
    const { itemsPerSecond, itemsAtOnce } = this.#caps
    const bucket = this.#bucket(token)
    const window = Math.max(1, Math.ceil(itemsAtOnce / itemsPerSecond))
    return {
      'RateLimit-Policy': `"default";q=${itemsAtOnce};w=${window}`,
      RateLimit: `"default";r=${Math.floor(bucket.level)};t=${this.#until(bucket, 1)}`,
    }
  }

  /** Seconds until there are so many again. */
  #until({ level }: Bucket, items: number): number {
    return Math.max(1, Math.ceil((items - level) / this.#caps.itemsPerSecond))
  }

  #bucket(token: string): Bucket {
    const { itemsPerSecond, itemsAtOnce } = this.#caps
    const now = this.#clock.monotonicMs()
    const bucket = this.#buckets.get(token) ?? { level: itemsAtOnce, at: now }
    bucket.level = Math.min(itemsAtOnce, bucket.level + ((now - bucket.at) / 1_000) * itemsPerSecond)
    bucket.at = now
    this.#buckets.delete(token)
    this.#buckets.set(token, bucket)
    if (this.#buckets.size > MOST_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value as string)
    return bucket
  }
}
