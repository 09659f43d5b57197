import { defineConfig } from 'vitest/config'

/** The core's tests, and the demand that they reach every branch of it. No servers, no clock. */
export default defineConfig({
  test: {
    include: ['test/core/**/*.test.ts', 'test/dialects/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Pure functions: nothing is left of one file that another could see, and a process each takes longer than most of them.
    isolate: false,
    globals: false,
    setupFiles: ['test/support/one-draw.ts'],
    testTimeout: 60_000,
    retry: 0,
    coverage: {
      enabled: true,
      provider: 'v8',
      include: ['src/core/**/*.ts'],
      reporter: ['text-summary', 'json-summary', 'lcovonly'],
      reportsDirectory: 'coverage/core',
      thresholds: { branches: 100 },
    },
  },
})
