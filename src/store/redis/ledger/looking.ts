/**
 * Looks now and then whether the server and the ledger still are where they should be, although nobody asks: an entry that was left by a
 * process which died right after its script would wait until somebody else writes, and where answers wait for the server alone a server
 * that went back on an open connection would tell what was so once.
 */
import type { Timers } from '../../../system/timers.ts'
import type { Shipping } from './shipping.ts'

/** Between two looks. */
const PAUSE_MS = 1_000

export class Looking {
  readonly #closing = new AbortController()
  readonly #running: Promise<void>

  constructor(shipping: Pick<Shipping, 'look'>, timers: Timers) {
    this.#running = this.#run(shipping, timers)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
  }

  async #run(shipping: Pick<Shipping, 'look'>, timers: Timers): Promise<void> {
    const { signal } = this.#closing
    for (;;) {
      await timers.sleep(PAUSE_MS, signal)
      if (signal.aborted) return
      shipping.look()
    }
  }
}
