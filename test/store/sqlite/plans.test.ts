import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { find } from '../../../src/store/sqlite/thread/find.ts'
import { Ledger } from '../../../src/store/sqlite/thread/ledger.ts'
import { MIGRATIONS } from '../../../src/store/sqlite/thread/schema.ts'
import { STATEMENTS } from '../../../src/store/sqlite/thread/statements.ts'
import { storeClock } from '../../../src/store/sqlite/thread/store-clock.ts'
import { realClock } from '../../../src/system/clock.ts'

/** Never analyzed: what is planned here is planned on a fresh file. */
const db = new DatabaseSync(':memory:')
for (const migration of MIGRATIONS) db.exec(migration)
afterAll(() => db.close())

const plan = (sql: string): string =>
  db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...Array(sql.match(/\?(?!\d)/g)?.length ?? highest(sql)).fill(null))
    .map((row) => String(row['detail']))
    .join('\n')

const highest = (sql: string): number => Math.max(0, ...(sql.match(/\?\d/g) ?? []).map((mark) => Number(mark.slice(1))))

describe('plans', () => {
  it.each([
    ['front', 'ready USING PRIMARY KEY (lane=? AND ready_at<?)'],
    ['claimable', 'r USING PRIMARY KEY (lane=? AND ready_at<?)'],
    ['deleteFront', 'ready USING PRIMARY KEY (lane=? AND (ready_at,id)<(?,?))'],
    ['leaseFront', 'r USING PRIMARY KEY (lane=? AND (ready_at,id)<(?,?))'],
    ['dueReady', 'ready USING COVERING INDEX ready_tick (tick<?)'],
    ['dueLease', 'lease USING COVERING INDEX lease_tick (tick<?)'],
    ['dueRest', 'rest USING COVERING INDEX rest_tick (tick<?)'],
    ['takeLease', 'lease USING INTEGER PRIMARY KEY (rowid=?)'],
    ['leases', 'lease USING INTEGER PRIMARY KEY (rowid=?)'],
    ['takeReady', 'ready USING PRIMARY KEY (lane=? AND ready_at=? AND id=?)'],
    ['holder', 'key USING PRIMARY KEY (tenant=? AND purpose=? AND key=?)'],
    ['claimByRequest', 'claim USING COVERING INDEX claim_request (request=?)'],
    ['marks', 'mark USING PRIMARY KEY (type=? AND at>? AND at<?)'],
    ['pastFrom', 'past USING PRIMARY KEY (job=? AND rev>?)'],
  ] as const)('%s looks nowhere but where it must', (name, served) => {
    const steps = plan(STATEMENTS[name])
    expect(steps).toContain(`SEARCH ${served}`)
    expect(steps).not.toMatch(/SCAN (?!json_each|CONSTANT ROW|p$)|TEMP B-TREE/m)
  })

  it('whole finds a job in whatever place by its id', () => {
    expect(plan(STATEMENTS.whole)).not.toMatch(/SCAN|TEMP B-TREE|AUTOMATIC/)
  })

  it('no statement makes up an index of its own', () => {
    const odd = Object.entries(STATEMENTS).filter(([, sql]) => plan(sql).includes('AUTOMATIC'))
    expect(odd.map(([name]) => name)).toEqual([])
  })

  it.each([
    ['states', { states: ['S'] }, /done USING PRIMARY KEY \(kind=\? AND state=\?/],
    ['kinds', { kinds: [1] }, /ready_kind|done USING PRIMARY KEY|rest_kind/],
    ['parent', { parent: 'p' }, /job_parent/],
    ['workflow', { workflow: 'w' }, /job_workflow/],
    ['dedupe key', { dedupe: 'd' }, /job_dedupe/],
    ['correlation', { correlation: 7 }, /job_correlation/],
    ['label', { labels: [['a', 'b'] as const] }, /label USING PRIMARY KEY/],
    ['code', { code: 'E' }, /done_code/],
  ] as const)('find by %s is driven by an index', (_, filter, index) => {
    const asked: string[] = []
    const spied = new Proxy(db, {
      get(target, key) {
        if (key !== 'prepare') return Reflect.get(target, key, target)
        return (sql: string) => {
          asked.push(sql)
          return target.prepare(sql)
        }
      },
    })
    db.exec(`INSERT OR IGNORE INTO queue VALUES (1, 't', 'q'); INSERT OR IGNORE INTO kind VALUES (1, 1, 1, 0, 'k')`)
    const ledger = new Ledger(spied, storeClock(realClock), 1)
    asked.length = 0
    find(ledger, { ...EVERYTHING, ...filter })
    const steps = plan(asked.at(-1) ?? '')
    expect(steps).toMatch(index)
    expect(steps).not.toMatch(/SCAN j\b|AUTOMATIC/)
  })
})

const EVERYTHING = {
  kinds: null,
  states: null,
  labels: [],
  correlation: null,
  ownId: null,
  parent: null,
  workflow: null,
  dedupe: null,
  code: null,
  createdFrom: null,
  createdTo: null,
  endedBefore: null,
  newest: true,
  limit: 10,
  after: null,
}
