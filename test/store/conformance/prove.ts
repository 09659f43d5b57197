import { describe, it } from 'vitest'
import { conformance, type Subject } from '../../../src/store/conformance/conformance.ts'
import { soaking } from '../../support/scale.ts'

/** Cases that another file of the gate has proved by the same statements: this one repeats them in soak. */
export interface Repeated {
  readonly cases: RegExp
  readonly because: string
}

/** The whole suite about one store, as tests. What its nature forbids is told, with the reason, and is no test. */
export function prove(subject: Subject, repeated?: Repeated): void {
  describe(subject.name, () => {
    if (repeated !== undefined && !soaking)
      console.log(`${subject.name} leaves ${repeated.cases} to soak: ${repeated.because}`)
    for (const { promise, name, skipped, run } of conformance(subject)) {
      if (!soaking && repeated?.cases.test(`${promise} ${name}`) === true) continue
      if (skipped === undefined) it(`${promise} ${name}`, run)
      else console.log(`${subject.name} skips ${promise} ${name}: ${skipped}`)
    }
  })
}
