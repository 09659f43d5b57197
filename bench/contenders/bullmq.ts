/** BullMQ, the same on both of its backends. */
import type { ConnectionOptions, Queue, Worker } from 'bullmq'
import { ALONE, type Connection, type Crowd, inParallel, type Payload, pieces, placesOf } from '../contender.ts'

/** On Redis 20,300 jobs/s; 16 had 16,500, 100, 128 and 200 19,500 to 21,400, 256 16,000. */
const CONCURRENCY = 64
/** On Postgres 45,200/s; two at a time 39,100, two with 500 each 42,600, two with 2,000 38,600. */
const BATCH = 1_000
const LANES = 4

const QUEUE = 'noop'
export const CONFIGURATION = `concurrency ${CONCURRENCY}, addBulk ${BATCH} × ${LANES}, removeOnComplete`

const nameOf = (place: number) => `${QUEUE}-${place}`

type Handler = (job: { readonly data: Payload }) => Promise<void>

export interface Backend {
  queue(name: string): Queue
  worker(
    name: string,
    handler: Handler,
    options: { readonly concurrency: number; readonly removeOnComplete: { count: number } },
  ): Worker
  close(): Promise<void>
}

export type { ConnectionOptions }

export async function connection(backend: Backend, crowd: Crowd = ALONE): Promise<Connection> {
  const queue = backend.queue(QUEUE)
  await queue.waitUntilReady()
  const places = new Map<number, Queue>()
  const at = (place: number) => {
    const known = places.get(place) ?? backend.queue(nameOf(place))
    places.set(place, known)
    return known
  }
  return {
    async bulk(payloads, { delayMs, failing }) {
      const opts = {
        ...(delayMs !== undefined && { delay: delayMs }),
        ...(failing === true && { attempts: 2 }),
      }
      const deduplication = ({ key }: Payload) => (key === undefined ? {} : { deduplication: { id: key } })
      const job = (data: Payload) => ({ name: 'noop', data, opts: { ...opts, ...deduplication(data) } })
      const byPlace = [...Map.groupBy(payloads, ({ place }) => place)]
      await inParallel(byPlace.length === 1 ? [] : byPlace, LANES, ([place = 0, some]) =>
        at(place).addBulk(some.map(job)),
      )
      if (byPlace.length > 1) return []
      await inParallel(pieces(payloads, BATCH), LANES, (some) => queue.addBulk(some.map(job)))
      return []
    },
    async one(data) {
      await queue.add('noop', data)
    },
    async work({ handle, concurrency = CONCURRENCY }) {
      const handler: Handler = async ({ data }) => handle(data)
      const options = { concurrency, removeOnComplete: { count: 0 } }
      const served = crowd.places === 0 ? [queue] : placesOf(crowd, 0).map(at)
      const workers = served.map(({ name }) => backend.worker(name, handler, options))
      for (const worker of workers) worker.on('error', () => {})
      return {
        async settled() {
          const active = await Promise.all(served.map((each) => each.getActiveCount()))
          return active.every((count) => count === 0)
        },
        async stop() {
          await Promise.all(workers.map((worker) => worker.close(true)))
        },
      }
    },
    async close() {
      await Promise.all([queue, ...places.values()].map((each) => each.close()))
      await backend.close()
    },
  }
}
