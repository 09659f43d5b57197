/**
 * Every lease a worker holds, in memory that two threads share: the worker adds and removes, the keeper renews. No
 * message per job, no lock. A row belongs to its worker while its sequence number is positive; everything in it is
 * written before that number and read again if it has changed meanwhile. What the keeper answers goes into two cells
 * that only the keeper writes, stamped with the sequence number they are about.
 *
 * Times are milliseconds of the machine's monotonic clock, cut to 32 bits and compared by their difference: exact for
 * leases of up to 24 days, and they never run out.
 */
import { assert, violated } from '../core/assert.ts'
import { fenceOf, nonceIn } from '../core/fence.ts'
import { idNumber, idText } from '../core/id.ts'
import type { JobId } from '../core/job.ts'

const HEADER = 8
const HIGH_WATER = 0
const PULSE = 1
const SCAN_EVERY_MS = 2

const WIDTH = 13
const SEQ = 0
const ID_HIGH = 1
const ID_LOW = 2
const GENERATION = 3
const ATTEMPT = 4
const NONCE_HIGH = 5
const NONCE_LOW = 6
const EXPIRES = 7
const WINDOW = 8
const BEAT_EVERY = 9
const RENEWED_SEQ = 10
const RENEWED_UNTIL = 11
const LIMIT = 12

export interface LeaseRow {
  readonly id: JobId
  readonly generation: number
  readonly attempt: number
  readonly fence: string
  /** On the machine's monotonic clock, and never later than the store's own end of the lease. */
  readonly expiresMs: number
  readonly windowMs: number
  /** 0: the type switched heartbeats off. */
  readonly beatEveryMs: number
  /** How long the attempt may take: the patience of `onBlocked: 'keep'`. */
  readonly limitMs: number
}

/** Where a lease stands in the table, and which of the row's many uses it is. */
export interface LeasePlace {
  readonly row: number
  readonly seq: number
}

export class LeaseTable {
  readonly #cells: Int32Array
  readonly #capacity: number
  /** Rows that nobody uses. Known to the worker's side only. */
  readonly #free: number[]
  /** One nonce serves a whole claim: it is read once. */
  #nonce = ''
  #nonceHigh = 0
  #nonceLow = 0

  constructor(memory: ArrayBufferLike) {
    this.#cells = new Int32Array(memory)
    this.#capacity = (this.#cells.length - HEADER) / WIDTH
    this.#free = Array.from({ length: this.#capacity }, (_, i) => this.#capacity - 1 - i)
  }

  static bytes(capacity: number): number {
    return (HEADER + capacity * WIDTH) * Int32Array.BYTES_PER_ELEMENT
  }

  get capacity(): number {
    return this.#capacity
  }

  get room(): number {
    return this.#free.length
  }

  add(lease: LeaseRow): LeasePlace {
    const row = this.#free.pop()
    assert(row !== undefined, 'a worker never claims more than its table holds')
    const cells = this.#cells
    const at = HEADER + row * WIDTH
    const number = idNumber(lease.id)
    if (number === undefined) violated(`${lease.id} is a job id`)
    cells[at + ID_HIGH] = Math.floor(number / 0x1_0000_0000)
    cells[at + ID_LOW] = number | 0
    cells[at + GENERATION] = lease.generation
    cells[at + ATTEMPT] = lease.attempt
    this.#readNonce(lease.fence)
    cells[at + NONCE_HIGH] = this.#nonceHigh
    cells[at + NONCE_LOW] = this.#nonceLow
    cells[at + EXPIRES] = lease.expiresMs | 0
    cells[at + WINDOW] = lease.windowMs
    cells[at + BEAT_EVERY] = lease.beatEveryMs
    cells[at + LIMIT] = lease.limitMs
    const seq = -(cells[at + SEQ] as number) + 1
    Atomics.store(cells, at + SEQ, seq)
    if ((cells[HIGH_WATER] as number) <= row) Atomics.store(cells, HIGH_WATER, row + 1)
    return { row, seq }
  }

  remove({ row, seq }: LeasePlace): void {
    const at = HEADER + row * WIDTH
    assert(this.#cells[at + SEQ] === seq, 'a lease is removed once')
    // Before the number overflows it begins again: nobody remembers a lease of two thousand million uses ago.
    Atomics.store(this.#cells, at + SEQ, seq === 0x7fff_fffe ? 0 : -seq)
    this.#free.push(row)
  }

  /** The end of the lease as far as this process knows, in milliseconds from `nowMs`; negative once it is over. */
  leftMs({ row, seq }: LeasePlace, nowMs: number): number {
    const at = HEADER + row * WIDTH
    const cells = this.#cells
    let until = cells[at + EXPIRES] as number
    if (Atomics.load(cells, at + RENEWED_SEQ) === seq) {
      const renewed = Atomics.load(cells, at + RENEWED_UNTIL)
      if (Atomics.load(cells, at + RENEWED_SEQ) === seq) until = renewed
    }
    return (until - (nowMs | 0)) | 0
  }

  /** The worker's event loop is alive. */
  pulse(): void {
    Atomics.add(this.#cells, PULSE, 1)
  }

  get pulses(): number {
    return Atomics.load(this.#cells, PULSE)
  }

  get scanEveryMs(): number {
    return Atomics.load(this.#cells, SCAN_EVERY_MS)
  }

  set scanEveryMs(ms: number) {
    Atomics.store(this.#cells, SCAN_EVERY_MS, ms)
  }

  /** Rows in use lie below this. */
  get highWater(): number {
    return Atomics.load(this.#cells, HIGH_WATER)
  }

  /** The row's sequence number if it is in use, else something that is not positive. */
  seqOf(row: number): number {
    return Atomics.load(this.#cells, HEADER + row * WIDTH + SEQ)
  }

  /** The keeper's view of a row; undefined if it changed hands while being read. */
  read(row: number, seq: number): LeaseRow | undefined {
    const cells = this.#cells
    const at = HEADER + row * WIDTH
    const number = (cells[at + ID_HIGH] as number) * 0x1_0000_0000 + ((cells[at + ID_LOW] as number) >>> 0)
    const generation = cells[at + GENERATION] as number
    const attempt = cells[at + ATTEMPT] as number
    const nonce = hex(cells[at + NONCE_HIGH] as number) + hex(cells[at + NONCE_LOW] as number)
    const expiresMs = cells[at + EXPIRES] as number
    const windowMs = cells[at + WINDOW] as number
    const beatEveryMs = cells[at + BEAT_EVERY] as number
    const limitMs = (cells[at + LIMIT] as number) >>> 0
    if (this.seqOf(row) !== seq) return undefined
    const fence = fenceOf(generation, attempt, nonce)
    return { id: idText(number), generation, attempt, fence, expiresMs, windowMs, beatEveryMs, limitMs }
  }

  renew({ row, seq }: LeasePlace, untilMs: number): void {
    const at = HEADER + row * WIDTH
    Atomics.store(this.#cells, at + RENEWED_SEQ, 0)
    Atomics.store(this.#cells, at + RENEWED_UNTIL, untilMs | 0)
    Atomics.store(this.#cells, at + RENEWED_SEQ, seq)
  }

  #readNonce(fence: string): void {
    const nonce = nonceIn(fence)
    if (nonce === this.#nonce) return
    this.#nonce = nonce
    this.#nonceHigh = Number.parseInt(nonce.slice(0, 8), 16) | 0
    this.#nonceLow = Number.parseInt(nonce.slice(8), 16) | 0
  }
}

const hex = (word: number): string => (word >>> 0).toString(16).padStart(8, '0')
