import { POSTGRES_PEERS } from '../contenders.ts'
import type { Scenario } from '../scenario.ts'
import { query } from '../servers.ts'

const ROWS = `select coalesce(sum(n_live_tup), 0)::float8 as rows from pg_stat_user_tables`

export const left: Scenario = {
  name: 'left',
  title: 'what is left after completion',
  figure: 'diskBytes',
  unit: 'bytes/job',
  better: 'less',
  contenders: ['pawl', ...POSTGRES_PEERS],
  rounds: 1,
  note: 'after vacuum, tables and indexes; what a contender keeps is said beside it',
  async run(stage, { jobs }) {
    const count = stage.jobs(jobs / 2)
    const before = await stage.meter.diskBytes()
    await stage.fill(count)
    await stage.drain(count)
    await query(stage.url, 'vacuum analyze')
    const [counted] = await query<{ rows: number }>(stage.url, ROWS)
    return {
      diskBytes: ((await stage.meter.diskBytes()) - before) / count,
      rows: (counted?.rows ?? 0) / count,
    }
  },
}
