/**
 * One connection for one kind of work: it is opened when it is used, again whenever it was lost, and closed when it has
 * not been used for a while or another needs its place (places.ts). What
 * failed because of the connection, a deadlock or a serialization failure is repeated whole, with growing pauses, for a
 * bounded time; everything else is the caller's business.
 *
 * Nothing it does needs a session: statements have names only for as long as that works. A name saves the server reading
 * the statement again (35 µs); a transaction pooler that does not know names, or a function that was replaced under them,
 * makes them an error before anything is done, and from then on there are none.
 *
 * Statements are pipelined where the connection leads to its backend. A transaction pooler lends a backend from one
 * ReadyForQuery to the next: of statements that follow each other without waiting, some halves go to one backend and
 * some to another, and answers go to the client that has it by then (pgbouncer 1.18 gave us strangers' errors, and none at all).
 * So it is asked whose backend that is, and behind a pooler one statement is under way at a time.
 */
import { digest } from '../../../core/hash.ts'
import type { Clock } from '../../../system/clock.ts'
import { Few } from '../../../system/few.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Row } from './client.ts'
import type { Link, Role } from './link.ts'
import type { Places, Tenant } from './places.ts'
import type { Route } from './route.ts'
import {
  codeOf,
  isAboutNames,
  isContended,
  isDemoted,
  isLost,
  LOCK_NOT_AVAILABLE,
  PostgresRewound,
  PostgresUnavailable,
  UNIQUE_VIOLATION,
} from './trouble.ts'

export interface ConnectionParts {
  readonly route: Route
  readonly role: Role
  readonly places: Places
  /** A second one for what another serves already, while there is a place left. */
  readonly isSpare?: boolean | undefined
  readonly clock: Clock
  readonly timers: Timers
}

const PAUSE_MS_MAX = 500
/** How long a statement is repeated that others' locks keep from being done. */
const CONTEND_FOR_MS = 30_000

export class Connection implements Tenant {
  readonly #parts: ConnectionParts
  /** Present while connected or connecting. Forgotten when it breaks. */
  #link: Promise<Link> | undefined
  /** Statements under way. Each is a transaction of its own. */
  readonly #underWay = new Few<Promise<unknown>>()
  #named = true
  #usedMs = 0
  /** Present while it makes place: nothing is to be given to it. */
  #resting: Promise<void> | undefined
  /** Aborted once the connection is asked to close: a statement that fails from then on is not tried again. */
  readonly #leaving = new AbortController()
  #closed = false

  constructor(parts: ConnectionParts) {
    this.#parts = parts
  }

  /**
   * `again` is true where an earlier try may have been applied although it was not answered. A lock that is not to be had
   * in time is waited for again, unless the caller would rather break its batch up.
   */
  async run(text: string, values: (again: boolean) => unknown[], mayBreakUp = false): Promise<Row[]> {
    const { clock, timers } = this.#parts
    const askedMs = clock.monotonicMs()
    let fromMs = askedMs
    let again = false
    for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
      const named = this.#named
      try {
        return await this.#answered(this.#once(text, values(again), fromMs, askedMs))
      } catch (error) {
        if (named && isAboutNames(error)) {
          this.#named = false
          continue
        }
        const nowMs = clock.monotonicMs()
        const lost = error instanceof PostgresUnavailable && error.mayBeApplied
        // However long it took to find out: what was lost is worth another try.
        if (lost && !again) fromMs = nowMs
        if (this.#giveUpMs(error, fromMs, again, mayBreakUp) < nowMs + pauseMs) throw error
        again ||= lost
      }
      await timers.sleep(pauseMs, this.#leaving.signal)
    }
  }

  /** Statements sent and not answered yet. */
  get underWay(): number {
    return this.#underWay.size
  }

  get isSpare(): boolean {
    return this.#parts.isSpare ?? false
  }

  get unusedSinceMs(): number | undefined {
    return this.#underWay.size > 0 ? undefined : this.#usedMs
  }

  /** Whether something may be given to it: a spare one must have a place, or find one left. */
  get mayServe(): boolean {
    return !this.isSpare || (this.#resting === undefined && (this.#link !== undefined || !this.#parts.places.isFull))
  }

  rest(): Promise<void> {
    this.#resting ??= this.#rest().finally(() => {
      this.#resting = undefined
    })
    return this.#resting
  }

