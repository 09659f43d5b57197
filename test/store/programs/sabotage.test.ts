import { describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import { VirtualClock } from '../../engine/virtual-clock.ts'
import { SABOTAGES, tampered } from '../conformance/sabotage.ts'
import { perform } from './perform.ts'
import { programs } from './program.ts'

/** Programs that run on anything prove nothing. */
const NOTICED: readonly (readonly [promise: string, name: string])[] = [
  ['S2', 'loses the input'],
  ['S2', 'forgets keys'],
  ['S3', 'stamps another lease than it says'],
  ['S4', 'does not look at the clock'],
  ['S4', 'does not look at the revision'],
  ['S4', 'loses bodies'],
  ['S4', 'loses successors'],
  ['S4', 'says it has compacted'],
  ['S5', 'counts a repetition'],
  ['S6', 'forgets what a request caused'],
  ['S6', 'loses a word of an event'],
  ['S7', 'shows an event twice'],
  ['S9', 'knows no repeated claim'],
  ['S11', 'gives up nothing'],
  ['S11', 'takes nothing'],
]

describe('programs notice a store that', () => {
  for (const [promise, name] of NOTICED) {
    it(name, async () => {
      const clock = new VirtualClock()
      const whole = openMemoryStore({ clock })
      const sabotage = SABOTAGES[promise]?.[name]
      if (sabotage === undefined) throw new Error(`no sabotage ${promise} ${name}`)
      const pass = () => clock.advance(700)
      const store = tampered(whole, sabotage)
      const failed = perform({ store, serial: 1, pass }, programs(100, 7)).then(({ failures }) => failures.length > 0)
      expect(await failed.catch(() => true)).toBe(true)
      await whole.close()
    })
  }
})
