import { PEERS } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'
import { rate } from '../stage.ts'

export const singleEnqueue1 = singleEnqueue(1)
export const singleEnqueue64 = singleEnqueue(64)

function singleEnqueue(inFlight: number): Scenario {
  return {
    name: `single-enqueue-${inFlight}`,
    title: `single enqueue, ${inFlight} in flight`,
    figure: 'perSecond',
    unit: 'jobs/s',
    better: 'more',
    contenders: ['pawl', 'pawl-redis', 'pawl-redis-ledger', ...PEERS],
    async run(stage, { warmMs, singlesMs }) {
      const producer = await stage.connected('producer')
      await producer.ask({ op: 'singles', ms: warmMs, inFlight })
      await stage.meter.begin()
      await producer.mark()
      const { count, fromMs, toMs } = await producer.ask({ op: 'singles', ms: singlesMs, inFlight })
      await stage.meter.settled()
      const { cpuUs } = await producer.usage()
      return {
        perSecond: rate(count, toMs - fromMs),
        ...(await stage.meter.costs(count)),
        nodeUs: cpuUs / count,
      }
    },
  }
}
