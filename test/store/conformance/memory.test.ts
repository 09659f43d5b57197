import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import { prove } from './prove.ts'

prove({
  name: 'memory',
  cannot: {
    reopen: 'a memory store lives and dies with its process',
    transaction: 'there is no database whose transactions it could join',
    standing: 'whoever enqueues is in the same process: a hint is as quick',
  },
  async open() {
    let now = 1_700_000_000_000
    const store = openMemoryStore({ clock: { now: () => now } })
    return {
      store,
      async advance(ms) {
        now += ms
      },
      close: () => store.close(),
    }
  },
})
