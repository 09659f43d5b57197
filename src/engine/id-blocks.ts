import { assert } from '../core/assert.ts'
import type { Time } from '../core/job.ts'
import type { Setting, Store } from '../store/store.ts'
import type { StoreClock } from './store-clock.ts'

/** The first block of a process; each that is used up within `FAST_MS` is followed by one twice its size. */
const FIRST_BLOCK = 1_000
const LARGEST_BLOCK = 128_000
const FAST_MS = 1_000
/** A block that a process has had for longer is left: lists are in the order of numbers, and what is enqueued now is not older than what others enqueued since. */
const STALE_MS = 10_000
/** Size of the block behind one that was left: a process that enqueues so seldom would waste a larger one. */
const SLOW_BLOCK = 64
const TRIES = 100

/** Size of the first block where tenants share the store, and each has blocks of its own. */
const FIRST_OWN = 128
const LARGEST_OWN = 16_384
/** Tenants with a block in this process; the one that asked longest ago goes first. */
const MOST_BLOCKS = 10_000

/** Numbers to the millisecond. At this pace those that fit into a JavaScript number last until 2094. */
const PER_MS = 4_096
const EPOCH = Date.UTC(2025, 0, 1)
/** However far ahead a clock was set once, thirty million million numbers are left to count on from there. */
const LAST_FLOOR = 2 ** 53 - 2 ** 45

/** The document in the store: where numbers go on, and which tenant's they have been so far. */
interface Counter {
  readonly next: number
  /** The only tenant that has asked; absent once there are several. */
  readonly tenant?: string | undefined
  /** Set once a second tenant has come, and never unset. */
  readonly shared?: true | undefined
}

interface Block {
  next: number
  readonly end: number
  readonly size: number
  readonly reservedAt: Time
}

/** The next of them. */
export type Numbers = () => number

/** Numbers for jobs that follow each other and are one tenant's; never none. */
interface Stretch {
  readonly tenant: string
  left: number
  next: number
}

/**
 * Job numbers, reserved in blocks: known before the insert, one small write per block. What a process does not use is
 * never used. They rise with time, which is what stores order by.
 *
 * While a store has one tenant, numbers follow each other: ids are short, and small numbers are what databases and V8 are
 * fastest with. Once a second one has come, a block belongs to one tenant and begins where the clock is, not where the
 * last one ended: two ids of a tenant tell how much time lies between them and how much it enqueued itself, and nothing
 * of what others did meanwhile.
 *
 * Invariant: of each block, all of [next, end) is reserved for this process and this tenant.
 */
export class IdBlocks {
  readonly #store: Store
  readonly #clock: StoreClock
  readonly #blocks = new Map<string, Block>()
  /** Reservations follow each other. */
  #reserving: Promise<void> = Promise.resolve()

  constructor(store: Store, clock: StoreClock) {
    this.#store = store
    this.#clock = clock
  }

  /** The first of `count` consecutive numbers. Synchronous where as many are at hand: nearly always. */
  take(tenant: string, count: number): number | Promise<number> {
    const block = this.#blocks.get(tenant)
    if (block === undefined || !this.#has(block, count)) return this.#takeOfNext(tenant, count)
    const first = block.next
    block.next += count
    return first
  }

  /**
   * A number for each of many, in their order: of the ith for this tenant, or none at all. Nearly always they are all for
   * one, hence one stretch. Synchronous where `take` is.
   */
  each(count: number, tenantOf: (i: number) => string | undefined): Numbers | Promise<Numbers> {
    const stretches: Stretch[] = []
    for (let i = 0; i < count; i += 1) {
      const tenant = tenantOf(i)
      if (tenant === undefined) continue
      const last = stretches[stretches.length - 1]
      if (last?.tenant === tenant) last.left += 1
      else stretches.push({ tenant, left: 1, next: 0 })
    }
    return this.#stretched(stretches, 0)
  }

  /** Drops all reserved numbers: the store gave one of them to another process, so it has lost the reservation. */
  forget(): void {
    this.#blocks.clear()
  }

  /** Whether it has as many, and is not so old that they would tell of another time. */
  #has({ next, end, reservedAt }: Block, count: number): boolean {
    return end - next >= count && this.#clock.now() - reservedAt < STALE_MS
  }

