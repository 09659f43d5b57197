/** BullMQ, the same on both of its backends. */
import type { ConnectionOptions, Queue, Worker } from 'bullmq'
import { type Connection, inParallel, type Payload, pieces } from '../contender.ts'

/** On Redis 20,300 jobs/s; 16 had 16,500, 100, 128 and 200 19,500 to 21,400, 256 16,000. */
const CONCURRENCY = 64
/** On Postgres 45,200/s; two at a time 39,100, two with 500 each 42,600, two with 2,000 38,600. */
const BATCH = 1_000
const LANES = 4

export const QUEUE = 'noop'
export const CONFIGURATION = `concurrency ${CONCURRENCY}, addBulk ${BATCH} × ${LANES}, removeOnComplete`

type Handler = (job: { readonly data: Payload }) => Promise<void>

export interface Backend {
  queue(): Queue
  worker(
    handler: Handler,
    options: { readonly concurrency: number; readonly removeOnComplete: { count: number } },
  ): Worker
  close(): Promise<void>
}

export type { ConnectionOptions }

export async function connection(backend: Backend): Promise<Connection> {
  const queue = backend.queue()
  await queue.waitUntilReady()
  return {
    async bulk(payloads, { delayMs }) {
      const opts = delayMs === undefined ? {} : { delay: delayMs }
      const deduplication = ({ key }: Payload) => (key === undefined ? {} : { deduplication: { id: key } })
      const job = (data: Payload) => ({ name: 'noop', data, opts: { ...opts, ...deduplication(data) } })
      await inParallel(pieces(payloads, BATCH), LANES, (some) => queue.addBulk(some.map(job)))
    },
    async one(data) {
      await queue.add('noop', data)
    },
    async work({ handle, concurrency = CONCURRENCY }) {
      const handler: Handler = async ({ data }) => handle(data)
      const worker = backend.worker(handler, { concurrency, removeOnComplete: { count: 0 } })
      worker.on('error', () => {})
      return {
        settled: async () => (await queue.getActiveCount()) === 0,
        stop: () => worker.close(true),
      }
    },
    async close() {
      await queue.close()
      await backend.close()
    },
  }
}
