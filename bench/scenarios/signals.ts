import { type Figures, type Scenario, withPlain } from '../scenario.ts'
import type { Size } from '../size.ts'
import { rate, type Stage } from '../stage.ts'
import { park, parkedNames, parkMany, signalsOf } from './parked.ts'

const IN_FLIGHT = 64
const WAITING = { waiting: true } as const

/** From the first signal to the last job that has ended because of one: signal, resumed claim and outcome. */
export const signals: Scenario = {
  name: 'signals',
  title: 'signals that resume a waiting job',
  figure: 'perSecond',
  unit: 'signals/s',
  better: 'more',
  contenders: ['pawl', 'openworkflow'],
  note: `${IN_FLIGHT} in flight, one call each; costs are those of a signal and of the rest of its job`,
  run: alone,
}

/** The same among many that wait on: resumed are some of them, taken at random. */
export const signalsParked: Scenario = {
  name: 'signals-parked',
  title: 'signals among many parked',
  figure: 'perSecond',
  unit: 'signals/s',
  better: 'more',
  contenders: ['pawl'],
  note: 'signals to jobs taken at random among them; pawl is sent as many without the others right before',
  fill: parkMany,
  run: (stage, size) =>
    withPlain(
      stage,
      (empty) => alone(empty, size),
      () => resumed(stage, size),
    ),
}

async function alone(stage: Stage, size: Size): Promise<Figures> {
  const count = stage.jobs(signalsOf(size))
  await park(stage, count, count)
  return resumed(stage, size)
}

async function resumed(stage: Stage, size: Size): Promise<Figures> {
  const names = await parkedNames(stage)
  const warm = Math.floor((names.length * size.warm) / (size.warm + size.jobs))
  const count = names.length - warm
  const producer = await stage.connected('producer')
  const worker = await stage.connected('worker')
  await worker.ask({ op: 'work', purpose: 'throughput', ...WAITING })
  const signal = (some: readonly string[]) =>
    stage.inTime(producer.ask({ op: 'signal', names: some, inFlight: IN_FLIGHT }))
  await signal(names.slice(0, warm))
  await stage.started(worker, warm)
  await stage.inTime(worker.ask({ op: 'settled' }))
  await Promise.all([stage.meter.begin(), producer.mark(), worker.mark()])
  const { fromMs } = await signal(names.slice(warm))
  await stage.started(worker, names.length)
  const { toMs } = await stage.inTime(worker.ask({ op: 'settled' }))
  const used = await Promise.all([producer.usage(), worker.usage()])
  const costs = await stage.meter.costs(count)
  const nodeUs = used.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / count
  return { perSecond: rate(count, toMs - fromMs), ...costs, nodeUs }
}
