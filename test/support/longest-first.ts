import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * What takes longest in the gate, by where it is, longest first. Begun first, it is over when the rest is: a file of a minute
 * that begins last keeps one worker for a minute and the others waiting. (Where there has been a run, vitest knows by
 * itself; a fresh clone has none, and a file that waits is no longer than one that does not.)
 *
 * These wait for most of their time: for leases that end, for servers that come back, for other processes.
 */
const WAITING: readonly string[] = [
  'test/chaos/',
  'test/store/conformance/',
  'test/cli/secrets.test.ts',
  'test/cli/npm-start.test.ts',
  'test/bus/faults.test.ts',
  'test/store/postgres/idle.test.ts',
  'test/store/postgres/network.test.ts',
]

/** These have a processor for most of it. */
const BUSY: readonly string[] = [
  'test/bench/smoke.test.ts',
  'test/dashboard/',
  'test/cli/',
  'test/repository/build.test.ts',
  'test/compliance/',
  'test/gateway/steps.test.ts',
  'test/engine/pairs/',
  'test/engine/verify.test.ts',
  'test/worker/cells.test.ts',
  'test/store/postgres/editions.test.ts',
  'test/store/postgres/faults.test.ts',
  'test/store/postgres/growth.test.ts',
  'test/store/programs/',
  'test/examples/',
]

/** One that waits and one that does not in turn, so that at no time all wait, nor all want a processor. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    const waiting = ranked(sorted, WAITING)
    const busy = ranked(sorted, BUSY).filter((file) => !waiting.includes(file))
    const long = Array.from({ length: Math.max(waiting.length, busy.length) }, (_, i) => [waiting[i], busy[i]])
      .flat()
      .filter((file) => file !== undefined)
    return [...long, ...sorted.filter((file) => !long.includes(file))]
  }
}

function ranked(files: readonly TestSpecification[], places: readonly string[]): readonly TestSpecification[] {
  const rank = ({ moduleId }: TestSpecification) =>
    places.findIndex((place) => relative('.', moduleId).startsWith(place))
  return files.filter((file) => rank(file) >= 0).toSorted((a, b) => rank(a) - rank(b))
}
