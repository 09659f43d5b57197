import pg from 'pg'
import type { Scenario } from '../scenario.ts'

export const heldSnapshot: Scenario = {
  name: 'held-snapshot',
  title: 'drain under a held snapshot',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl', 'graphile-worker', 'pg-boss'],
  note: 'an idle REPEATABLE READ transaction in the same database',
  async run(stage, { jobs }) {
    const count = stage.jobs(jobs)
    await stage.fill(count)
    await stage.analyze()
    const idle = new pg.Client({ connectionString: stage.url })
    idle.on('error', () => {})
    await idle.connect()
    try {
      await idle.query('begin isolation level repeatable read')
      await idle.query('select count(*) from pg_class')
      return await stage.drain(count)
    } finally {
      await idle.end()
    }
  },
}
