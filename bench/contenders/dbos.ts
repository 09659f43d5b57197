/** DBOS: a queue without limits, its dispatcher asking as often as it may. */
import { DBOS, DBOSClient } from '@dbos-inc/dbos-sdk'
import pg from 'pg'
import { type Contender, exists, inParallel, type Payload, type Step, type WorkOptions } from '../contender.ts'

const QUEUE = 'bench'
const POOL = 20
const LANES = 64
/** Throughput is the same with 10 ms, p50 of latency 9.3 ms instead of 4.0. */
const POLL_MS = 1
/**
 * Drained 2,000 jobs/s; 64 had 1,950, 20 1,080, 1,000 1,530, a pool of 10 2,080, of 40 1,680.
 * Without a bound it starts all jobs there are and then ends them.
 */
const CONCURRENCY = 256
const NAME = 'bench'

export const dbos: Contender = {
  name: 'dbos',
  store: 'postgres',
  share: 0.03,
  keeps: 'the row of the workflow and of each step',
  configuration: `pool ${POOL}, workerConcurrency ${CONCURRENCY}, minPollingIntervalMs ${POLL_MS}, ${LANES} enqueues in flight (it has no bulk call)`,
  async prepare(url) {
    await DBOS.migrate(url)
  },
  async connect(url, role) {
    const client = role === 'producer' ? await clientOf(url) : undefined
    const one = async (payload: Payload) => {
      await client?.enqueue({ queueName: QUEUE, workflowName: 'noop', appVersion: '1' }, payload)
    }
    return {
      async bulk(payloads) {
        await inParallel(payloads, LANES, one)
        return []
      },
      one,
      work: ({ handle }) => working(url, handle),
      close: async () => client?.destroy(),
    }
  },
}

const clientOf = (systemDatabaseUrl: string) =>
  DBOSClient.create({ systemDatabaseUrl, systemDatabasePoolSize: POOL, applicationName: NAME, logger })

async function working(systemDatabaseUrl: string, handle: WorkOptions['handle']) {
  const step: Step = (name, work) => DBOS.runStep(work, { name })
  DBOS.registerWorkflow(async (payload: Payload) => handle(payload, { step }), { name: 'noop' })
  const settings = { name: NAME, systemDatabaseUrl, systemDatabasePoolSize: POOL, applicationVersion: '1', logger }
  DBOS.setConfig({ ...settings, runMigrations: false })
  await DBOS.launch()
  await DBOS.registerQueue(QUEUE, { minPollingIntervalMs: POLL_MS, workerConcurrency: CONCURRENCY })
  const asking = new pg.Pool({ connectionString: systemDatabaseUrl, max: 1 })
  const open = `dbos.workflow_status where status in ('PENDING', 'ENQUEUED')`
  return {
    settled: async () => !(await exists(asking, open)),
    async stop() {
      await asking.end()
      await DBOS.shutdown()
    },
  }
}

const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {}, trace: () => {} } as never
