import type { Actor } from '../crew.ts'
import { type Figures, type Scenario, withPlain } from '../scenario.ts'
import type { Size } from '../size.ts'
import { Stage } from '../stage.ts'
import { latencies } from './latency.ts'

const STEPS = 3
const PER_SECOND = 500

/** What the machine can do of them is found out right before, in the same cell. */
export const latencyBesideHalf: Scenario = {
  name: 'latency-beside-half',
  title: 'latency while steps run beside at half of capacity',
  figure: 'p50',
  unit: 'ms',
  better: 'less',
  contenders: ['pawl'],
  note: 'steps of other jobs, in another queue of the same store; pawl is measured alone right before',
  run: (stage, size) =>
    withPlain(
      stage,
      (empty) => latencies(empty, size),
      async () => {
        const perSecond = (await capacity(stage, size)) / 2
        return { ...(await latenciesBeside(stage, stage, size, perSecond)), beside: perSecond }
      },
    ),
}

export const latencyBeside500: Scenario = {
  name: 'latency-beside-500',
  title: `latency beside ${PER_SECOND} steps/s`,
  figure: 'p50',
  unit: 'ms',
  better: 'less',
  contenders: ['pawl', 'graphile-worker', 'pg-boss'],
  rounds: 5,
  note: "pawl's steps for everybody: beside pawl in the same store, beside the peers in another database of the same server",
  async run(stage, size) {
    if (stage.contender.build !== undefined) return latenciesBeside(stage, stage, size, PER_SECOND)
    await using other = await Stage.set(stage.servers, 'pawl', stage.bounds)
    return await latenciesBeside(stage, other, size, PER_SECOND)
  },
}

async function capacity(stage: Stage, size: Size): Promise<number> {
  await using empty = await stage.empty()
  const few = { warm: size.warm / 20, jobs: size.jobs / 20 }
  const { perSecond = 0 } = await empty.fillAndDrain(few, { work: { steps: STEPS } })
  return STEPS * perSecond
}

/** Whatever the steps take, they go on until the last latency has been taken. */
async function latenciesBeside(stage: Stage, other: Stage, size: Size, perSecond: number): Promise<Figures> {
  const producer = await other.connected('producer')
  const worker = await other.connected('worker')
  await worker.ask({ op: 'work', purpose: 'throughput', steps: STEPS })
  let over = false
  const beside = (async () => {
    while (!over) await producer.ask({ op: 'paced', ms: 500, perSecond: perSecond / STEPS })
  })()
  await stage.started(worker, 1)
  try {
    return await latencies(stage, size)
  } finally {
    over = true
    await beside
    await left(producer, worker)
  }
}

const left = (...actors: readonly Actor[]) => Promise.all(actors.map((actor) => actor[Symbol.asyncDispose]()))
