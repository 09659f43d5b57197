import { startPgbouncer } from '../../test/support/pgbouncer.ts'
import type { Scenario } from '../scenario.ts'

export const pgbouncer: Scenario = {
  name: 'pgbouncer',
  title: 'drain through pgbouncer',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl', 'graphile-worker', 'pg-boss'],
  note: "transaction mode, Debian's version",
  async run(stage, { jobs }) {
    const count = stage.jobs(jobs)
    await stage.fill(count)
    await stage.analyze()
    await using pooler = await startPgbouncer(stage.url)
    return await stage.drain(count, { url: pooler.url })
  },
}
