/** pg-boss: two workers with big batches that fetch on while batches are full; notifications only where latency counts. */
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import {
  ALONE,
  type Contender,
  exists,
  inParallel,
  type Payload,
  pieces,
  placesOf,
  type WorkOptions,
} from '../contender.ts'

/** Notifications cost an enqueue a quarter: only the queue that is about latency has them. */
const QUEUES = { throughput: 'noop', latency: 'soon' } as const
/**
 * Two of them drained 40,600 jobs/s. Batches of 500 36,900, 1,000 33,700, 4,000 34,500, 8,000 37,200; one with batches of
 * 4,000 24,500, three with 2,000 35,200, four 38,700. In two processes 35,000, where one each with 4,000 had 41,500.
 */
const BATCH = 2_000
const LOCAL_CONCURRENCY = { throughput: 2, latency: 1 } as const
/** For latency: p50 1.9 ms; with two of them 2.1, with eight 3.1; with batches of one 2.2. */
const BATCH_LATENCY = 50
/** Enqueued 84,000/s in two lanes and 86,000 in four; 43,300 in one; 500, 1,000, 5,000 and 10,000 at a time 78,000 to 85,000. */
const INSERT = 2_000
const LANES = 4

/** Of a group at once, where jobs have one: more than batches have of it. */
const GROUP_CONCURRENCY = 64

/** One job of a key that is queued or active: of its policies the one that means what the others' keys do. */
const KEYED_QUEUE = 'keyed'

export const pgBoss: Contender = {
  name: 'pg-boss',
  store: 'postgres',
  share: 1,
  keeps: 'the row in its last state, until retention',
  configuration: `localConcurrency ${LOCAL_CONCURRENCY.throughput}, batchSize ${BATCH}, burstWhenBatchFull, insert ${INSERT} × ${LANES}; latency: localConcurrency ${LOCAL_CONCURRENCY.latency}, batchSize ${BATCH_LATENCY}, notify`,
  async prepare(url) {
    const boss = await started(url, {})
    await boss.createQueue(QUEUES.throughput)
    await boss.createQueue(QUEUES.latency, { notify: true })
    await boss.createQueue(KEYED_QUEUE, { policy: 'exclusive' })
    await boss.stop({ graceful: false })
  },
  async connect(url, role, purpose, crowd = ALONE) {
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
        const job = (data: Payload) => ({
          data,
          ...later,
          ...(data.key && { singletonKey: data.key }),
          ...grouped(data),
        })
        const where = payloads[0]?.key === undefined ? queue : KEYED_QUEUE
        if (payloads[0]?.place !== undefined) {
          const byPlace = Map.groupBy(payloads, ({ place = 0 }) => place)
          await inParallel(byPlace, LANES, async ([place, some]) => {
            await boss.createQueue(placed(place))
            await boss.insert(placed(place), some.map(job))
          })
          return []
        }
        await inParallel(pieces(payloads, INSERT), LANES, (some) => boss.insert(where, some.map(job)))
        return []
      },
      async one(payload) {
        await boss.send(queue, payload)
      },
      async work({ handle, failing = false, limited = false }) {
        const queues = crowd.places === 0 ? [queue] : placesOf(crowd, 0).map(placed)
        const options = {
          batchSize: purpose === 'throughput' ? BATCH : BATCH_LATENCY,
          localConcurrency: LOCAL_CONCURRENCY[purpose],
          burstWhenBatchFull: true,
          pollingIntervalSeconds: 0.5,
          notifyPollingIntervalSeconds: 0.5,
          ...(limited && { groupConcurrency: GROUP_CONCURRENCY }),
        }
        const all = async (jobs: readonly { readonly data: Payload }[]) => {
          for (const { data } of jobs) await handle(data)
        }
        // Whoever answers for each job by itself is settled job by job: only where some may fail.
        const each = async (jobs: readonly { readonly id: string; readonly data: Payload }[]) =>
          Promise.all(jobs.map(async ({ id, data }) => ({ id, status: await outcome(handle, data) })))
        for (const name of queues) {
          if (failing) await boss.work<Payload>(name, { ...options, perJobResults: true }, each)
          else await boss.work<Payload>(name, options, all)
        }
        return {
          settled: async () => !(await exists(asking, `pgboss.job where state = 'active'`)),
          async stop() {
            for (const name of queues) await boss.offWork(name)
          },
        }
      },
      async close() {
        await asking.end()
        await boss.stop({ graceful: false })
      },
    }
  },
}

const grouped = ({ limitKey }: Payload) => (limitKey === undefined ? {} : { group: { id: limitKey } })

const placed = (place: number) => `noop-${place}`

async function outcome(handle: WorkOptions['handle'], data: Payload): Promise<'completed' | 'failed'> {
  try {
    await handle(data)
    return 'completed'
  } catch {
    return 'failed'
  }
}

async function started(connectionString: string, options: object): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString, schedule: false, max: 20, ...options })
  boss.on('error', () => {})
  await boss.start()
  return boss
}
