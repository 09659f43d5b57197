/** A process that produces or works for one contender, and does nothing but what it is told (`orders.ts`). */
import { setTimeout as sleep } from 'node:timers/promises'
import { built, builtGateway } from './build.ts'
import {
  type Connection,
  type Contender,
  nowMs,
  payload,
  type Step,
  type Working,
  type WorkOptions,
} from './contender.ts'
import { CONTENDERS, type ContenderName } from './contenders.ts'
import type { Answers, FromActor, Order, Timed, ToActor, Usage } from './orders.ts'

/** Handed over at a time: enough that batches in flight have no gaps between them. */
const BULK = 20_000
const REPORT_EVERY_MS = 10

const UNLIMITED = { itemsPerSecond: 1e9, itemsAtOnce: 1e9 }

const contender = await CONTENDERS[process.argv[2] as ContenderName]()
process.on('message', ({ id, order }: ToActor) => void obey(id, order))
process.on('disconnect', () => process.exit(0))

let connection: Connection | undefined
let working: Working | undefined
let started = 0
let handledElsewhere = 0
const latencies: number[] = []
let cpu = process.cpuUsage()

async function obey(id: number, order: Order): Promise<void> {
  try {
    tell({ id, answer: await done(contender, order) })
  } catch (error) {
    tell({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}

function tell(message: FromActor): void {
  if (process.connected) process.send?.(message)
}

async function done(who: Contender, order: Order): Promise<Answers[keyof Answers]> {
  switch (order.op) {
    case 'prepare':
      return void (await who.prepare(order.url))
    case 'connect':
      connection = await who.connect(order.url, order.role, order.purpose)
      return undefined
    case 'bulk':
      return timed(() => bulk(order))
    case 'singles':
      return timed(() => singles(order.ms, order.inFlight))
    case 'paced':
      return timed(() => paced(order.ms, order.perSecond))
    case 'produce':
      return timed(() => produce(order.ms, order.ahead))
    case 'handled':
      handledElsewhere = order.count
      return undefined
    case 'work':
      return timed(() => work(order))
    case 'settled':
      return timed(settled)
    case 'latencies':
      return latencies
    case 'stop':
      await working?.stop()
      await connection?.close()
      return undefined
    case 'serve':
      return serve(order.url)
    case 'park':
      return park(order.url, order.count)
    case 'mark':
      cpu = process.cpuUsage()
      return undefined
    case 'usage':
      return usage()
  }
}

async function timed(action: () => Promise<number>): Promise<Timed> {
  const fromMs = nowMs()
  const count = await action()
  return { count, fromMs, toMs: nowMs() }
}

function connected(): Connection {
  if (connection === undefined) throw new Error('not connected')
  return connection
}

async function bulk({ count, delayMs, keys }: Extract<Order, { op: 'bulk' }>): Promise<number> {
  for (let left = count; left > 0; left -= BULK) {
    const at = nowMs()
    await connected().bulk(
      Array.from({ length: Math.min(BULK, left) }, (_, n) => payload(at, keys && `${keys} ${left - n}`)),
      { delayMs },
    )
  }
  return count
}

async function singles(ms: number, inFlight: number): Promise<number> {
  const until = nowMs() + ms
  let count = 0
  const lane = async () => {
    while (nowMs() < until) {
      await connected().one(payload(nowMs()))
      count += 1
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return count
}

/** Sends when it is time to, whether or not the one before has been acknowledged. */
async function paced(ms: number, perSecond: number): Promise<number> {
  const from = nowMs()
  const under: Promise<void>[] = []
  for (let due = 0; due < ms; due = (under.length * 1_000) / perSecond) {
    const waitMs = from + due - nowMs()
    if (waitMs > 0) await sleep(waitMs)
    under.push(connected().one(payload(nowMs())))
  }
  await Promise.all(under)
  return under.length
}

async function produce(ms: number, ahead: number): Promise<number> {
  const until = nowMs() + ms
  const batch = Math.ceil(ahead / 10)
  let count = 0
  while (nowMs() < until) {
    if (count - handledElsewhere + batch > ahead) {
      await sleep(1)
      continue
    }
    await connected().bulk(
      Array.from({ length: batch }, () => payload(nowMs())),
      {},
    )
    count += batch
  }
  return count
}

async function work({ purpose, hold, steps = 0, concurrency }: Extract<Order, { op: 'work' }>): Promise<number> {
  const never = new Promise<void>(() => {})
  const handle: WorkOptions['handle'] = ({ at }, step) => {
    started += 1
    if (purpose === 'latency') latencies.push(nowMs() - at)
    if (steps > 0) return taken(steps, step)
    return hold === true ? never : undefined
  }
  let told = 0
  setInterval(() => {
    if (told === started) return
    told = started
    tell({ started })
  }, REPORT_EVERY_MS)
  working = await connected().work({ purpose, handle, concurrency })
  return 0
}

async function taken(steps: number, step: Step | undefined): Promise<void> {
  if (step === undefined) throw new Error(`${contender.name} has no steps`)
  for (let n = 0; n < steps; n += 1) await step(`step-${n}`, async () => payload().text)
}

async function settled(): Promise<number> {
  while (!(await working?.settled())) await sleep(2)
  return started
}

async function serve(url: string): Promise<string> {
  const { open } = await built(contender.build)
  const { startGateway } = await builtGateway(contender.build ?? 'now')
  const { engine } = await open(url)
  // Caps, and what they were called before: a worker that drains is no tenant who must be held back.
  const unlimited = { caps: UNLIMITED, rate: { perSecond: 1e9, burst: 1e9 } }
  const gateway = await startGateway({ engine, port: 0, auth: false, ...unlimited })
  return gateway.url
}

async function park(url: string, count: number): Promise<undefined> {
  const { defineJob, open } = await built(contender.build)
  await using pawl = await open(url)
  const parked = defineJob({ type: 'parked', queue: 'parked', run: (_, ctx) => ctx.waitFor('never') })
  const worker = pawl.work([parked], { concurrency: 256 })
  for (let left = count; left > 0; left -= BULK) {
    await pawl.enqueueMany(
      parked,
      Array.from({ length: Math.min(BULK, left) }, () => payload()),
    )
  }
  const { engine } = pawl
  for (;;) {
    const { jobs } = await engine.find({ queues: ['parked'], states: BEFORE_WAITING, order: 'oldest', limit: 1 })
    if (jobs.length === 0) break
    await sleep(200)
  }
  await worker.stop()
  return undefined
}

const BEFORE_WAITING = ['pending', 'queued', 'claimed', 'running'] as const

function usage(): Usage {
  const { user, system } = process.cpuUsage(cpu)
  const { heapUsed, rss } = process.memoryUsage()
  return { cpuUs: user + system, heapBytes: heapUsed, residentBytes: rss }
}
