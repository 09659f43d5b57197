/** One who produces or works for one contender, and does nothing but what it is told (`orders.ts`). */
import { type Connection, type Contender, nowMs } from '../contender.ts'
import type { Answers, Order, Timed, Usage } from '../orders.ts'
import { Performing } from './performing.ts'
import { Producing } from './producing.ts'
import { serve } from './serving.ts'

interface Parts {
  readonly connection: Connection
  readonly producing: Producing
  readonly performing: Performing
}

export class Player {
  readonly #contender: Contender
  #parts: Parts | undefined
  #cpu = process.cpuUsage()

  constructor(contender: Contender) {
    this.#contender = contender
  }

  /** Handlers so far. */
  get started(): number {
    return this.#parts?.performing.started ?? 0
  }

  async play(order: Order): Promise<Answers[keyof Answers]> {
    switch (order.op) {
      case 'prepare':
        await this.#contender.prepare(order.url)
        return undefined
      case 'connect':
        this.#parts = partsOf(await this.#contender.connect(order.url, order.role, order.purpose, order.crowd))
        return undefined
      case 'bulk': {
        let names: readonly string[] = []
        const bulk = async () => {
          names = await this.#connected.producing.bulk(order)
          return order.count
        }
        return { ...(await timed(bulk)), names }
      }
      case 'singles':
        return timed(() => this.#connected.producing.singles(order.ms, order.inFlight))
      case 'paced':
        return timed(() => this.#connected.producing.paced(order))
      case 'produce':
        return timed(() => this.#connected.producing.produce(order.ms, order.ahead))
      case 'signal':
        return timed(() => this.#connected.producing.signal(order.names, order.inFlight))
      case 'handled':
        this.#connected.producing.handledElsewhere = order.count
        return undefined
      case 'work':
        return timed(async () => {
          await this.#connected.performing.work(order)
          return 0
        })
      case 'settled':
        return timed(() => this.#connected.performing.settled())
      case 'latencies':
        return this.#connected.performing.latencies
      case 'paused':
        return this.#connected.performing.pausedMs
      case 'taken':
        return this.#connected.performing.taken
      case 'rest':
        await this.#parts?.performing.stop()
        return undefined
      case 'stop':
        await this.#parts?.performing.stop()
        await this.#parts?.connection.close()
        return undefined
      case 'serve':
        return serve(order.url, this.#contender.build, order.bus)
      case 'mark':
        this.#cpu = process.cpuUsage()
        return undefined
      case 'usage':
        return this.#usage()
    }
  }

  get #connected(): Parts {
    if (this.#parts === undefined) throw new Error('not connected')
    return this.#parts
  }

  #usage(): Usage {
    const { user, system } = process.cpuUsage(this.#cpu)
    const { heapUsed, rss } = process.memoryUsage()
    return { cpuUs: user + system, heapBytes: heapUsed, residentBytes: rss }
  }
}

const partsOf = (connection: Connection): Parts => ({
  connection,
  producing: new Producing(connection),
  performing: new Performing(connection),
})

async function timed(action: () => Promise<number>): Promise<Timed> {
  const fromMs = nowMs()
  const count = await action()
  return { count, fromMs, toMs: nowMs() }
}
