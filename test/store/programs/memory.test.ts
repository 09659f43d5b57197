import { expect, it } from 'vitest'
import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import { VirtualClock } from '../../engine/virtual-clock.ts'
import { scaled } from '../../support/scale.ts'
import { runPrograms } from './run-programs.ts'

it(
  'what programs do to a memory store is what core says they do',
  async () => {
    const clock = new VirtualClock()
    const store = openMemoryStore({ clock })
    const pass = () => clock.advance(700)
    const missing = await runPrograms({ store, count: scaled(1_000, 20_000), seed: 1, pass })
    expect(missing).toEqual([])
    await store.close()
  },
  scaled(120_000, 3_600_000),
)
