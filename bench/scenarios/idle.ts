import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../contender.ts'
import type { Scenario } from '../scenario.ts'

const PROCESSES = 4
/** Until everybody has found that nothing is there, and that somebody is at the upkeep: looks come further and further apart. */
const REST_MS = 10_000

export const idle: Scenario = {
  name: 'idle',
  title: 'idle workers',
  figure: 'statements',
  unit: 'statements/s',
  better: 'less',
  contenders: ['pawl'],
  rounds: 1,
  note: `100 of them, simulated: each with connections, ticker and retention of its own, ${PROCESSES} processes in all`,
  async run(stage, { claimers, idleMs }) {
    const crowd = { claimers: claimers / PROCESSES, places: 0 }
    const workers = await Promise.all(Array.from({ length: PROCESSES }, () => stage.connected('worker', { crowd })))
    await Promise.all(workers.map((worker) => worker.ask({ op: 'work', purpose: 'throughput' })))
    await sleep(Math.min(REST_MS, 2 * idleMs))
    const before = await stage.meter.transactions()
    await Promise.all([stage.meter.begin(), ...workers.map((worker) => worker.mark())])
    const fromMs = nowMs()
    await sleep(idleMs)
    const seconds = (nowMs() - fromMs) / 1_000
    const used = await Promise.all(workers.map((worker) => worker.usage()))
    const serverUs = await stage.meter.serverCpuUs()
    const share = (us: number) => us / seconds / 10_000
    return {
      statements: ((await stage.meter.transactions()) - before) / seconds,
      serverShare: share(serverUs),
      workerShare: share(used.reduce((sum, { cpuUs }) => sum + cpuUs, 0)),
    }
  },
}
