/** BullMQ on Redis, whose log is synced once a second: faster than what all others promise, and weaker. */
import { Queue, Worker } from 'bullmq'
import type { Contender } from '../contender.ts'
import { CONFIGURATION, connection, QUEUE } from './bullmq.ts'

export const bullmqRedis: Contender = {
  name: 'bullmq-redis',
  store: 'redis',
  share: 0.2,
  keeps: 'a capped stream of events',
  configuration: `${CONFIGURATION}; Redis appendfsync everysec`,
  prepare: async () => {},
  connect: async (url) => {
    const { hostname, port } = new URL(url)
    const options = { connection: { host: hostname, port: Number(port), maxRetriesPerRequest: null } }
    return connection({
      queue: () => new Queue(QUEUE, options),
      worker: (handler, more) => new Worker(QUEUE, handler, { ...options, ...more }),
      close: async () => {},
    })
  },
}
