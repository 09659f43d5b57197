/**
 * Who keeps a worker's leases. A thread where the store can be opened by URL; until that thread says that it is ready,
 * should it die, and where there is none, the worker's own event loop. A thread that is gone is started again.
 */
import type { Engine } from '../engine/engine.ts'
import { Complaint } from '../system/complaint.ts'
import { type Log, silentLog } from '../system/log.ts'
import { type Service, service } from '../system/service.ts'
import type { Timers } from '../system/timers.ts'
import { within } from '../system/within.ts'
import { type KeeperAddress, type KeeperShare, keepBy } from './keeper-thread.ts'
import { LeaseKeeper, type LeaseNews } from './lease-keeper.ts'
import { LeaseTable } from './lease-table.ts'

export interface KeepingOptions {
  readonly engine: Engine
  readonly timers: Timers
  readonly log: Log
  readonly nowMs: () => number
  readonly capacity: number
  readonly onBlocked: 'keep' | 'lose'
  readonly thread: KeeperAddress | undefined
  readonly tell: (news: readonly LeaseNews[]) => void
}

const SHORTEST_SCAN_MS = 25
const LONGEST_SCAN_MS = 1_000
/** A thread whose store does not let it go is left behind: it keeps nothing, and no process alive. */
const END_WITHIN_MS = 2_000
/** A thread that is gone may have met a store that was away just then. */
const AGAIN_MS = 30_000

export class Keeping {
  readonly table: LeaseTable
  readonly #options: KeepingOptions
  readonly #onLoop: Service
  readonly #complaint = new Complaint()
  #share: KeeperShare | undefined
  #again: Disposable | undefined
  #ready = false
  #stopped = false

  constructor(options: KeepingOptions) {
    this.#options = options
    const memory = new SharedArrayBuffer(LeaseTable.bytes(options.capacity))
    this.table = new LeaseTable(memory)
    this.table.scanEveryMs = LONGEST_SCAN_MS
    const { engine, nowMs, tell, timers, log } = options
    // On its own loop a worker that is blocked is lost in any case: there is nothing to choose.
    const keeper = new LeaseKeeper({ engine, table: this.table, nowMs, tell, onBlocked: 'keep', log })
    const round = () => keeper.runOnce()
    this.#onLoop = service({ name: 'lease-keeper', everyMs: LONGEST_SCAN_MS, timers, log, round })
    this.#onLoop.start()
    if (options.thread !== undefined) this.#share = this.#keptBy(options.thread, memory)
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
    this.#share?.wake()
  }

  /** Begins rounds again after a time without leases. A thread looks now and then by itself. */
  wake(): void {
    if (!this.#ready) this.#onLoop.wake()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    this.#again?.[Symbol.dispose]()
    await Promise.all([this.#onLoop.stop(), within(this.#options.timers, END_WITHIN_MS, this.#share?.end())])
  }

  #keptBy(address: KeeperAddress, memory: SharedArrayBuffer): KeeperShare {
    const { log, tell, timers, onBlocked } = this.#options
    return keepBy(
      address,
      { memory, onBlocked, aloud: log !== silentLog },
      {
        tell,
        ready: () => {
          this.#ready = true
          this.#complaint.over()
          void this.#onLoop.stop()
        },
        gone: (reason) => {
          this.#share = undefined
          this.#complaint.about(reason, () =>
            log.error('the keeper thread is gone: leases are kept by the event loop', { reason }),
          )
          if (this.#stopped) return
          if (this.#ready) this.#onLoop.start()
          this.#ready = false
          this.#again = timers.after(AGAIN_MS, () => {
            this.#share = this.#keptBy(address, memory)
          })
        },
      },
    )
  }
}
