import { type Scenario, withPlain } from '../scenario.ts'

/** Claimers share processes, since a hundred of them on two cores would measure the machine's scheduler. */
const PROCESSES = 4

export const manyQueues: Scenario = {
  name: 'many-queues',
  title: 'drain, many queues of many tenants',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl', 'graphile-worker', 'pg-boss', 'bullmq-redis'],
  note: `1,000 queues, each of a tenant of its own; half of the jobs, and as many before them, so that every claimer is warm. pawl has 100 simulated claimers, each with connections, ticker and retention of its own, ${PROCESSES} processes in all, each claimer for a tenth of the queues; one claimer drains one queue right before. The peers have one process that serves all: graphile-worker a task for each, pg-boss and BullMQ a worker for each`,
  async run(stage, { jobs, claimers, queues }) {
    const isPawl = stage.contender.build !== undefined
    const processes = isPawl ? PROCESSES : 1
    const size = { warm: jobs / 2, jobs: jobs / 2 }
    const crowd = { claimers: isPawl ? claimers / PROCESSES : 1, places: queues }
    return withPlain(
      stage,
      (empty) => empty.fillAndDrain(size),
      () =>
        stage.fillAndDrain({ ...size, warm: size.warm / processes }, { processes, crowd, bulk: { places: queues } }),
    )
  },
}
