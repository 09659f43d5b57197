/** graphile-worker: local queue and batched completion for throughput, neither of them for latency. */
import { makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import { type Contender, exists, inParallel, type Payload, pieces, type WorkOptions } from '../contender.ts'

const CONCURRENCY = 24
const LOCAL_QUEUE = 2_000
const BATCH = 500

export const graphileWorker: Contender = {
  name: 'graphile-worker',
  store: 'postgres',
  share: 1,
  keeps: 'nothing: the row is deleted',
  configuration: `concurrentJobs ${CONCURRENCY}, localQueue ${LOCAL_QUEUE}, completeJobBatchDelay 0; latency: unbatched`,
  async prepare(url) {
    const utils = await makeWorkerUtils({ connectionString: url, logger })
    await utils.migrate()
    await utils.release()
  },
  async connect(url, role) {
    const pgPool = new pg.Pool({ connectionString: url, max: role === 'worker' ? 10 : 20 })
    pgPool.on('error', () => {})
    const options = { pgPool, logger }
    const utils = await makeWorkerUtils(options)
    return {
      async bulk(payloads, { delayMs }) {
        const runAt = delayMs === undefined ? undefined : new Date(Date.now() + delayMs)
        const spec = (payload: Payload) => ({ identifier: 'noop', payload, ...(runAt && { runAt }) })
        await inParallel(pieces(payloads, BATCH), 2, (some) => utils.addJobs(some.map(spec)))
      },
      async one(payload) {
        await utils.addJob('noop', payload)
      },
      async work({ purpose, handle, concurrency = CONCURRENCY }: WorkOptions) {
        const taskList = { noop: (data: unknown) => handle(data as Payload) }
        const worker = { concurrentJobs: concurrency, ...(purpose === 'throughput' ? batched : { pollInterval: 100 }) }
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

const batched = {
  localQueue: { size: LOCAL_QUEUE },
  completeJobBatchDelay: 0,
  failJobBatchDelay: 0,
  pollInterval: 10,
}

const quiet = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, scope: () => quiet }
const logger = quiet as never
