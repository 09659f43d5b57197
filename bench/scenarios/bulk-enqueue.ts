import { PEERS } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'
import { rate } from '../stage.ts'

export const bulkEnqueue: Scenario = {
  name: 'bulk-enqueue',
  title: 'bulk enqueue',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl', 'pawl-redis', 'bare-sql', ...PEERS],
  async run(stage, { warm, jobs }) {
    const count = stage.jobs(jobs)
    const producer = await stage.connected('producer')
    await stage.inTime(producer.ask({ op: 'bulk', count: stage.jobs(warm) }))
    const sizeBefore = await stage.meter.diskBytes()
    await stage.meter.begin()
    await producer.mark()
    const { fromMs, toMs } = await stage.inTime(producer.ask({ op: 'bulk', count }))
    const { cpuUs, heapBytes } = await producer.usage()
    return {
      perSecond: rate(count, toMs - fromMs),
      ...(await stage.meter.costs(count)),
      nodeUs: cpuUs / count,
      heapMb: heapBytes / 2 ** 20,
      diskBytes: ((await stage.meter.diskBytes()) - sizeBefore) / count,
    }
  },
}
