/**
 * One connection that lives as long as the store: it connects when first used, and again whenever it was lost. What
 * failed because of the connection, a deadlock or a serialization failure is repeated whole, with growing pauses, for a
 * bounded time; everything else is the caller's business.
 *
 * Nothing it does needs a session: no SET, and statements have names only for as long as that works. A name saves the
 * server reading the statement again (35 µs); a transaction pooler that does not know names, or a function that was
 * replaced under them, makes them an error before anything is done, and from then on there are none.
 *
 * Statements are pipelined where the connection leads to its backend. A transaction pooler lends a backend from one
 * ReadyForQuery to the next: of statements that follow each other without waiting, some halves go to one backend and
 * some to another, and answers go to whoever has it by then (pgbouncer 1.18 gave us strangers' errors, and none at all).
 * So it is asked whose backend that is, and behind a pooler one statement is under way at a time.
 */
import { digest } from '../../core/hash.ts'
import type { Clock } from '../../system/clock.ts'
import { Few } from '../../system/few.ts'
import type { Timers } from '../../system/timers.ts'
import { type Client, type Connect, type Question, TYPES } from './client.ts'

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

const PAUSE_MS_MAX = 500
export const LOCK_NOT_AVAILABLE = '55P03'

export class Connection {
  readonly #options: ConnectionOptions
  /** Present while connected or connecting. Forgotten when it breaks. */
  #client: Promise<Client> | undefined
  /** Statements under way. Sent as they come, answered in that order; each is a transaction of its own. */
  readonly #underWay = new Few<Promise<unknown>>()
  #named = true
  /** False for good once a pooler was seen in between. */
  #direct = true
  /** Behind a pooler: whoever comes next waits for it. */
  #turn: Promise<unknown> = Promise.resolve()
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
      return await this.#ask(client, { ...this.#name(text), text, values, rowMode: 'array', types: TYPES })
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

  async #ask(client: Client, question: Question): Promise<Row[]> {
    const asked = this.#direct ? client.query(question) : this.#turn.then(() => client.query(question))
    if (!this.#direct) this.#turn = asked.catch(() => {})
    const { rows } = await asked
    return rows as Row[]
  }

  #open(): Promise<Client> {
    const opening: Promise<Client> = this.#connected(() => this.#forget(opening))
    this.#client = opening
    return opening
  }

  async #connected(gone: () => void): Promise<Client> {
    const { url, connect } = this.#options
    for (;;) {
      const client = connect({ url, pipeline: this.#direct })
      let kept = true
      const lost = () => kept && gone()
      client.on('error', lost)
      client.on('end', lost)
      await client.connect()
      if (!this.#direct) return client
      const direct = await isDirect(client).catch((error: unknown) => error)
      if (direct === true) return client
      kept = false
      await client.end().catch(() => {})
      if (direct !== false) throw direct
      this.#direct = false
    }
  }

  /** False where it has been forgotten already. */
  #forget(client: Promise<Client>): boolean {
    if (this.#client !== client) return false
    this.#client = undefined
    return true
  }
}

/** A pooler answers for the server with a process id of its own invention. */
async function isDirect(client: Client): Promise<boolean> {
  const { rows } = await client.query({ text: 'select pg_backend_pid()', values: [], rowMode: 'array', types: TYPES })
  const [row] = rows as Row[]
  return row?.[0] === client.processId()
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
  return code === LOCK_NOT_AVAILABLE || /^(2[123]|54)/.test(code)
}
