import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'

/** Everything but the core's own tests, which `vitest.core.config.ts` runs with coverage, and the model. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // Twice the two processors this is planned for: many of these wait, for clocks and for other processes. Of five at a time
    // those with deadlines came too late, and nothing was over sooner.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    globals: false,
    globalSetup: ['test/support/global-setup.ts'],
    // A test waits for conditions with deadlines of its own; these only catch one that forgot.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    teardownTimeout: 20_000,
    restoreMocks: true,
    // A suite that only passes the second time does not pass.
    retry: 0,
  },
})
