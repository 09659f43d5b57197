import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import { VirtualClock } from '../../engine/virtual-clock.ts'
import { prove } from './prove.ts'

prove({
  name: 'memory',
  cannot: {
    reopen: 'a memory store lives and dies with its process',
    transaction: 'there is no database whose transactions it could join',
    standing: 'whoever enqueues is in the same process: a hint is as quick',
  },
  async open() {
    const clock = new VirtualClock()
    const store = openMemoryStore({ clock })
    return {
      store,
      advance: async (ms) => clock.advance(ms),
      setClock: async (byMs) => clock.set(byMs),
      close: () => store.close(),
    }
  },
})
