import { startPgbouncer } from '../../test/support/pgbouncer.ts'
import { pooled } from '../contender.ts'
import type { Scenario } from '../scenario.ts'

export const pgbouncer: Scenario = {
  name: 'pgbouncer',
  title: 'drain through pgbouncer',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl', 'graphile-worker', 'pg-boss'],
  note: "transaction mode, Debian's version; graphile-worker without prepared statements, which it would wait for forever",
  async run(stage, size) {
    await using pooler = await startPgbouncer(stage.url)
    return await stage.fillAndDrain(size, { url: pooled(pooler.url) })
  },
}
