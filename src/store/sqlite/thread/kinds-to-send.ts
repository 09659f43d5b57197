import { assert } from '../../../core/assert.ts'
import { one } from './rows.ts'
import type { ReadStatements } from './statements.ts'

/** The members of a kind that statements need again and again, without its policy. Texts as they are stored. */
export interface KindRecord {
  readonly queue: number
  readonly tenant: string
  readonly name: string
  readonly type: string
}

/** Kinds by number, and which of them the main thread has been sent. A kind never changes, so what is known stays true. */
export class KindsToSend {
  readonly #sql: ReadStatements
  readonly #kinds = new Map<number, KindRecord>()
  readonly #unsent = new Set<number>()
  readonly #sent = new Set<number>()

  constructor(sql: ReadStatements) {
    this.#sql = sql
  }

  get(number: number): KindRecord {
    const known = this.#kinds.get(number)
    if (known !== undefined) return known
    const row = one(this.#sql.kind, number)
    assert(row !== undefined, `kind ${number} exists`)
    const [queue, tenant, name, type] = row as readonly [number, string, string, string]
    const found = { queue, tenant, name, type }
    this.#kinds.set(number, found)
    return found
  }

  textOf(number: number): string {
    const row = one(this.#sql.kindText, number)
    assert(row !== undefined, `kind ${number} exists`)
    return row[0] as string
  }

  send(kind: number): void {
    if (!this.#sent.has(kind)) this.#unsent.add(kind)
  }

  /** Takes the kinds that the next answer must bring along. */
  unsent(): [number: number, text: string][] {
    const kinds = [...this.#unsent].map((number): [number, string] => [number, this.textOf(number)])
    for (const [number] of kinds) this.#sent.add(number)
    this.#unsent.clear()
    return kinds
  }

  /** Forgets a kind that was made in a transaction that was rolled back: its number may be given to another. */
  forget(number: number): void {
    this.#kinds.delete(number)
    this.#unsent.delete(number)
  }
}
