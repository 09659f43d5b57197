import type { Scenario } from '../scenario.ts'
import { rate } from '../stage.ts'

/** Alone, so that no step shares a commit with another's: what counts is that the last is as quick as the first. */
export const longJob: Scenario = {
  name: 'long-job',
  title: 'one job with 10,000 steps',
  figure: 'perSecond',
  unit: 'steps/s',
  better: 'more',
  contenders: ['pawl', 'dbos'],
  rounds: 1,
  note: 'one after the other, nothing beside it, and nothing before to get warm with; costs are per step',
  async run(stage, { steps }) {
    const worker = await stage.connected('worker')
    await stage.fill(1)
    await Promise.all([stage.meter.begin(), worker.mark()])
    const { fromMs, toMs } = await stage.shift(worker, { steps }, 1)
    const marks = await worker.ask({ op: 'taken' })
    if (marks.length < 10) throw new Error(`it took ${marks.length} tenths of its steps, and ended`)
    const tenth = (n: number) => (marks[n] ?? Number.NaN) - (marks[n - 1] ?? Number.NaN)
    const { cpuUs } = await worker.usage()
    const costs = await stage.meter.costs(steps)
    return {
      perSecond: rate(steps, toMs - fromMs),
      ...costs,
      nodeUs: cpuUs / steps,
      lastOverFirst: tenth(9) / tenth(1),
    }
  },
}
