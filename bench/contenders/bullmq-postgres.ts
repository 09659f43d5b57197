/** BullMQ on its Postgres backend. */
import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq'
import pg from 'pg'
import type { Contender } from '../contender.ts'
import { type Backend, CONFIGURATION, connection } from './bullmq.ts'

/** Drained 1,850 jobs/s; 16 handlers 1,770, a pool of 64 1,820. */
const POOL = 20

export const bullmqPostgres: Contender = {
  name: 'bullmq-postgres',
  store: 'postgres',
  share: 0.05,
  keeps: 'four events; the row only where removeOnComplete is not set',
  configuration: `${CONFIGURATION}; pool ${POOL}`,
  async prepare(url) {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await runMigrations(client as never)
    await client.end()
  },
  connect: async (url, _role, _purpose, crowd) => {
    const options = { connection: { connectionString: url, max: POOL } }
    const backend: Backend = {
      queue: (name) => new Queue(name, options, createPostgresBackend) as never,
      worker: (name, handler, more) =>
        new Worker(name, handler, { ...options, ...more }, createPostgresBackend) as never,
      close: async () => {},
    }
    return connection(backend, crowd)
  },
}
