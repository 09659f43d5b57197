/**
 * The thread that keeps leases, seen from the workers of this process. There is one for each store, however many workers
 * and handles on it there are: each of them would open the store for itself, and twenty-five of those had nothing left
 * of two cores to renew a lease with.
 *
 * A thread begins with its first table and ends with its last. It is asked to end and never made to: what it had under
 * way in the store must not be cut off, and it keeps no process alive.
 */
import { Worker as Thread } from 'node:worker_threads'
import type { Duration } from '../core/duration.ts'
import { reasonOf } from '../core/reason.ts'
import type { LeaseNews } from './lease-keeper.ts'

/** The thread's module, and how it opens the store. */
export interface KeeperAddress {
  readonly entry: URL
  readonly store: StoreAddress
}

export interface StoreAddress {
  /** Or what stands in its place: whatever of it can be handed to a thread. */
  readonly url: string | { readonly connection: object }
  /** Postgres: pawl's schema, where it is not the usual one. */
  readonly schema?: string | undefined
  /** Postgres: how long an answer may take before it is asked after, where it is not the usual. */
  readonly answerWithin?: Duration | undefined
}

/** The leases of one worker, for the thread to keep. */
export interface KeptTable {
  readonly memory: SharedArrayBuffer
  readonly onBlocked: 'keep' | 'lose'
  /**
   * Whether standard error may be told that the event loop stands still. The worker's own log cannot be: it would be called
   * on that loop.
   */
  readonly aloud: boolean
}

export interface KeeperListener {
  /** Called when the thread has begun to keep the table. */
  ready(): void
  tell(news: readonly LeaseNews[]): void
  /** Called when the thread keeps it no more, and why. */
  gone(reason: string): void
}

/** A worker's share in the thread. */
export interface KeeperShare {
  /** The table wants to be looked at more often than it was. */
  wake(): void
  /** Resolves when the thread has let go of the table, and, where it was the last, of the store. */
  end(): Promise<void>
}

export type ToKeeper =
  | { readonly keep: number; readonly table: KeptTable }
  | { readonly wake: number }
  | { readonly drop: number }
export type FromKeeper =
  | { readonly ready: number }
  | { readonly told: number; readonly news: readonly LeaseNews[] }
  | { readonly gone: string }

const threads = new Map<string, KeeperThread>()

/** Has a table kept by the thread of this store, which is started where there is none. */
export function keepBy(address: KeeperAddress, table: KeptTable, listener: KeeperListener): KeeperShare {
  const { store } = address
  const name = JSON.stringify([store.url, store.schema, store.answerWithin])
  const known = threads.get(name)
  if (known !== undefined) return known.keep(table, listener)
  const thread = new KeeperThread(address, () => threads.delete(name))
  threads.set(name, thread)
  return thread.keep(table, listener)
}

class KeeperThread {
  readonly #thread: Thread
  readonly #listeners = new Map<number, KeeperListener>()
  readonly #exited: Promise<void>
  /** Called once: when it will take no more tables, because it has none left or has come to an end by itself. */
  readonly #closed: () => void
  #tables = 0
  #reason = 'it ended'

  constructor({ entry, store }: KeeperAddress, closed: () => void) {
    this.#closed = closed
    this.#thread = new Thread(entry, { workerData: store, name: 'pawl-keeper' })
    this.#thread.on('message', (message: FromKeeper) => this.#hear(message))
    this.#thread.on('error', (error) => {
      this.#reason = reasonOf(error)
    })
    this.#exited = new Promise((resolve) => {
      this.#thread.once('exit', () => {
        this.#end()
        resolve()
      })
    })
    // The worker's own loop keeps the process alive, not its keeper.
    this.#thread.unref()
  }

  keep(table: KeptTable, listener: KeeperListener): KeeperShare {
    this.#tables += 1
    const number = this.#tables
    this.#listeners.set(number, listener)
    this.#say({ keep: number, table })
    return { wake: () => this.#say({ wake: number }), end: () => this.#drop(number) }
  }

  async #drop(number: number): Promise<void> {
    if (!this.#listeners.delete(number)) return
    this.#say({ drop: number })
    if (this.#listeners.size > 0) return
    this.#closed()
    await this.#exited
  }

  #hear(message: FromKeeper): void {
    if ('gone' in message) this.#reason = message.gone
    else if ('ready' in message) this.#listeners.get(message.ready)?.ready()
    else this.#listeners.get(message.told)?.tell(message.news)
  }

  #say(message: ToKeeper): void {
    this.#thread.postMessage(message)
  }

  #end(): void {
    if (this.#listeners.size === 0) return
    this.#closed()
    const listeners = [...this.#listeners.values()]
    this.#listeners.clear()
    for (const listener of listeners) listener.gone(this.#reason)
  }
}
