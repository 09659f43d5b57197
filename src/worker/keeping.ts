/**
 * Who keeps the leases. A thread of its own where the store can be opened by URL; until that thread says that it is
 * ready, should it die, and where there is none, the worker's own event loop.
 */
import { Worker as Thread } from 'node:worker_threads'
import type { Duration } from '../core/duration.ts'
import type { Engine } from '../engine/engine.ts'
import type { Log } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import { LeaseKeeper, type LeaseNews } from './lease-keeper.ts'
import { LeaseTable } from './lease-table.ts'

/** The thread's module, and how it opens the store. */
export interface KeeperThread {
  readonly entry: URL
  readonly store: StoreAddress
}

export interface StoreAddress {
  readonly url: string
  /** Postgres: pawl's schema, where it is not the usual one. */
  readonly schema?: string | undefined
  /** Postgres: how long an answer may take before it is asked after, where it is not the usual. */
  readonly answerWithin?: Duration | undefined
}

export interface KeepingOptions {
  readonly engine: Engine
  readonly timers: Timers
  readonly log: Log
  readonly nowMs: () => number
  readonly capacity: number
  readonly onBlocked: 'keep' | 'lose'
  readonly thread: KeeperThread | undefined
  readonly tell: (news: readonly LeaseNews[]) => void
}

/** What the thread is started with. */
export interface KeeperData {
  readonly memory: SharedArrayBuffer
  readonly store: StoreAddress
  readonly onBlocked: 'keep' | 'lose'
}

export type FromKeeper = { readonly ready: true } | { readonly news: readonly LeaseNews[] } | { readonly gone: string }
export type ToKeeper = 'wake' | 'stop'

const SHORTEST_SCAN_MS = 25
const LONGEST_SCAN_MS = 1_000

export class Keeping {
  readonly table: LeaseTable
  readonly #options: KeepingOptions
  readonly #onLoop: Service
  #thread: Thread | undefined
  #ready = false
  #stopped = false

  constructor(options: KeepingOptions) {
    this.#options = options
    const memory = new SharedArrayBuffer(LeaseTable.bytes(options.capacity))
    this.table = new LeaseTable(memory)
    this.table.scanEveryMs = LONGEST_SCAN_MS
    const { engine, nowMs, tell, timers, log } = options
    // On its own loop a worker that is blocked is lost in any case: there is nothing to choose.
    const keeper = new LeaseKeeper({ engine, table: this.table, nowMs, tell, onBlocked: 'keep' })
    const round = () => keeper.runOnce()
    this.#onLoop = service({ name: 'lease-keeper', everyMs: LONGEST_SCAN_MS, timers, log, round })
    this.#onLoop.start()
    if (options.thread !== undefined) this.#startThread(options.thread, memory)
  }

  get where(): 'thread' | 'main' {
    return this.#ready ? 'thread' : 'main'
  }

  /** A lease this short is among those kept: the keeper looks often enough for it. */
  expect(windowMs: number): void {
    const scanMs = Math.max(SHORTEST_SCAN_MS, Math.min(LONGEST_SCAN_MS, Math.floor(windowMs / 10)))
    if (scanMs >= this.table.scanEveryMs) return
    this.table.scanEveryMs = scanMs
    this.#onLoop.wake()
    this.#thread?.postMessage('wake' satisfies ToKeeper)
  }

  /** There are leases to keep after a time without any. The thread looks now and then by itself. */
  wake(): void {
    if (!this.#ready) this.#onLoop.wake()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    const thread = this.#thread
    await this.#onLoop.stop()
    if (thread === undefined) return
    const gone = new Promise<void>((resolve) => thread.once('exit', () => resolve()))
    thread.ref()
    thread.postMessage('stop' satisfies ToKeeper)
    const patience = this.#options.timers.after(STOP_WITHIN_MS, () => void thread.terminate())
    await gone
    patience[Symbol.dispose]()
  }

  #startThread({ entry, store }: KeeperThread, memory: SharedArrayBuffer): void {
    const { log, tell, onBlocked } = this.#options
    const workerData: KeeperData = { memory, store, onBlocked }
    const thread = new Thread(entry, { workerData, name: 'pawl-keeper' })
    this.#thread = thread
    thread.on('message', (message: FromKeeper) => {
      if ('news' in message) tell(message.news)
      else if ('ready' in message) {
        this.#ready = true
        void this.#onLoop.stop()
      } else log.warn('the keeper thread gives up', { reason: message.gone })
    })
    thread.on('error', (error) => log.error('the keeper thread failed', { reason: String(error) }))
    thread.once('exit', () => {
      this.#thread = undefined
      if (!this.#ready) return
      this.#ready = false
      if (!this.#stopped) this.#onLoop.start()
    })
    // The worker's own loop keeps the process alive, not its keeper.
    thread.unref()
  }
}

const STOP_WITHIN_MS = 2_000
