/** Who has taken each way last: of each change so many jobs, of those that were read. */
import type { JobId, Time } from '../../core/job.ts'

export interface Taker {
  readonly id: JobId
  readonly type: string
  readonly queue: string
  readonly at: Time
  /** Whose word it was. */
  readonly by: string
}

/** As it is written down. */
export type PackedTaker = readonly [id: string, type: string, queue: string, at: number, by: string]
export type PackedTakers = readonly (readonly [change: string, takers: readonly PackedTaker[]])[]

/** Of each change: there are 64, and who asks sees all of one at a glance. */
const TAKERS_MOST = 10

export class Takers {
  /** By change, oldest first. */
  readonly #last = new Map<string, Taker[]>()

  static from(packed: PackedTakers): Takers {
    const takers = new Takers()
    for (const [change, each] of packed)
      for (const [id, type, queue, at, by] of each) takers.add(change, { id: id as JobId, type, queue, at, by })
    return takers
  }

  packed(): PackedTakers {
    return [...this.#last].map(([change, each]) => [
      change,
      each.map(({ id, type, queue, at, by }): PackedTaker => [id, type, queue, at, by]),
    ])
  }

  add(change: string, taker: Taker): void {
    const last = this.#last.get(change) ?? []
    this.#last.set(change, last)
    last.push(taker)
    if (last.length > TAKERS_MOST) last.shift()
  }

  /** Those that somebody has made. */
  changes(): readonly string[] {
    return [...this.#last.keys()]
  }

  /** Newest first. */
  of(change: string): readonly Taker[] {
    return this.#last.get(change)?.toReversed() ?? []
  }
}
