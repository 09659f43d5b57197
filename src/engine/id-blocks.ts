import { assert } from '../core/assert.ts'
import type { Store } from '../store/store.ts'
import type { StoreClock } from './store-clock.ts'

/** The first block of a process; each that is used up within `FAST_MS` is followed by one twice its size. */
const FIRST_BLOCK = 1_000
const LARGEST_BLOCK = 128_000
const FAST_MS = 1_000
const TRIES = 100

/**
 * Job numbers, reserved in blocks: known before the insert, one small write per block. What a process does not use
 * is never used.
 *
 * Invariant: `#next <= #end`, and all of [#next, #end) is reserved for this process.
 */
export class IdBlocks {
  readonly #store: Store
  readonly #clock: StoreClock
  #next = 0
  #end = 0
  #size = FIRST_BLOCK
  #reservedAt = 0
  /** Reservations follow each other. */
  #reserving: Promise<void> = Promise.resolve()

  constructor(store: Store, clock: StoreClock) {
    this.#store = store
    this.#clock = clock
  }

  /** The first of `count` consecutive numbers. */
  async take(count: number): Promise<number> {
    while (this.#end - this.#next < count) {
      const turn = this.#reserving.then(() => (this.#end - this.#next < count ? this.#reserve(count) : undefined))
      this.#reserving = turn.catch(() => {})
      await turn
    }
    const first = this.#next
    this.#next += count
    return first
  }

  /** Somebody else was given a number of ours: the store has forgotten that they were reserved. */
  forget(): void {
    this.#next = this.#end
  }

  async #reserve(count: number): Promise<void> {
    const now = this.#clock.now()
    if (this.#end > 0 && now - this.#reservedAt < FAST_MS) this.#size = Math.min(LARGEST_BLOCK, this.#size * 2)
    const size = Math.max(this.#size, count)
    this.#next = await this.#advance(size)
    this.#end = this.#next + size
    this.#reservedAt = this.#clock.now()
  }

  async #advance(size: number): Promise<number> {
    const [read] = await this.#store.settings([{ op: 'get', collection: 'ids', key: 'next' }])
    let there = read?.settings[0]
    for (let n = 0; n < TRIES; n += 1) {
      const next = there === undefined ? 1 : nextOf(there.text)
      const text = JSON.stringify({ next: next + size })
      const rev = there?.rev ?? 0
      const [written] = await this.#store.settings([{ op: 'put', collection: 'ids', key: 'next', text, rev }])
      assert(written !== undefined, 'every operation is answered')
      this.#clock.heard(written.now)
      if (written.status === 'ok') return next
      there = written.settings[0]
    }
    throw new Error(`pawl: no block of job ids could be reserved in ${TRIES} tries`)
  }
}

function nextOf(text: string): number {
  const { next } = JSON.parse(text) as { readonly next: unknown }
  assert(Number.isSafeInteger(next) && (next as number) > 0, 'the id counter is a positive whole number')
  return next as number
}
