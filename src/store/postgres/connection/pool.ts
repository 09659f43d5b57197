/**
 * Clients out of a pool that belongs to the application. Nothing pawl does needs a session, so a client is borrowed for a
 * statement and given back (`lent.ts`): as through a transaction pooler, only that this one is in our own process. What
 * does need a session (listening, a handler's transaction), and what an application waits for while its own transaction
 * has a client of the same pool, keeps one for longer (`held.ts`).
 */
import type pg from 'pg'
import type { Timers } from '../../../system/timers.ts'
import type { PooledClient, PostgresPool } from './address.ts'
import { socketOf } from './client.ts'
import { PoolEnded, PoolUsedUp } from './trouble.ts'

/** Clients a pool must have: one that listens, one that looks up, one for everything else. */
const LEAST = 3

export function mustSuffice({ options: { max = LEAST } }: PostgresPool): void {
  if (max >= LEAST) return
  throw new Error(
    `pawl: a pool of ${max} is too small: one client listens, one looks things up, and the rest has to go somewhere. Give it ${LEAST} or more, besides what the application needs; or use open({ connection }).`,
  )
}

export interface Lender {
  readonly pool: PostgresPool
  readonly timers: Timers
  /** How long a loan waits for a client while all of the pool's are in use. */
  readonly retryForMs: number
}

/** Borrows clients of an application's pool, one at a time, until it is ended. */
export class Loan {
  readonly #lender: Lender
  readonly #over = Promise.withResolvers<Error | undefined>()
  #client: pg.PoolClient | undefined
  /** Present once a client was asked for. */
  #waiting: PromiseWithResolvers<pg.PoolClient> | undefined

  constructor(lender: Lender) {
    this.#lender = lender
  }

  get where(): string {
    const { totalCount, idleCount, options } = this.#lender.pool
    return `the pool it was given, ${totalCount - idleCount} of whose ${options.max ?? totalCount} clients are in use`
  }

  /** Resolves when it is over, with the error that ended it, if there was one. */
  get over(): Promise<Error | undefined> {
    return this.#over.promise
  }

  /** The client that is borrowed now, if one is. */
  get client(): pg.PoolClient | undefined {
    return this.#client
  }

  /** Rejects where the loan is ended meanwhile: a client that the pool lends after that is given back at once. */
  async take(): Promise<pg.PoolClient> {
    const waiting = Promise.withResolvers<pg.PoolClient>()
    this.#waiting = waiting
    const came = (client: PooledClient) => {
      if (this.#waiting === waiting && isDriver(client)) return waiting.resolve(client)
      client.release()
      waiting.reject(
        new Error('pawl: the clients of this pool are not those of pg in JavaScript; native ones cannot be used'),
      )
    }
    const { pool, timers, retryForMs } = this.#lender
    pool.connect().then(came, (error: unknown) => waiting.reject(pool.ending === true ? new PoolEnded() : error))
    const patience = timers.after(retryForMs, () => {
      this.#waiting = undefined
      waiting.reject(new PoolUsedUp(this.where, retryForMs))
    })
    const client = await waiting.promise.finally(() => patience[Symbol.dispose]())
    if (this.#waiting !== waiting) {
      client.release()
      throw new Error('Connection terminated')
    }
    client.on('error', this.#failed)
    this.#client = client
    return client
  }

  /** `ended`: its socket is closed at once, without taking leave of a server that may not hear it. */
  giveBack(how: 'as it was' | 'ended'): void {
    const client = this.#client
    if (client === undefined) return
    this.#client = undefined
    if (how === 'ended') {
      socketOf(client).destroy()
      client.release(true)
    } else {
      client.off('error', this.#failed)
      client.release()
    }
  }

  end(): void {
    this.#waiting?.reject(new Error('Connection terminated'))
    this.#waiting = undefined
    this.giveBack('ended')
    this.#over.resolve(undefined)
  }

  readonly #failed = (error: Error): void => {
    this.#over.resolve(error)
    this.end()
  }
}

const isDriver = (client: PooledClient): client is pg.PoolClient => 'connection' in client
