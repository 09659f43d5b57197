/** A token bucket per API token, for everything an owner does not need: fairness between callers. */
import type { Clock } from '../system/clock.ts'

export interface RateOptions {
  readonly perSecond: number
  readonly burst: number
}

export interface RateVerdict {
  readonly allowed: boolean
  readonly remaining: number
  readonly resetSeconds: number
}

const MOST_BUCKETS = 10_000

export class Rate {
  readonly #options: RateOptions
  readonly #clock: Clock
  readonly #buckets = new Map<string, { level: number; at: number }>()

  constructor(options: RateOptions, clock: Clock) {
    this.#options = options
    this.#clock = clock
  }

  take(name: string): RateVerdict {
    const { perSecond, burst } = this.#options
    const now = this.#clock.monotonicMs()
    const bucket = this.#buckets.get(name) ?? { level: burst, at: now }
    bucket.level = Math.min(burst, bucket.level + ((now - bucket.at) / 1_000) * perSecond)
    bucket.at = now
    const allowed = bucket.level >= 1
    if (allowed) bucket.level -= 1
    this.#buckets.delete(name)
    this.#buckets.set(name, bucket)
    if (this.#buckets.size > MOST_BUCKETS) this.#buckets.delete(this.#buckets.keys().next().value as string)
    return {
      allowed,
      remaining: Math.floor(bucket.level),
      resetSeconds: Math.max(1, Math.ceil((1 - bucket.level) / perSecond)),
    }
  }

  /** The fields of the RateLimit draft. */
  headers({ remaining, resetSeconds }: RateVerdict): Readonly<Record<string, string>> {
    const { perSecond, burst } = this.#options
    const window = Math.max(1, Math.ceil(burst / perSecond))
    return {
      'RateLimit-Policy': `"default";q=${burst};w=${window}`,
      RateLimit: `"default";r=${remaining};t=${resetSeconds}`,
    }
  }
}
