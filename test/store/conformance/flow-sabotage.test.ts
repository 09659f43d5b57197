import { describe, expect, it } from 'vitest'
import { conformance } from '../../../src/store/conformance/conformance.ts'
import { BROKEN_HALLS, BROKEN_PORTS } from './flow-sabotage.ts'
import { type Sabotage, tampered } from './sabotage.ts'
import { virtualSetup } from './virtual-setup.ts'

/** Whether a case of S18 fails; the first is enough. */
async function isNoticed(sabotage: Sabotage = () => ({})): Promise<boolean> {
  const cases = conformance({
    name: 'sabotaged',
    cannot: { reopen: 'memory', transaction: 'memory' },
    open: async () => virtualSetup((store) => tampered(store, sabotage)),
  })
  for (const { promise, skipped, run } of cases) {
    if (promise !== 'S18' || skipped !== undefined) continue
    const failed = await run().then(
      () => false,
      () => true,
    )
    if (failed) return true
  }
  return false
}

describe('the suite notices a store that', () => {
  for (const [name, breaking] of Object.entries(BROKEN_HALLS)) {
    it(`${name} (S18)`, async () => {
      using _broken = breaking()
      expect(await isNoticed()).toBe(true)
    })
  }

  for (const [name, sabotage] of Object.entries(BROKEN_PORTS)) {
    it(`${name} (S18)`, async () => {
      expect(await isNoticed(sabotage)).toBe(true)
    })
  }
})
