/** graphile-worker: local queue and batched completion for throughput, neither of them for latency. */
import { makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import {
  ALONE,
  type Contender,
  exists,
  inParallel,
  isPooled,
  type Payload,
  pieces,
  placesOf,
  type WorkOptions,
} from '../contender.ts'

/**
 * Drained 100,000 warm jobs at 59,500/s. Not told from it by what a run differs by itself (±5 %): 8 and 64 concurrent
 * (62,500 and 58,400), a pool of 4 instead of 10 (61,300), a refetch delay of 10 ms (63,600), completion after 1 ms
 * (53,100). Slower: a local queue of 500 (47,100), 1,000 (49,500) or 5,000 (55,700), 128 concurrent (52,700), completion
 * one by one (9,600). In two processes 79,900; 8 concurrent 82,900, local queue 1,000 75,600, 5,000 81,500.
 */
const CONCURRENCY = 24
const LOCAL_QUEUE = 2_000
/** For latency: p50 / p95 of 1.6 / 2.2 ms; 24 had 1.8 / 2.7, 64 had 1.9 / 5.9. */
const CONCURRENCY_LATENCY = 8
/** Enqueued 105,000/s. 2,000 in 2 lanes 99,000, 1,000 in 4 103,000, 500 in 2 90,600, 5,000 in 4 93,000, 100 64,000. */
const BATCH = 2_000
const LANES = 4

export const graphileWorker: Contender = {
  name: 'graphile-worker',
  store: 'postgres',
  share: 1,
  keeps: 'nothing: the row is deleted',
  configuration: `concurrentJobs ${CONCURRENCY}, localQueue ${LOCAL_QUEUE}, completeJobBatchDelay 0, addJobs ${BATCH} × ${LANES}; latency: unbatched, concurrentJobs ${CONCURRENCY_LATENCY}`,
  async prepare(url) {
    const utils = await makeWorkerUtils({ connectionString: url, logger })
    await utils.migrate()
    await utils.release()
  },
  async connect(url, role, _purpose, crowd = ALONE) {
    const pgPool = new pg.Pool({ connectionString: url, max: role === 'worker' ? 10 : 20 })
    pgPool.on('error', () => {})
    const options = { pgPool, logger }
    const utils = await makeWorkerUtils(options)
    return {
      async bulk(payloads, { delayMs }) {
        const runAt = delayMs === undefined ? undefined : new Date(Date.now() + delayMs)
        const spec = (payload: Payload) => ({
          identifier: nameOf(payload.place),
          payload,
          ...(runAt && { runAt }),
          ...(payload.key && { jobKey: payload.key }),
        })
        await inParallel(pieces(payloads, BATCH), LANES, (some) => utils.addJobs(some.map(spec)))
        return []
      },
      async one(payload) {
        await utils.addJob('noop', payload)
      },
      async work({ purpose, handle, concurrency = CONCURRENCIES[purpose] }: WorkOptions) {
        const names = crowd.places === 0 ? [undefined] : placesOf(crowd, 0)
        const task = (data: unknown) => handle(data as Payload)
        const taskList = Object.fromEntries(names.map((place) => [nameOf(place), task]))
        const worker = {
          concurrentJobs: concurrency,
          preparedStatements: !isPooled(url),
          ...(purpose === 'throughput' ? batched : { pollInterval: 100 }),
        }
        const runner = await run({ ...options, taskList, preset: { worker }, noHandleSignals: true })
        return {
          settled: async () => !(await exists(pgPool, 'graphile_worker._private_jobs where locked_at is not null')),
          stop: () => runner.stop(),
        }
      },
      async close() {
        await utils.release()
        await pgPool.end()
      },
    }
  },
}

/** It has no queues that are served one by one: what comes nearest is a task of its own for each. */
const nameOf = (place: number | undefined) => (place === undefined ? 'noop' : `noop-${place}`)

const CONCURRENCIES = { throughput: CONCURRENCY, latency: CONCURRENCY_LATENCY } as const

const batched = {
  localQueue: { size: LOCAL_QUEUE },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
  pollInterval: 10,
}

const quiet = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, scope: () => quiet }
const logger = quiet as never
