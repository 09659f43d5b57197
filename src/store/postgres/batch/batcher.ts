/**
 * Automatic group commit. Modes: idle (nothing waits, nothing is under way: a call starts a batch at once, nobody is
 * made to wait for company), busy (a batch is under way; a call that comes now rides in the next one, which leaves when that
 * has ended, or at once where it is worth it and `atOnce` allows), closed (calls are refused; what is under way ends). A
 * batch holds calls in the order they came, whole, up to a number of items and of bytes; the queue in front of it is
 * bounded, and a call that finds it full is refused at once.
 */
import { lastly } from '../../../system/turn.ts'

export interface BatcherOptions<Item, Answer> {
  /** One commit. Answers each item in order; throws only where none of them was applied for certain. */
  readonly run: (items: readonly Item[]) => Promise<readonly Answer[]>
  readonly sizeOf: (item: Item) => number
  /** Batches under way at a time, 1 unless given: with 2 the store need not wait while the next one is being made. */
  readonly atOnce?: number
  /** How much it matters whether an item waits for the batch under way: 1 unless given. */
  readonly weightOf?: (item: Item) => number
  readonly maxItems?: number
  readonly maxBytes?: number
  /** How much may wait for its batch, in items and in bytes; above that `add` refuses. */
  readonly maxWaiting?: number
  readonly maxWaitingBytes?: number
}

/** The queue in front of the store is full. `code` is the refusal the engine answers with. */
export class Overloaded extends Error {
  override readonly name = 'Overloaded'
  readonly code = 'OVERLOADED'
  readonly retryAfterMs = 100

  constructor(waiting: number) {
    super(`pawl: ${waiting} items are waiting for the store already`)
  }
}

interface Call<Item, Answer> {
  readonly items: readonly Item[]
  readonly bytes: number
  readonly weight: number
  readonly resolve: (answers: readonly Answer[]) => void
  readonly reject: (error: unknown) => void
}

const MAX_ITEMS = 500
/** What weighs less waits for the batch under way: two small commits cost more than one. */
const WORTH_A_SECOND = 100
const MAX_BYTES = 4 << 20
const MAX_WAITING = 100_000
const MAX_WAITING_BYTES = 256 << 20

export class Batcher<Item, Answer> {
  readonly #options: BatcherOptions<Item, Answer>
  readonly #maxItems: number
  readonly #maxBytes: number
  readonly #atOnce: number
  #waiting: Call<Item, Answer>[] = []
  #waitingItems = 0
  #waitingBytes = 0
  #waitingWeight = 0
  /** A list: what was in a `Set` that batches enter and leave all the time outlived the scavenge. */
  readonly #underWay: Promise<void>[] = []
  #scheduled = false
  #closed = false

  constructor(options: BatcherOptions<Item, Answer>) {
    this.#options = options
    this.#maxItems = options.maxItems ?? MAX_ITEMS
    this.#maxBytes = options.maxBytes ?? MAX_BYTES
    this.#atOnce = options.atOnce ?? 1
  }

