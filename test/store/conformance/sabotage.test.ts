import { afterAll, describe, expect, it } from 'vitest'
import { conformance, type Subject } from '../../../src/store/conformance/conformance.ts'
import { LEFT_BEHIND, SABOTAGES, type Sabotage, tampered } from './sabotage.ts'
import { virtualSetup } from './virtual-setup.ts'

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

/** The cases of this promise that fail. */
async function noticed(promise: string, sabotage: Sabotage): Promise<readonly string[]> {
  const failed: string[] = []
  for (const each of conformance(subjectOf(sabotage))) {
    if (each.promise !== promise || each.skipped !== undefined) continue
    await each.run().catch(() => failed.push(each.name))
  }
  return failed
}

function subjectOf(sabotage: Sabotage): Subject {
  return {
    name: 'sabotaged',
    cannot: { reopen: 'memory', transaction: 'memory' },
    open: async () => virtualSetup((store) => tampered(store, sabotage)),
  }
}
