/**
 * Transactions for `ctx.tx`, on connections of their own: a handler that takes its time must not hold up a worker. A few
 * at most, opened when they are wanted and closed when none was for a while; a handler who finds all taken waits for one.
 */
import type { Clock } from '../../../system/clock.ts'
import type { Timers } from '../../../system/timers.ts'
import type { Transaction } from '../../store.ts'
import type { Link, Role } from './link.ts'
import type { Route } from './route.ts'
import { isLost, PostgresUnavailable } from './trouble.ts'

export interface TransactionParts {
  readonly route: Route
  readonly clock: Clock
  readonly timers: Timers
}

const MOST = 10
const IDLE_MS = 10_000

/** How long a statement of the handler's may take is the handler's business, as long as the server is seen at it. */
const TRANSACTION: Role = { name: 'transaction', pipeline: false, workMs: Number.POSITIVE_INFINITY }

interface Idle {
  readonly link: Link
  readonly expiry: Disposable
}

export class Transactions {
  readonly #parts: TransactionParts
  readonly #idle: Idle[] = []
  readonly #waiting: (() => void)[] = []
  #taken = 0
  readonly #closing = new AbortController()

  constructor(parts: TransactionParts) {
    this.#parts = parts
  }

  /** Commits when `work` is done, rolls back where it throws. Nothing is repeated but the beginning. */
  async run<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    await this.#place()
    try {
      const link = await this.#begun()
      try {
        const value = await work(link.client.driver)
        await link.ask('commit')
        this.#keep(link)
        return value
      } catch (error) {
        // If even that fails the connection is given up, and the server rolls back when it notices.
        await link.ask('rollback').then(
          () => this.#keep(link),
          () => link.abandon(undefined),
        )
        throw error
      }
    } finally {
      this.#taken -= 1
      this.#waiting.shift()?.()
    }
  }

  /** Handlers' transactions under way are not waited for: closing the route ends them. */
  close(): void {
    this.#closing.abort()
    for (const { expiry } of this.#idle.splice(0)) expiry[Symbol.dispose]()
  }

  async #place(): Promise<void> {
    while (this.#taken >= MOST) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#taken += 1
  }

  /** A connection may have died while nobody used it: nothing was done on it, so another will do. */
  async #begun(): Promise<Link> {
    const { route, clock } = this.#parts
    const askedMs = clock.monotonicMs()
    for (;;) {
      const link = this.#rested() ?? (await route.open(TRANSACTION, route.giveUpMs(askedMs), this.#closing.signal))
      try {
        await link.ask('begin')
        return link
      } catch (error) {
        link.abandon(undefined)
        if (!isLost(error)) throw error
        if (clock.monotonicMs() > route.giveUpMs(askedMs)) {
          throw new PostgresUnavailable([{ where: link.client.where, cause: link.reason ?? error }])
        }
      }
    }
  }

  #rested(): Link | undefined {
    const rested = this.#idle.pop()
    rested?.expiry[Symbol.dispose]()
    return rested?.link
  }

  #keep(link: Link): void {
    const { timers } = this.#parts
    const forget = () => {
      const place = this.#idle.findIndex((each) => each.link === link)
      if (place < 0) return
      const [rested] = this.#idle.splice(place, 1)
      rested?.expiry[Symbol.dispose]()
      void link.close(timers)
    }
    if (this.#closing.signal.aborted) return void link.close(timers)
    this.#idle.push({ link, expiry: timers.after(IDLE_MS, forget) })
    void link.gone.then(forget)
  }
}
