import { PEERS } from '../contenders.ts'
import type { Figures, Scenario } from '../scenario.ts'
import type { Size } from '../size.ts'
import type { Stage } from '../stage.ts'

const PER_SECOND = 200

export const latency: Scenario = {
  name: 'latency',
  title: `latency, enqueue to handler, at ${PER_SECOND} jobs/s`,
  figure: 'p50',
  unit: 'ms',
  better: 'less',
  contenders: ['pawl', 'pawl-redis', 'pawl-redis-ledger', ...PEERS],
  rounds: 5,
  note: 'producer and worker in a process each',
  run: (stage, size) => latencies(stage, size),
}

/** `url`: where the worker connects to, unless it is the store itself. */
export async function latencies(stage: Stage, { warmMs, latencyMs }: Size, url?: string): Promise<Figures> {
  const producer = await stage.connected('producer', { purpose: 'latency' })
  const worker = await stage.connected('worker', { purpose: 'latency', url })
  await worker.ask({ op: 'work', purpose: 'latency' })
  const warm = await producer.ask({ op: 'paced', ms: warmMs, perSecond: PER_SECOND })
  const sent = await producer.ask({ op: 'paced', ms: latencyMs, perSecond: PER_SECOND })
  await stage.started(worker, warm.count + sent.count)
  const sorted = (await worker.ask({ op: 'latencies' })).slice(warm.count).toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}
