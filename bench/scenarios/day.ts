import type { Scenario } from '../scenario.ts'
import type { Stage } from '../stage.ts'

/** What a realistic job is: three steps, two kilobytes, and of fifty of them one that fails once. */
const BYTES = 2 * 1_024
const WORK = { steps: 3, failEvery: 50 } as const
const PER_SECOND = 100

/** One job at a time is enqueued, and nothing is there to share a commit with but its neighbours of the same moment. */
export const daySpread: Scenario = {
  name: 'day-spread',
  title: `a day's jobs, ${PER_SECOND} a second`,
  figure: 'serverUs',
  unit: 'server CPU µs/job',
  better: 'less',
  contenders: ['pawl'],
  rounds: 1,
  note: 'three steps, 2 KB, 2 % fail once before their last step; enqueued one by one; costs are those of a whole life, enqueue included',
  async run(stage, { warmMs, togetherMs }) {
    const producer = await stage.connected('producer')
    const worker = await stage.connected('worker')
    const pace = { op: 'paced', perSecond: PER_SECOND, bytes: BYTES } as const
    await worker.ask({ op: 'work', purpose: 'throughput', ...WORK })
    const warm = await producer.ask({ ...pace, ms: warmMs })
    await stage.started(worker, executions(0, warm.count))
    return priced(stage, [producer, worker], async () => {
      const { count } = await producer.ask({ ...pace, ms: togetherMs })
      await stage.started(worker, executions(0, warm.count + count))
      await worker.ask({ op: 'settled' })
      return count
    })
  },
}

/** The other end: everything is there at once, and shares what it can. */
export const dayAtOnce: Scenario = {
  ...daySpread,
  name: 'day-at-once',
  title: "a day's jobs, all at once",
  note: 'the same jobs, enqueued in bulk and drained at full speed; a fiftieth of a million in a full run',
  async run(stage, size) {
    const producer = await stage.connected('producer')
    const worker = await stage.connected('worker')
    const warm = stage.jobs(size.warm / 10)
    await producer.ask({ op: 'bulk', count: warm, bytes: BYTES })
    await stage.shift(worker, WORK, executions(0, warm))
    await worker.ask({ op: 'rest' })
    return priced(stage, [producer, worker], async () => {
      const count = stage.jobs(size.jobs / 10)
      await producer.ask({ op: 'bulk', count, bytes: BYTES })
      await stage.shift(worker, WORK, executions(warm, count))
      return count
    })
  },
}

/** Of so many jobs after the first so many: those that fail are handled twice. */
const executions = (from: number, count: number) => count + failed(from + count) - failed(from)
const failed = (count: number) => Math.ceil(count / WORK.failEvery)

async function priced(
  stage: Stage,
  actors: readonly Awaited<ReturnType<Stage['connected']>>[],
  work: () => Promise<number>,
) {
  const disk = await stage.meter.diskBytes()
  await Promise.all([stage.meter.begin(), ...actors.map((actor) => actor.mark())])
  const count = await work()
  const used = await Promise.all(actors.map((actor) => actor.usage()))
  const costs = await stage.meter.costs(count)
  const diskBytes = ((await stage.meter.diskBytes()) - disk) / count
  return { jobs: count, ...costs, nodeUs: used.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / count, diskBytes }
}
