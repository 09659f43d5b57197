import { assert } from '../../../core/assert.ts'
import type { KindRef, KindRow } from '../rows.ts'
import { all, one } from './rows.ts'
import type { Statements } from './statements.ts'

/**
 * Kinds and queues by number. They never change, so what is known stays true; but for those that came into the world
 * with a transaction that did not last: their numbers may be given to others. `born` and `forgetSince` see to that.
 */
export class KnownKinds {
  readonly #sql: Statements
  readonly #kinds = new Map<number, { readonly queue: number; readonly text: string }>()
  readonly #numbers = new Map<string, number>()
  readonly #queues = new Map<string, number>()
  readonly #born: { readonly number: number; readonly text: string; readonly queue: string }[] = []
  /** Those the main thread has not been told of, and those it has. */
  readonly #toTell = new Set<number>()
  readonly #told = new Set<number>()
  /** Up to this number all have been listed once. */
  #listed = 0

  constructor(sql: Statements) {
    this.#sql = sql
  }

  /** The numbers of kinds that a call brings along. */
  intern(kinds: readonly KindRow[]): readonly number[] {
    return kinds.map((kind) => this.#internOne(kind))
  }

  of(ref: KindRef, interned: readonly number[]): number {
    const kind = ref > 0 ? ref : interned[-ref - 1]
    assert(kind !== undefined, 'a kind is known, or comes with the call')
    return kind
  }

  lane(kind: number, priority: number): number {
    const lane = laneOf(this.#kind(kind).queue, priority)
    assert(lane !== undefined, 'a priority is a whole number from 0 to 9')
    return lane
  }

  queue(tenant: string, name: string): number | undefined {
    const key = queueName(tenant, name)
    const known = this.#queues.get(key)
    if (known !== undefined) return known
    const found = one(this.#sql.queueByName, tenant, name)?.[0]
    if (typeof found !== 'number') return undefined
    this.#queues.set(key, found)
    return found
  }

  /** How many this transaction has made so far. */
  get born(): number {
    return this.#born.length
  }

  /** The transaction, or the part of it since then, did not last. */
  forgetSince(born: number): void {
    for (const { number, text, queue } of this.#born.splice(born)) {
      this.#kinds.delete(number)
      this.#numbers.delete(text)
      this.#queues.delete(queue)
      this.#toTell.delete(number)
    }
  }

  /** The transaction has lasted. */
  keep(): void {
    this.#born.length = 0
  }

  tell(kind: number): void {
    if (!this.#told.has(kind)) this.#toTell.add(kind)
  }

  /** All there are: what a filter by tenant, queue or type is judged by. */
  tellAll(): void {
    for (const [number] of all(this.#sql.kinds, this.#listed)) {
      this.#listed = number as number
      this.tell(this.#listed)
    }
  }

  /** What the next answer must bring along. */
  untold(): [number: number, text: string][] {
    const kinds = [...this.#toTell].map((number): [number, string] => [number, this.#kind(number).text])
    for (const [number] of kinds) this.#told.add(number)
    this.#toTell.clear()
    return kinds
  }

  #internOne([text, tenant, name, leaseMs, careful]: KindRow): number {
    const known = this.#numbers.get(text) ?? (one(this.#sql.kindByText, text)?.[0] as number | undefined)
    if (known !== undefined) {
      this.#numbers.set(text, known)
      this.tell(known)
      return known
    }
    const queue = this.queue(tenant, name) ?? (one(this.#sql.insertQueue, tenant, name)?.[0] as number)
    const number = one(this.#sql.insertKind, queue, leaseMs, careful, text)?.[0] as number
    this.#born.push({ number, text, queue: queueName(tenant, name) })
    this.#kinds.set(number, { queue, text })
    this.#numbers.set(text, number)
    this.tell(number)
    return number
  }

  #kind(number: number): { readonly queue: number; readonly text: string } {
    const known = this.#kinds.get(number)
    if (known !== undefined) return known
    const row = one(this.#sql.kind, number)
    assert(row !== undefined, `kind ${number} exists`)
    const found = { queue: row[0] as number, text: row[1] as string }
    this.#kinds.set(number, found)
    return found
  }
}

/** Undefined where there is no such priority: another queue's lane it must not be. */
export const laneOf = (queue: number, priority: number): number | undefined =>
  Number.isInteger(priority) && priority >= 0 && priority <= 9 ? queue * 10 + priority : undefined

const queueName = (tenant: string, name: string): string => JSON.stringify([tenant, name])
