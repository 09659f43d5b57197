/**
 * So many at a time, and of one tenant fewer. Those that wait take turns by tenant, and within a tenant in the order in which they came: whoever has
 * many makes nobody else wait for more than one.
 */
export class Line {
  #free: number
  readonly #ofATenant: number
  /** How many places each tenant has; those that have none are not in it. */
  readonly #taken = new Map<string, number>()
  /** In the order of their turns; nobody is in it who does not wait. */
  readonly #waiting = new Map<string, (() => void)[]>()

  constructor(places: number, ofATenant: number) {
    this.#free = places
    this.#ofATenant = ofATenant
  }

  async take<T>(tenant: string, work: () => Promise<T>): Promise<T> {
    await new Promise<void>((begin) => {
      this.#waiting.set(tenant, [...(this.#waiting.get(tenant) ?? []), begin])
      this.#next()
    })
    try {
      return await work()
    } finally {
      this.#free += 1
      const taken = (this.#taken.get(tenant) ?? 1) - 1
      if (taken === 0) this.#taken.delete(tenant)
      else this.#taken.set(tenant, taken)
      this.#next()
    }
  }

  /** Gives a place to the first whose turn it is. */
  #next(): void {
    if (this.#free === 0) return
    for (const [tenant, [begin, ...others]] of this.#waiting) {
      const taken = this.#taken.get(tenant) ?? 0
      if (begin === undefined || taken >= this.#ofATenant) continue
      this.#waiting.delete(tenant)
      if (others.length > 0) this.#waiting.set(tenant, others)
      this.#taken.set(tenant, taken + 1)
      this.#free -= 1
      begin()
      return
    }
  }
}
