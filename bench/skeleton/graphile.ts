/** graphile-worker in the fastest configuration found: 24 concurrent, local queue of 2000, completion in batches. */
import { makeWorkerUtils, run } from 'graphile-worker'
import pg from 'pg'
import type { Figures, Meter } from './meter.ts'

const BATCH = 500
const PAYLOAD = { url: `https://example.com/${'x'.repeat(70)}` }

export async function graphile(meter: Meter, jobs: number): Promise<Record<'enqueue' | 'drain', Figures>> {
  const logger = { error: () => {}, warn: () => {}, info: () => {}, debug: () => {}, scope: () => logger }
  const pool = new pg.Pool({ connectionString: meter.url, max: 10 })
  pool.on('error', () => {})
  const options = { pgPool: pool, logger: logger as never }
  const utils = await makeWorkerUtils(options)
  await utils.migrate()
  const specs = Array.from({ length: BATCH }, () => ({ identifier: 'noop', payload: PAYLOAD }))
  const enqueue = await meter.measure(jobs, async () => {
    for (let from = 0; from < jobs; from += BATCH) await utils.addJobs(specs)
  })
  await meter.settle('graphile_worker')
  await meter.query('analyze')

  let done = 0
  const drain = await meter.measure(jobs, async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const runner = await run({
      ...options,
      taskList: {
        noop: () => {
          done += 1
          if (done === jobs) resolve()
        },
      },
      preset: {
        worker: {
          concurrentJobs: 24,
          localQueue: { size: 2_000 },
          completeJobBatchDelay: 0,
          failJobBatchDelay: 0,
          pollInterval: 10,
        },
      } as never,
      noHandleSignals: true,
    })
    await promise
    await runner.stop()
  })
  const { rows } = await meter.query('select count(*)::int as left from graphile_worker._private_jobs')
  if (rows[0].left !== 0) throw new Error(`graphile left ${rows[0].left} jobs`)
  await utils.release()
  await pool.end()
  return { enqueue, drain }
}
