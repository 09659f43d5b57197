import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../contender.ts'
import { PEERS } from '../contenders.ts'
import { DidNotFinish, type Scenario } from '../scenario.ts'

const PER_SECOND = 200

export const latency: Scenario = {
  name: 'latency',
  title: `latency, enqueue to handler, at ${PER_SECOND} jobs/s`,
  figure: 'p50',
  unit: 'ms',
  better: 'less',
  contenders: ['pawl', ...PEERS],
  rounds: 5,
  note: 'producer and worker in a process each',
  async run(stage, { warmMs, latencyMs }) {
    const producer = await stage.connected('producer', { purpose: 'latency' })
    const worker = await stage.connected('worker', { purpose: 'latency' })
    await worker.ask({ op: 'work', purpose: 'latency' })
    const warm = await producer.ask({ op: 'paced', ms: warmMs, perSecond: PER_SECOND })
    const sent = await producer.ask({ op: 'paced', ms: latencyMs, perSecond: PER_SECOND })
    const all = warm.count + sent.count
    const fromMs = nowMs()
    while (worker.started < all) {
      if (nowMs() - fromMs > stage.cellMs) throw new DidNotFinish({})
      await sleep(10)
    }
    const sorted = (await worker.ask({ op: 'latencies' })).slice(warm.count).toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
  },
}
