/** BullMQ on Redis, whose log is synced once a second: faster than what all others promise, and weaker. */
import { Queue, Worker } from 'bullmq'
import type { Contender } from '../contender.ts'
import { type Backend, CONFIGURATION, connection } from './bullmq.ts'

export const bullmqRedis: Contender = {
  name: 'bullmq-redis',
  store: 'redis',
  share: 0.2,
  keeps: 'a capped stream of events',
  configuration: `${CONFIGURATION}; Redis appendfsync everysec`,
  prepare: async () => {},
  connect: async (url, _role, _purpose, crowd) => {
    const { hostname, port } = new URL(url)
    const options = { connection: { host: hostname, port: Number(port), maxRetriesPerRequest: null } }
    const backend: Backend = {
      queue: (name) => new Queue(name, options),
      worker: (name, handler, more) => new Worker(name, handler, { ...options, ...more }),
      close: async () => {},
    }
    return connection(backend, crowd)
  },
}
