/** Job types that share a key. */
import { defineJob } from '../../src/library/define-job.ts'
import { scaled } from '../support/scale.ts'

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

export const AT_ONCE = 5
export const BUDGET = scaled(20, 1_000)

/** Each spends one, and then has something to do. Its workers are killed. */
export const frugal = defineJob({
  type: 'frugal',
  lease: 2_000,
  heartbeat: 500,
  retry: { stalls: 100, attempts: 100, base: 1, max: 100 },
  limit: { key: 'tokens', concurrency: AT_ONCE, budget: { amount: BUDGET, per: '30d' } },
  async run(_: undefined, ctx) {
    await ctx.spend(1)
    await aWhile(100)
  },
})