  /** A call with more than `maxItems` goes in pieces, one after the other, and is answered when all have been. */
  add(items: readonly Item[]): Promise<readonly Answer[]> {
    if (items.length === 0) return Promise.resolve([])
    const pieces = this.#pieces(items)
    const first = pieces[0]
    if (pieces.length === 1 && first !== undefined) return this.#enqueue(first.items, first.bytes)
    const answered = pieces.map((piece) => this.#enqueue(piece.items, piece.bytes))
    return Promise.all(answered).then((answers) => answers.flat())
  }

  /** Resolves when the batches under way have ended. Calls that still wait for theirs are refused. */
  async close(): Promise<void> {
    this.#closed = true
    const left = this.#waiting
    this.#waiting = []
    this.#waitingItems = 0
    this.#waitingBytes = 0
    this.#waitingWeight = 0
    for (const call of left) call.reject(new Error('pawl: the store is closed'))
    await Promise.all(this.#underWay)
  }

  #pieces(items: readonly Item[]): { items: readonly Item[]; bytes: number }[] {
    const pieces: { items: readonly Item[]; bytes: number }[] = []
    let from = 0
    let bytes = 0
    for (let i = 0; i < items.length; i++) {
      const size = this.#options.sizeOf(items[i] as Item)
      if (i > from && (i - from === this.#maxItems || bytes + size > this.#maxBytes)) {
        pieces.push({ items: items.slice(from, i), bytes })
        from = i
        bytes = 0
      }
      bytes += size
    }
    pieces.push({ items: from === 0 ? items : items.slice(from), bytes })
    return pieces
  }

  #weightOf(items: readonly Item[]): number {
    const { weightOf } = this.#options
    if (weightOf === undefined) return items.length
    let weight = 0
    for (const item of items) weight += weightOf(item)
    return weight
  }

  #enqueue(items: readonly Item[], bytes: number): Promise<readonly Answer[]> {
    if (this.#closed) return Promise.reject(new Error('pawl: the store is closed'))
    const { maxWaiting = MAX_WAITING, maxWaitingBytes = MAX_WAITING_BYTES } = this.#options
    if (
      this.#waitingItems > 0 &&
      (this.#waitingItems + items.length > maxWaiting || this.#waitingBytes + bytes > maxWaitingBytes)
    ) {
      return Promise.reject(new Overloaded(this.#waitingItems))
    }
    const weight = this.#weightOf(items)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ items, bytes, weight, resolve, reject })
      this.#waitingItems += items.length
      this.#waitingBytes += bytes
      this.#waitingWeight += weight
      this.#schedule()
    })
  }

  #schedule(): void {
    if (this.#scheduled || !this.#mayLeave) return
    this.#scheduled = true
    // A caller who was answered by the last batch and comes back at once rides with those that waited. A microtask is too soon for
    // them: 64 callers in a loop became batches of 1 and 63 for good, two commits where one will do.
    lastly(() => {
      this.#scheduled = false
      while (this.#mayLeave) this.#leave(this.#next())
    })
  }

  get #mayLeave(): boolean {
    if (this.#underWay.length === 0) return this.#waiting.length > 0
    return this.#underWay.length < this.#atOnce && this.#waitingWeight >= WORTH_A_SECOND
  }

  #leave(calls: readonly Call<Item, Answer>[]): void {
    const batch = this.#runOne(calls).then(() => {
      this.#underWay.splice(this.#underWay.indexOf(batch), 1)
      this.#schedule()
    })
    this.#underWay.push(batch)
  }

  #next(): readonly Call<Item, Answer>[] {
    let items = 0
    let bytes = 0
    let weight = 0
    let n = 0
    for (; n < this.#waiting.length; n++) {
      const call = this.#waiting[n] as Call<Item, Answer>
      if (n > 0 && (items + call.items.length > this.#maxItems || bytes + call.bytes > this.#maxBytes)) break
      items += call.items.length
      bytes += call.bytes
      weight += call.weight
    }
    const calls = this.#waiting.slice(0, n)
    this.#waiting = n === this.#waiting.length ? [] : this.#waiting.slice(n)
    this.#waitingItems -= items
    this.#waitingBytes -= bytes
    this.#waitingWeight -= weight
    return calls
  }

  async #runOne(calls: readonly Call<Item, Answer>[]): Promise<void> {
    const only = calls[0]
    try {
      if (calls.length === 1 && only !== undefined) {
        only.resolve(await this.#options.run(only.items))
        return
      }
      const answers = await this.#options.run(calls.flatMap((call) => call.items))
      let at = 0
      for (const call of calls) {
        call.resolve(answers.slice(at, at + call.items.length))
        at += call.items.length
      }
    } catch (error) {
      for (const call of calls) call.reject(error)
    }
  }
}
