import { globSync } from 'node:fs'
import { defineConfig } from 'vitest/config'
import every from './vitest.config.ts'

/**
 * `everything else` of the gate. What starts processes, judges its own, or takes a minute has a process to itself; the others share
 * theirs with the files before them. A process of its own costs a file more than half a second of a processor, as most of them
 * import nearly all of pawl, and V8 has to learn it anew: of 128 files that share, processors had 175 s in place of 268.
 */
const APART: readonly string[] = [
  'test/bench/smoke.test.ts',
  'test/chaos/',
  'test/cli/',
  'test/dashboard/',
  'test/engine/pairs/',
  'test/examples/',
  'test/gateway/steps.test.ts',
  'test/install/',
  'test/repository/build.test.ts',
  'test/store/conformance/',
  'test/store/postgres/growth.test.ts',
  'test/store/programs/',
  'test/system/pretenuring.test.ts',
  'test/worker/keeper-thread.test.ts',
]

const files = globSync('test/**/*.test.ts')
const apart = files.filter((file) => APART.some((place) => file.startsWith(place)))
const { include: _, globalSetup = [], ...shared } = every.test ?? {}

export default defineConfig({
  test: {
    ...shared,
    globalSetup,
    projects: [
      { test: { ...shared, name: 'apart', include: apart } },
      { test: { ...shared, name: 'together', include: files.filter((file) => !apart.includes(file)), isolate: false } },
    ],
  },
})
