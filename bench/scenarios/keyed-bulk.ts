import type { Scenario } from '../scenario.ts'
import { rate } from '../stage.ts'

export const keyedBulk: Scenario = {
  name: 'keyed-bulk',
  title: 'bulk enqueue, a dedupe key each',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl', 'graphile-worker', 'pg-boss', 'bullmq-redis', 'bullmq-postgres'],
  note: 'one job at a time for each key, all keys new: dedupeKey, jobKey, singletonKey in an exclusive queue, deduplication id',
  async run(stage, { warm, jobs }) {
    const count = stage.jobs(jobs)
    const producer = await stage.connected('producer')
    await stage.inTime(producer.ask({ op: 'bulk', count: stage.jobs(warm), keys: 'warm' }))
    await stage.meter.begin()
    await producer.mark()
    const { fromMs, toMs } = await stage.inTime(producer.ask({ op: 'bulk', count, keys: 'order' }))
    const { cpuUs } = await producer.usage()
    return { perSecond: rate(count, toMs - fromMs), ...(await stage.meter.costs(count)), nodeUs: cpuUs / count }
  },
}
