import { setTimeout as pause } from 'node:timers/promises'
import type { OpenTransaction, Seat } from '../../../src/store/conformance/conformance.ts'
import type { Store } from '../../../src/store/store.ts'

export interface RealSeat {
  readonly open: () => Promise<Store>
  readonly transaction?: () => Promise<OpenTransaction>
}

/** A seat on a store that runs by the clock of a real machine, which can only be waited for. */
export async function realSeat({ open, transaction }: RealSeat): Promise<Seat> {
  const store = await open()
  const stores = [store]
  const more = async () => {
    const next = await open()
    stores.push(next)
    return next
  }
  return {
    store,
    async advance(ms) {
      const until = performance.now() + ms
      // A timer may fire a little early; the store's clock must have passed.
      for (let leftMs = ms; leftMs > 0; leftMs = until - performance.now()) await pause(Math.ceil(leftMs) + 1)
    },
    another: more,
    async reopen() {
      await store.close()
      return more()
    },
    ...(transaction && { transaction }),
    async close() {
      await Promise.all(stores.map((each) => each.close()))
    },
  }
}
