import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../contender.ts'
import { PEERS } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'
import { rate } from '../stage.ts'

/** Jobs that may wait: enough that a worker with big batches finds a full one. */
const AHEAD = 20_000

export const together: Scenario = {
  name: 'together',
  title: 'producer and worker together',
  figure: 'perSecond',
  unit: 'jobs/s done',
  better: 'more',
  contenders: ['pawl', 'pawl-redis', 'pawl-redis-ledger', ...PEERS],
  note: `one process each, at most ${AHEAD} jobs waiting`,
  async run(stage, { warmMs, togetherMs }) {
    const producer = await stage.connected('producer')
    const worker = await stage.connected('worker')
    await worker.ask({ op: 'work', purpose: 'throughput' })
    let producing = true
    const produced = producer.ask({ op: 'produce', ms: warmMs + togetherMs, ahead: AHEAD }).finally(() => {
      producing = false
    })
    const until = async (isOver: () => boolean) => {
      while (producing && !isOver()) {
        await producer.ask({ op: 'handled', count: worker.started })
        await sleep(5)
      }
    }
    const warmAtMs = nowMs() + warmMs
    await until(() => nowMs() >= warmAtMs)
    const [before, fromMs] = [worker.started, nowMs()]
    await Promise.all([stage.meter.begin(), producer.mark(), worker.mark()])
    await until(() => false)
    const done = worker.started - before
    const tookMs = nowMs() - fromMs
    await produced
    await stage.meter.settled()
    const used = await Promise.all([producer.usage(), worker.usage()])
    return {
      perSecond: rate(done, tookMs),
      ...(await stage.meter.costs(done)),
      nodeUs: used.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / done,
    }
  },
}
