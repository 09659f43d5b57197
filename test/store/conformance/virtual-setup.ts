import type { Setup } from '../../../src/store/conformance/conformance.ts'
import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import type { Store } from '../../../src/store/store.ts'
import { VirtualTime } from '../../../src/testing/virtual-time.ts'

/** A memory store, or what somebody made of one, in time that passes when the suite says so. */
export function virtualSetup(made: (store: Store) => Store): Setup {
  const time = new VirtualTime(Date.UTC(2030, 0, 1))
  let setByMs = 0
  const clock = { now: () => time.now() + setByMs, monotonicMs: () => time.monotonicMs() }
  const store = openMemoryStore({ clock, timers: time })
  return {
    store: made(store),
    advance: (ms) => time.advance(ms),
    setClock: async (byMs) => {
      setByMs += byMs
    },
    close: () => store.close(),
  }
}