  async #takeOfNext(tenant: string, count: number): Promise<number> {
    const turn = this.#reserving.then(() => this.#reserve(tenant, count))
    this.#reserving = turn.catch(() => {})
    await turn
    return this.take(tenant, count)
  }

  /** Takes stretches one after the other, so that a tenant's numbers rise from one to the next. */
  #stretched(stretches: readonly Stretch[], from: number): Numbers | Promise<Numbers> {
    for (let n = from; n < stretches.length; n += 1) {
      const stretch = stretches[n] as Stretch
      const first = this.take(stretch.tenant, stretch.left)
      if (first instanceof Promise) {
        return first.then((late) => {
          stretch.next = late
          return this.#stretched(stretches, n + 1)
        })
      }
      stretch.next = first
    }
    return numbersIn(stretches)
  }

  async #reserve(tenant: string, count: number): Promise<void> {
    const before = this.#blocks.get(tenant)
    if (before !== undefined && this.#has(before, count)) return
    const reservedAt = this.#clock.now()
    const isFast = before !== undefined && reservedAt - before.reservedAt < FAST_MS
    const isSlow = before !== undefined && before.end - before.next >= count
    const sizeOf = (first: number, largest: number) =>
      isFast ? Math.min(largest, before.size * 2) : isSlow ? SLOW_BLOCK : first
    const { next, end, size } = await this.#advance(tenant, ({ shared }) => {
      const size = shared === true ? sizeOf(FIRST_OWN, LARGEST_OWN) : sizeOf(FIRST_BLOCK, LARGEST_BLOCK)
      return { size, taken: Math.max(size, count) }
    })
    this.#blocks.delete(tenant)
    this.#blocks.set(tenant, { next, end, size, reservedAt })
    if (this.#blocks.size > MOST_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value as string)
  }

  async #advance(
    tenant: string,
    wanted: (counter: Counter) => { readonly size: number; readonly taken: number },
  ): Promise<{ readonly next: number; readonly end: number; readonly size: number }> {
    const [read] = await this.#store.settings([{ op: 'get', collection: 'ids', key: 'next' }])
    let there = read?.settings[0]
    for (let n = 0; n < TRIES; n += 1) {
      const counter = this.#counted(tenant, counterIn(there))
      const { size, taken } = wanted(counter)
      const end = counter.next + taken
      const text = JSON.stringify({ ...counter, next: end })
      const rev = there?.rev ?? 0
      const askedMs = this.#clock.asked()
      const [written] = await this.#store.settings([{ op: 'put', collection: 'ids', key: 'next', text, rev }])
      assert(written !== undefined, 'every operation is answered')
      this.#clock.heard(written.now, askedMs)
      if (written.status === 'ok') return { next: counter.next, end, size }
      there = written.settings[0]
    }
    throw new Error(`pawl: no block of job ids could be reserved in ${TRIES} tries`)
  }

  /** The counter as it is for this tenant: where others have asked, it has moved on with the clock. */
  #counted(tenant: string, { next, tenant: only = tenant, shared }: Counter): Counter {
    if (shared !== true && only === tenant) return { next, tenant }
    return { next: Math.max(next, Math.min(LAST_FLOOR, (this.#clock.now() - EPOCH) * PER_MS)), shared: true }
  }
}

/** Numbers that jobs of these tenants have brought along, up to this one, are given to nobody else from now on. */
export async function skipNumbers(
  store: Pick<Store, 'settings'>,
  last: number,
  tenants: readonly string[],
): Promise<void> {
  for (let n = 0; n < TRIES; n += 1) {
    const [read] = await store.settings([{ op: 'get', collection: 'ids', key: 'next' }])
    const there = read?.settings[0]
    const counter = counterIn(there)
    const known = new Set(counter.tenant === undefined ? tenants : [counter.tenant, ...tenants])
    const whose = counter.shared === true || known.size > 1 ? { shared: true } : { tenant: [...known][0] }
    const text = JSON.stringify({ next: Math.max(counter.next, last + 1), ...whose })
    if (there?.text === text) return
    const rev = there?.rev ?? 0
    const [written] = await store.settings([{ op: 'put', collection: 'ids', key: 'next', text, rev }])
    if (written?.status === 'ok') return
  }
  throw new Error(`pawl: the counter of job ids was changed by others ${TRIES} times in a row`)
}

function numbersIn(stretches: readonly Stretch[]): Numbers {
  let at = 0
  return () => {
    if (stretches[at]?.left === 0) at += 1
    const stretch = stretches[at]
    assert(stretch !== undefined, 'as many are used as were asked for')
    stretch.left -= 1
    stretch.next += 1
    return stretch.next - 1
  }
}

function counterIn(setting: Setting | undefined): Counter {
  if (setting === undefined) return { next: 1 }
  const counter = JSON.parse(setting.text) as Counter
  assert(Number.isSafeInteger(counter.next) && counter.next > 0, 'the id counter is a positive whole number')
  return counter
}
