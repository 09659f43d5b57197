import type { Trailing } from './ledger.ts'
import type { Statements } from './statements.ts'

/** The members that jobs share which enter the same lane at the same time. */
type Entrance = readonly [
  lane: number,
  readyAt: number,
  kind: number,
  state: string,
  tick: number | null,
  careful: 0 | 1,
]

/**
 * Rows for the lanes of new jobs, written when no more of the same come. (One by one they were 2.1 of the 5.2 µs of an
 * insert.) Until `flush` they are in no table: code that looks for a job flushes first.
 */
export class Fresh implements Trailing {
  readonly #sql: Statements
  #entrance: Entrance | undefined
  #ids: number[] = []

  constructor(sql: Statements) {
    this.#sql = sql
  }

  add(id: number, entrance: Entrance): void {
    if (this.#entrance === undefined || !isSame(this.#entrance, entrance)) {
      this.flush()
      this.#entrance = entrance
    }
    this.#ids.push(id)
  }

  flush(): void {
    const entrance = this.#entrance
    const ids = this.#ids
    this.drop()
    if (entrance === undefined) return
    if (ids.length === 1) this.#sql.insertFresh.run(...entrance, ids[0] as number)
    else this.#sql.insertFreshAlike.run(...entrance, `[${ids.join()}]`)
  }

  drop(): void {
    this.#entrance = undefined
    this.#ids = []
  }
}

const isSame = (a: Entrance, b: Entrance): boolean => a.every((cell, place) => cell === b[place])
