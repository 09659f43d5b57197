/** pg-boss: two workers with big batches that fetch on while batches are full; notifications only where latency counts. */
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { type Contender, exists, inParallel, type Payload, pieces } from '../contender.ts'

const QUEUE = 'noop'
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
    await boss.createQueue(QUEUE)
    await boss.stop({ graceful: false })
  },
  async connect(url, role) {
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
        await inParallel(pieces(payloads, INSERT), 2, (some) => boss.insert(QUEUE, some.map(job)))
      },
      async one(payload) {
        await boss.send(QUEUE, payload)
      },
      async work({ purpose, handle }) {
        const throughput = purpose === 'throughput'
        if (!throughput) await boss.updateQueue(QUEUE, { notify: true })
        const options = {
          batchSize: throughput ? BATCH : 50,
          localConcurrency: 2,
          burstWhenBatchFull: true,
          pollingIntervalSeconds: 0.5,
          notifyPollingIntervalSeconds: 0.5,
        }
        await boss.work<Payload>(QUEUE, options, async (jobs) => {
          for (const { data } of jobs) await handle(data)
        })
        return {
          settled: async () => !(await exists(asking, `pgboss.job where name = '${QUEUE}' and state = 'active'`)),
          stop: () => boss.offWork(QUEUE),
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
