/**
 * How many documents of a kind a tenant has, without counting them for each new one: counted once, then what was let in
 * since is added. Counting reads every one of them, and a caller that makes up new names would have 2,000 read for each. Other gateways
 * let in some, too, and some go: who is at its cap is counted again, at most once a second, and everybody every ten seconds.
 */
import type { Clock } from '../system/clock.ts'

const AT_CAP_AGAIN_MS = 1_000
const AGAIN_MS = 10_000
const MOST_TENANTS = 10_000

interface Count {
  known: number
  atMs: number
  /** Present while the documents are counted: a request that comes meanwhile waits for it. */
  counting: Promise<void> | undefined
}

export class Headcount {
  readonly #clock: Clock
  readonly #most: number
  readonly #countOf: (tenant: string, most: number) => Promise<number>
  /** The tenant that came first goes first. */
  readonly #counts = new Map<string, Count>()

  constructor(clock: Clock, most: number, countOf: (tenant: string, most: number) => Promise<number>) {
    this.#clock = clock
    this.#most = most
    this.#countOf = countOf
  }

  /** Whether one more may come; if so, it is counted. */
  async letsIn(tenant: string): Promise<boolean> {
    const count = await this.#recent(tenant)
    if (count.known >= this.#most) return false
    count.known += 1
    return true
  }

  async #recent(tenant: string): Promise<Count> {
    const count = this.#counts.get(tenant) ?? this.#remembered(tenant)
    const holdsForMs = count.known >= this.#most ? AT_CAP_AGAIN_MS : AGAIN_MS
    if (this.#clock.monotonicMs() - count.atMs >= holdsForMs) {
      count.counting ??= this.#count(tenant, count).finally(() => {
        count.counting = undefined
      })
    }
    await count.counting
    return count
  }

  #remembered(tenant: string): Count {
    const count: Count = { known: 0, atMs: Number.NEGATIVE_INFINITY, counting: undefined }
    this.#counts.set(tenant, count)
    if (this.#counts.size > MOST_TENANTS) this.#counts.delete(this.#counts.keys().next().value as string)
    return count
  }

  async #count(tenant: string, count: Count): Promise<void> {
    count.known = await this.#countOf(tenant, this.#most)
    count.atMs = this.#clock.monotonicMs()
  }
}
