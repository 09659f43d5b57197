import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest in the gate, by where it is, longest first. Begun first, it is over when the rest is: a file of a minute
 * that begins last keeps one worker for a minute and the others waiting. (Where there has been a run, vitest knows by
 * itself; a fresh clone has none, and a file that waits is no longer than one that does not.)
 */
const LONG: readonly string[] = [
  'test/chaos/',
  'test/bench/smoke.test.ts',
  'test/dashboard/',
  'test/store/conformance/',
  'test/cli/',
  'test/repository/build.test.ts',
  'test/compliance/',
  'test/gateway/steps.test.ts',
  'test/engine/pairs/',
  'test/worker/cells.test.ts',
  'test/store/postgres/editions.test.ts',
  'test/store/postgres/faults.test.ts',
  'test/store/programs/',
  'test/examples/',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONG.findIndex((part) => relative('.', moduleId).startsWith(part))
      return found < 0 ? LONG.length : found
    }
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b))
  }
}
