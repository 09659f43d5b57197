import { defineConfig } from 'vitest/config'

/** Everything but the core's own tests, which `vitest.core.config.ts` runs with coverage, and the model. */
export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    pool: 'forks',
    // One more than the two processors this is planned for: most of these wait, for clocks and for other processes.
    maxWorkers: 3,
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
