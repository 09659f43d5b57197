/** OpenWorkflow: its worker polls without a pause while it finds something. */
import { OpenWorkflow } from 'openworkflow'
import { BackendPostgres } from 'openworkflow/postgres'
import pg from 'pg'
import { type Contender, exists, inParallel, type Payload, type WorkOptions } from '../contender.ts'

/** Drained 1,260 jobs/s; 5 had 200, 10 980, 20 1,100, 100 and 200 as many. p50 of latency 17 ms, with 20 33. */
const CONCURRENCY = 50
/** 8,200 runs/s started; 128 the same, 20 7,300. */
const LANES = 64
/** Whoever waits for a signal is running without a worker. */
const OPEN = `openworkflow.workflow_runs where status in ('pending', 'running') and worker_id is not null`

/** Its signals are addressed to whoever waits for the name. */
const signalOf = ({ n }: Payload) => `go-${n}`

export const openworkflow: Contender = {
  name: 'openworkflow',
  store: 'postgres',
  share: 0.01,
  keeps: 'the row of the run and of each step',
  configuration: `concurrency ${CONCURRENCY}, ${LANES} runs started in flight (it has no bulk call)`,
  async prepare(url) {
    const backend = await BackendPostgres.connect(url)
    await backend.stop()
  },
  async connect(url) {
    const backend = await BackendPostgres.connect(url, { runMigrations: false })
    const client = new OpenWorkflow({ backend })
    const asking = new pg.Pool({ connectionString: url, max: 1 })
    let run: WorkOptions['handle'] = () => {}
    const noop = client.defineWorkflow<Payload, void>({ name: 'noop' }, async ({ input, step }) =>
      run(input, {
        step: (name, work) => step.run({ name }, work),
        wait: () => step.waitForSignal({ signal: signalOf(input) }),
      }),
    )
    const one = async (payload: Payload) => {
      await noop.run(payload)
    }
    return {
      async bulk(payloads) {
        await inParallel(payloads, LANES, one)
        return payloads.map(signalOf)
      },
      one,
      async signal(signal) {
        await client.sendSignal({ signal })
      },
      async work({ handle, concurrency = CONCURRENCY }) {
        run = handle
        const worker = client.newWorker({ concurrency })
        await worker.start()
        return { settled: async () => !(await exists(asking, OPEN)), stop: () => worker.stop() }
      },
      async close() {
        await asking.end()
        await backend.stop()
      },
    }
  },
}