  /** Begins to close: statements under way end by themselves, and one that fails is not repeated but fails its caller. */
  leave(): void {
    this.#leaving.abort()
  }

  async close(): Promise<void> {
    this.leave()
    this.#closed = true
    const link = await this.#link?.catch(() => undefined)
    this.#link = undefined
    await link?.close(this.#parts.timers)
    await Promise.allSettled(this.#underWay)
  }

  async #rest(): Promise<void> {
    while (this.#underWay.size > 0) {
      // A home that is used again need not make place.
      if (!this.isSpare) return
      await Promise.allSettled(this.#underWay)
    }
    const link = this.#link
    this.#link = undefined
    await (await link?.catch(() => undefined))?.close(this.#parts.timers)
  }

  /** Until when a statement that failed with this error is repeated. */
  #giveUpMs(error: unknown, fromMs: number, again: boolean, mayBreakUp: boolean): number {
    if (this.#leaving.signal.aborted) return 0
    if (error instanceof PostgresUnavailable) return this.#parts.route.giveUpMs(fromMs)
    const code = codeOf(error)
    // The try that was lost may hold this lock, about to commit: then its rows are there the next time.
    const inTheWay = !mayBreakUp && (code === LOCK_NOT_AVAILABLE || (again && code === UNIQUE_VIOLATION))
    return inTheWay || isContended(error) ? fromMs + CONTEND_FOR_MS : 0
  }

  async #answered<T>(statement: Promise<T>): Promise<T> {
    this.#underWay.add(statement)
    try {
      return await statement
    } finally {
      this.#underWay.delete(statement)
      this.#usedMs = this.#parts.clock.monotonicMs()
    }
  }

  async #once(text: string, values: unknown[], fromMs: number, askedMs: number): Promise<Row[]> {
    if (this.#closed) throw new Error('pawl: the store is closed')
    const opening = this.#link ?? this.#open(fromMs)
    const link = await opening
    // The server has lost kinds, so numbers in this statement may stand for others there: the caller interns anew and asks again.
    if (askedMs <= this.#parts.route.rewoundMs) throw new PostgresRewound()
    try {
      return await link.ask(text, values, this.#named ? nameOf(text) : undefined)
    } catch (error) {
      const lost = isLost(error)
      if (!lost && !isDemoted(error)) throw error
      // Several statements were under way on the lost link: the first of them to fail forgets it for all.
      this.#forget(opening)
      if (lost) link.abandon(error instanceof Error ? error : undefined)
      else this.#parts.route.demoted(error)
      const cause = link.reason ?? error
      throw new PostgresUnavailable([{ where: link.client.where, cause }], { mayBeApplied: lost })
    }
  }

  #open(fromMs: number): Promise<Link> {
    const opening = this.#opened(fromMs)
    const forget = () => this.#forget(opening)
    opening.then(({ gone }) => gone).then(forget, forget)
    this.#link = opening
    return opening
  }

  async #opened(fromMs: number): Promise<Link> {
    const { route, role, places } = this.#parts
    const place = await places.take(this)
    const free = () => place[Symbol.dispose]()
    try {
      const link = await route.open(role, route.giveUpMs(fromMs), this.#leaving.signal)
      void link.gone.then(free)
      return link
    } catch (error) {
      free()
      throw error
    }
  }

  #forget(link: Promise<Link>): void {
    if (this.#link === link) this.#link = undefined
  }
}

/** A digest of the statement: if another session of a pooler's backend has prepared this name, it prepared the same text. */
const nameOf = (text: string): string => `pawl_${digest(text)}`

/** The connection with the fewest statements under way: one works while the other waits for the disk. */
export function leastBusy([first, ...others]: readonly [Connection, ...Connection[]]): Connection {
  return others.reduce((a, b) => (b.underWay < a.underWay && b.mayServe ? b : a), first)
}
