import { afterAll, describe, expect, it } from 'vitest'
import { conformance, type Subject } from '../../../src/store/conformance/conformance.ts'
import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import { VirtualClock } from '../../engine/virtual-clock.ts'
import { LEFT_BEHIND, SABOTAGES, type Sabotage, tampered } from './sabotage.ts'
import { openStandingMemory } from './standing-memory.ts'

afterAll(() => {
  for (const timer of LEFT_BEHIND) clearInterval(timer)
})

/** A suite that passes whatever it is given proves nothing: each of these stores must fail the promise it breaks. */
describe('the suite notices a store that', () => {
  for (const [promise, sabotages] of Object.entries(SABOTAGES)) {
    for (const [name, sabotage] of Object.entries(sabotages)) {
      it(`${name} (${promise})`, async () => {
        expect(await noticed(promise, sabotage)).not.toEqual([])
      })
    }
  }
})

it('and finds nothing wrong with a memory store whose claims stand, before somebody tampers with it', async () => {
  expect(await noticed('S17', () => ({}))).toEqual([])
})

/** The cases of this promise that fail. */
async function noticed(promise: string, sabotage: Sabotage): Promise<readonly string[]> {
  const failed: string[] = []
  for (const each of conformance(subjectOf(promise, sabotage))) {
    if (each.promise !== promise || each.skipped !== undefined) continue
    await each.run().catch(() => failed.push(each.name))
  }
  return failed
}

function subjectOf(promise: string, sabotage: Sabotage): Subject {
  return {
    name: 'sabotaged',
    cannot: { reopen: 'memory', transaction: 'memory' },
    async open() {
      const clock = new VirtualClock()
      const whole = promise === 'S17' ? openStandingMemory(clock) : openMemoryStore({ clock })
      return {
        store: tampered(whole, sabotage),
        advance: async (ms) => clock.advance(ms),
        setClock: async (byMs) => clock.set(byMs),
        close: () => whole.close(),
      }
    },
  }
}
