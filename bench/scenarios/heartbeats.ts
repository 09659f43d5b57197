import { setTimeout as sleep } from 'node:timers/promises'
import { nowMs } from '../contender.ts'
import type { Scenario } from '../scenario.ts'

export const heartbeats: Scenario = {
  name: 'heartbeats',
  title: '10,000 running jobs with heartbeats',
  figure: 'coreShare',
  unit: '% of a core',
  better: 'less',
  contenders: ['pawl'],
  note: 'worker and server together, while nothing else happens; leases of 30 s',
  async run(stage, { running, heartbeatsMs }) {
    await stage.fill(running)
    const worker = await stage.connected('worker')
    await worker.ask({ op: 'work', purpose: 'throughput', hold: true, concurrency: running })
    await stage.started(worker, running)
    await sleep(2_000)
    await worker.mark()
    await stage.meter.begin()
    const fromMs = nowMs()
    await sleep(heartbeatsMs)
    const { cpuUs, heapBytes } = await worker.usage()
    const serverUs = await stage.meter.serverCpuUs()
    const us = (nowMs() - fromMs) * 1_000
    return {
      coreShare: (100 * (cpuUs + serverUs)) / us,
      workerShare: (100 * cpuUs) / us,
      serverShare: (100 * serverUs) / us,
      heapMb: heapBytes / 2 ** 20,
    }
  },
}
