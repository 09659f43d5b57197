import { describe, it } from 'vitest'
import { conformance, type Subject } from '../../../src/store/conformance/conformance.ts'

/** The whole suite about one store, as tests. What its nature forbids is told, with the reason, and is no test. */
export function prove(subject: Subject): void {
  describe(subject.name, () => {
    for (const { promise, name, skipped, run } of conformance(subject)) {
      if (skipped === undefined) it(`${promise} ${name}`, run)
      else console.log(`${subject.name} skips ${promise} ${name}: ${skipped}`)
    }
  })
}
