/** Dispatch through the bus, beside claims over HTTP and in process: how many, and how soon. */
import { type Figures, type Scenario, withPlain } from '../scenario.ts'
import type { Size } from '../size.ts'
import type { Stage } from '../stage.ts'
import { latencies } from './latency.ts'

/** A gateway in its own process, and where workers reach it. */
async function gatewayOf(stage: Stage, way: 'http' | 'bus') {
  const gateway = stage.actor()
  const { nats } = stage.servers
  if (way === 'bus' && nats === undefined) throw new Error('this run has no NATS')
  const url = await gateway.ask({ op: 'serve', url: stage.url, bus: way === 'bus' ? nats?.url : undefined })
  return { gateway, url }
}

/** The same over HTTP, on a store of its own, under names that begin with `http`. */
async function overHttp(stage: Stage, run: (stage: Stage) => Promise<Figures>): Promise<Figures> {
  await using empty = await stage.empty()
  const figures = await run(empty)
  return Object.fromEntries(
    ['perSecond', 'p50', 'p99'].flatMap((name) =>
      figures[name] === undefined ? [] : [[`http${name[0]?.toUpperCase()}${name.slice(1)}`, figures[name]]],
    ),
  )
}

async function drained(stage: Stage, size: Size, way: 'http' | 'bus'): Promise<Figures> {
  return stage.fillAndDrain({ warm: size.warm / 8, jobs: size.jobs / 8 }, await gatewayOf(stage, way))
}

async function awaited(stage: Stage, size: Size, way: 'http' | 'bus'): Promise<Figures> {
  return latencies(stage, size, (await gatewayOf(stage, way)).url)
}

const ABOUT = {
  better: 'more',
  contenders: ['pawl'],
  note: 'a gateway, which is the scheduler as well, and a worker, a process each, NATS beside them; of each job a dispatch, a start and a result. In process and over HTTP right before',
  rounds: 1,
} as const

export const bus: Scenario = {
  ...ABOUT,
  name: 'bus',
  title: 'drain, worker over the bus',
  figure: 'perSecond',
  unit: 'jobs/s',
  async run(stage, size) {
    const http = await overHttp(stage, (empty) => drained(empty, size, 'http'))
    const fewer = { warm: size.warm / 8, jobs: size.jobs / 8 }
    const figures = await withPlain(
      stage,
      (empty) => empty.fillAndDrain(fewer),
      () => drained(stage, size, 'bus'),
    )
    return { ...http, ...figures }
  },
}

export const busLatency: Scenario = {
  ...ABOUT,
  name: 'bus-latency',
  title: 'latency, enqueue to handler over the bus',
  figure: 'p50',
  unit: 'ms',
  better: 'less',
  async run(stage, size) {
    const http = await overHttp(stage, (empty) => awaited(empty, size, 'http'))
    const figures = await withPlain(
      stage,
      (empty) => latencies(empty, size),
      () => awaited(stage, size, 'bus'),
    )
    return { ...http, ...figures }
  },
}
