import { assert } from '../../../core/assert.ts'
import { LANE_WIDTH, laneNumber } from '../../codec/lane.ts'
import type { KindRef, KindRow } from '../rows.ts'
import type { KindsToSend } from './kinds-to-send.ts'
import { all, one } from './rows.ts'
import type { Statements } from './statements.ts'

/**
 * Kinds and queues as the writing thread knows them. What is known stays true, but for those that were made in a transaction
 * that was rolled back: their numbers may be given to others. `born` and `forgetSince` see to that.
 */
export class KnownKinds {
  readonly #sql: Statements
  readonly #kinds: KindsToSend
  readonly #numbers = new Map<string, number>()
  readonly #queues = new Map<string, number>()
  readonly #born: ({ readonly number: number; readonly text: string } | { readonly queue: string })[] = []

  constructor(sql: Statements, kinds: KindsToSend) {
    this.#sql = sql
    this.#kinds = kinds
  }

  /** The numbers of kinds that a call brings along. */
  intern(kinds: readonly KindRow[]): readonly number[] {
    return kinds.map((kind) => this.#internOne(kind))
  }

  of(ref: KindRef, brought: readonly number[]): number {
    const kind = ref > 0 ? ref : brought[-ref - 1]
    assert(kind !== undefined, 'a kind is known, or comes with the call')
    return kind
  }

  /**
   * The lane of a job; of one that needs something its side lane, which is made where it is new. Few do, so that is looked up each
   * time. `sentTo`: the queue that it is in, where that is not its kind's.
   */
  lane(kind: number, priority: number, needs: string | null, sentTo: string | null = null): number {
    const queue = this.queueOf(kind, sentTo)
    const lane = laneOf(needs === null ? queue : this.#side(queue, needs), priority)
    assert(lane !== undefined, 'a priority is a whole number from 0 to 9')
    return lane
  }

  /** The queue of a job's kind, or the one that it was sent to, which is made where it is new. */
  queueOf(kind: number, sentTo: string | null): number {
    const { queue, tenant } = this.#kinds.get(kind)
    return sentTo === null ? queue : (this.queue(tenant, sentTo) ?? this.#made(tenant, sentTo))
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

  /** The numbers of a queue's sides, by need. Other processes make some, too. */
  sides(queue: number): ReadonlyMap<string, number> {
    return new Map(all(this.#sql.sidesOf, queue).map(([needs, side]) => [needs as string, side as number]))
  }

  /** How many kinds and queues this transaction has made so far. */
  get born(): number {
    return this.#born.length
  }

  /** The transaction, or the part of it since then, did not last. */
  forgetSince(born: number): void {
    for (const each of this.#born.splice(born)) {
      if ('queue' in each) this.#queues.delete(each.queue)
      else {
        this.#kinds.forget(each.number)
        this.#numbers.delete(each.text)
      }
    }
  }

  /** The transaction has lasted. */
  keep(): void {
    this.#born.length = 0
  }

  tell(kind: number): void {
    this.#kinds.send(kind)
  }

  #made(tenant: string, name: string): number {
    this.#born.push({ queue: queueName(tenant, name) })
    return one(this.#sql.insertQueue, tenant, name)?.[0] as number
  }

  #side(queue: number, needs: string): number {
    const side = one(this.#sql.sideOf, queue, needs) ?? one(this.#sql.insertSide, queue, needs)
    assert(side !== undefined, `queue ${queue} exists`)
    return side[0] as number
  }

  #internOne([text, tenant, name, type, leaseMs]: KindRow): number {
    const known = this.#numbers.get(text) ?? (one(this.#sql.kindByText, text)?.[0] as number | undefined)
    if (known !== undefined) {
      this.#numbers.set(text, known)
      this.#kinds.send(known)
      return known
    }
    const queue = this.queue(tenant, name) ?? this.#made(tenant, name)
    const number = one(this.#sql.insertKind, queue, type, leaseMs, text)?.[0] as number
    this.#born.push({ number, text })
    this.#numbers.set(text, number)
    this.#kinds.send(number)
    return number
  }
}

/** Undefined where there is no such priority: its number would be another queue's lane. */
export const laneOf = (queue: number, priority: number): number | undefined =>
  Number.isInteger(priority) && priority >= 0 && priority < LANE_WIDTH ? laneNumber(queue, priority) : undefined

const queueName = (tenant: string, name: string): string => JSON.stringify([tenant, name])
