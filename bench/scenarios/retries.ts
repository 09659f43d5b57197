import type { Scenario } from '../scenario.ts'
import { rate } from '../stage.ts'

const FAILING = { failing: true } as const
const ONCE = { failEvery: 1 } as const

/** All are there when the clock starts, all fail, all are tried again: what counts is two executions and what is between. */
export const retries: Scenario = {
  name: 'retries',
  title: 'jobs that fail once',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl', 'graphile-worker', 'pg-boss', 'bullmq-redis', 'bullmq-postgres'],
  note: 'a quarter of the jobs; tried again at once where that can be said. graphile-worker waits for 2.7 s: the time in which nothing is due is not counted. pg-boss answers for each job of a batch (perJobResults)',
  async run(stage, size) {
    const warm = stage.jobs(size.warm / 10)
    const count = stage.jobs(size.jobs / 4)
    const worker = await stage.connected('worker')
    await stage.fill(warm, FAILING)
    await stage.shift(worker, ONCE, 2 * warm)
    await worker.ask({ op: 'rest' })
    await stage.fill(count, FAILING)
    await Promise.all([stage.meter.begin(), worker.mark()])
    const { fromMs, toMs } = await stage.shift(worker, ONCE, 2 * count)
    const pausedMs = await worker.ask({ op: 'paused' })
    const { cpuUs } = await worker.usage()
    const costs = await stage.meter.costs(count)
    return { perSecond: rate(count, toMs - fromMs - pausedMs), ...costs, nodeUs: cpuUs / count, pausedMs }
  },
}
