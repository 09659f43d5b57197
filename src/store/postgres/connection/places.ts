/**
 * How many connections a store has. Each kind of work has one that serves it alone (its *home*), so that nothing waits
 * behind something else; where much is done two kinds have a *spare* besides.
 *
 * Homes are opened whenever they are needed: there are as many as there may be. Spares are opened only while there is a place
 * left, and make place for homes: one that has to is given nothing more, and closed when what it was given is done. What
 * nobody has used for a while is closed, the longest unused first, until as many are left as may stay.
 *
 * Invariant: no more than `most` are open, or being opened, as long as no more than that are homes.
 */
import type { Clock } from '../../../system/clock.ts'
import type { Timers } from '../../../system/timers.ts'

export interface PlacesParts {
  readonly clock: Clock
  readonly timers: Timers
  /** Connections open at a time. */
  readonly most: number
  /** Connections that stay open while none is used. */
  readonly idle: number
  /** Unused for so long, a connection may be closed. */
  readonly idleMs: number
}

/** A connection that takes a place while it is open. */
export interface Tenant {
  readonly isSpare: boolean
  /** When it was last used; undefined while it is. */
  readonly unusedSinceMs: number | undefined
  /** Closes its connection, once what is under way on it is done. It may open another when it is needed. */
  rest(): Promise<void>
}

export class Places {
  readonly #parts: PlacesParts
  readonly #taken = new Map<symbol, Tenant>()
  #timer: Disposable | undefined
  #closed = false

  constructor(parts: PlacesParts) {
    this.#parts = parts
  }

  get isFull(): boolean {
    return this.#taken.size >= this.#parts.most
  }

  /** A place, until it is disposed of. */
  async take(tenant: Tenant): Promise<Disposable> {
    const place = Symbol('place')
    this.#taken.set(place, tenant)
    this.#timer ??= this.#soon()
    while (this.#taken.size > this.#parts.most) {
      const spare = [...this.#taken.values()].find((each) => each.isSpare && each !== tenant)
      if (spare === undefined) break
      await spare.rest()
    }
    return { [Symbol.dispose]: () => void this.#taken.delete(place) }
  }

  close(): void {
    this.#closed = true
    this.#timer?.[Symbol.dispose]()
  }

  #soon(): Disposable | undefined {
    if (this.#closed) return undefined
    return this.#parts.timers.after(this.#parts.idleMs / 2, () => {
      this.#closeUnused()
      this.#timer = this.#taken.size === 0 ? undefined : this.#soon()
    })
  }

  #closeUnused(): void {
    const { clock, idle, idleMs } = this.#parts
    const untilMs = clock.monotonicMs() - idleMs
    const unused = [...this.#taken.values()]
      .filter(({ unusedSinceMs = Number.POSITIVE_INFINITY }) => unusedSinceMs <= untilMs)
      .sort((a, b) => (a.unusedSinceMs ?? 0) - (b.unusedSinceMs ?? 0))
    for (const tenant of unused.slice(0, Math.max(0, this.#taken.size - idle))) void tenant.rest()
  }
}
