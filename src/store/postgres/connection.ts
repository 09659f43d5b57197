/**
 * One connection that lives as long as the store: it connects when first used, and again whenever it was lost. What
 * failed because of the connection, a deadlock or a serialization failure is repeated whole, with growing pauses, for a
 * bounded time; everything else is the caller's business.
 *
 * Nothing it does needs a session: no SET, and statements have names only for as long as that works. A name saves the
 * server reading the statement again (35 µs); a transaction pooler that does not know names, or a function that was
 * replaced under them, makes them an error before anything is done, and from then on there are none.
 */
import pg from 'pg'
import { digest } from '../../core/hash.ts'
import type { Clock } from '../../system/clock.ts'
import { Few } from '../../system/few.ts'
import type { Timers } from '../../system/timers.ts'

/** What is used of `pg`'s client; tests put something in between. */
export interface Client {
  connect(): Promise<unknown>
  query(config: {
    name?: string
    text: string
    values: unknown[]
    rowMode: 'array'
    types: typeof TYPES
  }): Promise<{ rows: unknown[] }>
  end(): Promise<void>
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown
}

export type Connect = (url: string) => Client

export const connectWithPg: Connect = (url) =>
  new pg.Client({
    connectionString: url,
    query_timeout: QUERY_MS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    pipeline: true,
  })

export interface ConnectionOptions {
  readonly url: string
  readonly connect: Connect
  readonly clock: Clock
  readonly timers: Timers
  readonly retryForMs: number
}

/** The server could not be reached for as long as it was tried. Nothing is known about what was asked last. */
export class PostgresUnavailable extends Error {
  override readonly name = 'PostgresUnavailable'
  readonly code = 'UNAVAILABLE'

  constructor(cause: unknown) {
    super(`pawl: Postgres does not answer: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** A row, column by column. Numbers are numbers, everything else is text or null. */
export type Row = readonly (string | number | boolean | null)[]

const QUERY_MS = 60_000
const CONNECT_MS = 10_000
const PAUSE_MS_MAX = 500
export const LOCK_NOT_AVAILABLE = '55P03'

const INT2 = 21
const INT4 = 23
const INT8 = 20
const BOOL = 16

/** 8-byte numbers are times, ids and counts: all of them safe integers. */
const TYPES = {
  getTypeParser: (oid: number): ((text: string) => unknown) =>
    oid === INT8 || oid === INT4 || oid === INT2 ? Number : oid === BOOL ? isTrue : asIs,
}
const isTrue = (text: string): boolean => text === 't'
const asIs = (text: string): string => text

export class Connection {
  readonly #options: ConnectionOptions
  /** Present while connected or connecting. Forgotten when it breaks. */
  #client: Promise<Client> | undefined
  /** Statements under way. Sent as they come, answered in that order; each is a transaction of its own. */
  readonly #underWay = new Few<Promise<unknown>>()
  #named = true
  /** Asked to close: what fails now is not tried again. */
  #leaving = false
  #closed = false

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /**
   * `again` is true where an earlier try may have been applied although it was not answered. A lock that is not to be had
   * in time is waited for again, unless the caller would rather break its batch up.
   */
  async run(text: string, values: (again: boolean) => unknown[], mayBreakUp = false): Promise<Row[]> {
    const { clock, timers, retryForMs } = this.#options
    const giveUpAt = clock.monotonicMs() + retryForMs
    let again = false
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      const named = this.#named
      try {
        return await this.#answered(this.#once(text, values(again)))
      } catch (error) {
        const passing = isPassing(error) || (!mayBreakUp && codeOf(error) === LOCK_NOT_AVAILABLE)
        const over = this.#leaving || clock.monotonicMs() + pauseMs > giveUpAt
        if (over && isLost(error)) throw new PostgresUnavailable(error)
        if (named && isAboutNames(error)) {
          this.#named = false
          continue
        }
        if (over || !passing) throw error
        again ||= isLost(error)
      }
      await timers.sleep(pauseMs)
    }
  }

  /** Statements sent and not answered yet. */
  get underWay(): number {
    return this.#underWay.size
  }

  /** What is under way ends by itself; what fails is the caller's business from now on. */
  leave(): void {
    this.#leaving = true
  }

  async close(): Promise<void> {
    this.#leaving = true
    this.#closed = true
    await Promise.allSettled(this.#underWay)
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) await client.then((connected) => connected.end()).catch(() => {})
  }

  async #answered<T>(statement: Promise<T>): Promise<T> {
    this.#underWay.add(statement)
    try {
      return await statement
    } finally {
      this.#underWay.delete(statement)
    }
  }

  async #once(text: string, values: unknown[]): Promise<Row[]> {
    if (this.#closed) throw new Error('pawl: the store is closed')
    const opening = this.#client ?? this.#open()
    let client: Client
    try {
      client = await opening
    } catch (error) {
      this.#forget(opening)
      throw error
    }
    try {
      const { rows } = await client.query({ ...this.#name(text), text, values, rowMode: 'array', types: TYPES })
      return rows as Row[]
    } catch (error) {
      // Of all statements that were under way on it, the first to fail sees it off.
      if (isLost(error) && this.#forget(opening)) client.end().catch(() => {})
      throw error
    }
  }

  /** By its words: whoever else prepared something under this name prepared the same. */
  #name(text: string): { name?: string } {
    return this.#named ? { name: `pawl_${digest(text)}` } : UNNAMED
  }

  #open(): Promise<Client> {
    const client = this.#options.connect(this.#options.url)
    const opening = client.connect().then(() => client)
    const forget = () => this.#forget(opening)
    client.on('error', forget)
    client.on('end', forget)
    this.#client = opening
    return opening
  }

  /** False where it has been forgotten already. */
  #forget(client: Promise<Client>): boolean {
    if (this.#client !== client) return false
    this.#client = undefined
    return true
  }
}

/** Of several connections that serve the same: work goes on on one while the other waits for the disk. */
export function leastBusy([first, ...others]: readonly [Connection, ...Connection[]]): Connection {
  return others.reduce((a, b) => (b.underWay < a.underWay ? b : a), first)
}

export const codeOf = (error: unknown): string => {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
  return typeof code === 'string' ? code : ''
}

/** The connection is gone, or was never there: whether the statement was applied is not known. */
export function isLost(error: unknown): boolean {
  const code = codeOf(error)
  if (/^(08|57P0[1-5])/.test(code) || /^E(CONN|PIPE|TIMEDOUT|HOST|NET)/.test(code)) return true
  const message = error instanceof Error ? error.message : ''
  return (
    code === '' &&
    /Connection terminated|Client has encountered|timeout|not queryable|was closed|server conn/i.test(message)
  )
}

/** Passes by itself: repeated whole. */
export function isPassing(error: unknown): boolean {
  const code = codeOf(error)
  return isLost(error) || code === '40001' || code === '40P01' || code === '53300' || code === '53200'
}

/** No such statement, one of that name already, or one whose answer would look different now: nothing was done. */
const isAboutNames = (error: unknown): boolean => ['26000', '42P05', '0A000'].includes(codeOf(error))

const UNNAMED = {}

/** One item may be to blame: the batch is broken up. */
export function isItems(error: unknown): boolean {
  const code = codeOf(error)
  return code === LOCK_NOT_AVAILABLE || /^(2[23]|54)/.test(code)
}
