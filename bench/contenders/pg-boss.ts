/** pg-boss: two workers with big batches that fetch on while batches are full; notifications only where latency counts. */
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { type Contender, exists, inParallel, type Payload, pieces } from '../contender.ts'

/** Notifications cost an enqueue a quarter: only the queue that is about latency has them. */
const QUEUES = { throughput: 'noop', latency: 'soon' } as const
const BATCH = 4_000
const INSERT = 2_000

export const pgBoss: Contender = {
  name: 'pg-boss',
  store: 'postgres',
  share: 1,
  keeps: 'the row in its last state, until retention',
  configuration: `localConcurrency 2, batchSize ${BATCH}, burstWhenBatchFull; latency: batchSize 50, notify`,
  async prepare(url) {
    const boss = await started(url, {})
    await boss.createQueue(QUEUES.throughput)
    await boss.createQueue(QUEUES.latency, { notify: true })
    await boss.stop({ graceful: false })
  },
  async connect(url, role, purpose) {
    const queue = QUEUES[purpose]
    const boss = await started(url, {
      migrate: false,
      supervise: role === 'worker',
      useListenNotify: role === 'worker',
    })
    const asking = new pg.Pool({ connectionString: url, max: 1 })
    return {
      async bulk(payloads, { delayMs }) {
        const later = delayMs === undefined ? {} : { startAfter: new Date(Date.now() + delayMs) }
        const job = (data: Payload) => ({ data, ...later })
        await inParallel(pieces(payloads, INSERT), 2, (some) => boss.insert(queue, some.map(job)))
      },
      async one(payload) {
        await boss.send(queue, payload)
      },
      async work({ handle }) {
        const throughput = purpose === 'throughput'
        const options = {
          batchSize: throughput ? BATCH : 50,
          localConcurrency: 2,
          burstWhenBatchFull: true,
          pollingIntervalSeconds: 0.5,
          notifyPollingIntervalSeconds: 0.5,
        }
        await boss.work<Payload>(queue, options, async (jobs) => {
          for (const { data } of jobs) await handle(data)
        })
        return {
          settled: async () => !(await exists(asking, `pgboss.job where name = '${queue}' and state = 'active'`)),
          stop: () => boss.offWork(queue),
        }
      },
      async close() {
        await asking.end()
        await boss.stop({ graceful: false })
      },
    }
  },
}

async function started(connectionString: string, options: object): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString, schedule: false, max: 20, ...options })
  boss.on('error', () => {})
  await boss.start()
  return boss
}
