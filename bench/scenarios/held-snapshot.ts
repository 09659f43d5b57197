import pg from 'pg'
import { type Figures, type Scenario, withPlain } from '../scenario.ts'
import type { Size } from '../size.ts'
import type { Stage } from '../stage.ts'

export const heldSnapshot: Scenario = {
  name: 'held-snapshot',
  title: 'drain under a held snapshot',
  figure: 'perSecond',
  unit: 'jobs/s',
  better: 'more',
  contenders: ['pawl', 'graphile-worker', 'pg-boss'],
  note: 'an idle REPEATABLE READ transaction in the same database; pawl drains once with and once without, one right after the other',
  run: (stage, size) => withPlain(stage, (empty) => empty.fillAndDrain(size), held(stage, size)),
}

const held = (stage: Stage, size: Size) => async (): Promise<Figures> => {
  const idle = new pg.Client({ connectionString: stage.url })
  idle.on('error', () => {})
  await idle.connect()
  try {
    const warm = stage.jobs(size.warm)
    const count = stage.jobs(size.jobs)
    await stage.fill(warm + count)
    await idle.query('begin isolation level repeatable read')
    await idle.query('select count(*) from pg_class')
    return await stage.drain(count, { warm })
  } finally {
    await idle.end()
  }
}
