/** Job types that share a key. */
import { defineJob } from '../../src/library/define-job.ts'

const aWhile = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

export const PER_SECOND = 10

/** Started no more than so often, however many could. Its workers are killed. */
export const paced = defineJob({
  type: 'paced',
  lease: 2_000,
  heartbeat: 500,
  // Whoever is killed too often with one job in hand takes it for a crash of the job's own: that is retried, and soon.
  retry: { stalls: 100, attempts: 100, base: 1, max: 100 },
  limit: { key: 'api', concurrency: 50, rate: `${PER_SECOND}/s` },
  run: () => aWhile(20),
})

/** Any number at once, unless somebody says otherwise. */
export const narrow = defineJob({
  type: 'narrow',
  limit: { key: 'host' },
  run: () => aWhile(3),
})
