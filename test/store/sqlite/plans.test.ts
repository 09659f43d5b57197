import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, expect, it } from 'vitest'
import { LONG_LOG } from '../../../src/core/compact.ts'
import { DOWNWARDS, UPWARDS } from '../../../src/store/sqlite/thread/read-statements.ts'
import { MIGRATIONS } from '../../../src/store/sqlite/thread/schema.ts'
import { STATEMENTS } from '../../../src/store/sqlite/thread/statements.ts'

/** Never analyzed: what is planned here is planned on a fresh file. */
const db = new DatabaseSync(':memory:')
for (const migration of MIGRATIONS) db.exec(migration)
afterAll(() => db.close())

const plan = (sql: string): string =>
  db
    .prepare(`EXPLAIN QUERY PLAN ${sql}`)
    .all(...Array(sql.match(/\?/g)?.length ?? 0).fill(null))
    .map((row) => String(row['detail']))
    .join('\n')

/** What may be gone through from its beginning: a list that came with the call, and what ends with its limit. */
const SCANS = /SCAN (?!json_each|e VIRTUAL TABLE|CONSTANT ROW|p$)/m

describe('plans', () => {
  it.each([
    ['front', 'ready USING PRIMARY KEY (lane=? AND ready_at<?)'],
    ['claimable', 'r USING PRIMARY KEY (lane=? AND ready_at<?)'],
    ['deleteFront', 'ready USING PRIMARY KEY (lane=? AND (ready_at,id)<(?,?))'],
    ['leaseFront', 'r USING PRIMARY KEY (lane=? AND (ready_at,id)<(?,?))'],
    ['dueReady', 'ready USING COVERING INDEX ready_tick (tick<?)'],
    ['dueLease', 'lease USING COVERING INDEX lease_tick (tick<?)'],
    ['dueRest', 'rest USING COVERING INDEX rest_tick (tick<?)'],
    ['unjudged', 'rest USING COVERING INDEX rest_judge (judge<?)'],
    ['leaseAt', 'lease USING INTEGER PRIMARY KEY (rowid=?)'],
    ['leasesAlike', 'l USING INTEGER PRIMARY KEY (rowid=?)'],
    ['deleteLease', 'lease USING INTEGER PRIMARY KEY (rowid=?)'],
    ['takeReady', 'ready USING PRIMARY KEY (lane=? AND ready_at=? AND id=?)'],
    ['holder', 'key USING PRIMARY KEY (tenant=? AND purpose=? AND key=?)'],
    ['claimByRequest', 'claim USING COVERING INDEX claim_request (request=?)'],
    ['moments', 'moment USING PRIMARY KEY (type=? AND (at,position)>(?,?) AND at<?)'],
    ['pastFrom', 'past USING PRIMARY KEY (job=? AND rev>?)'],
    ['pastAt', 'past USING PRIMARY KEY (job=? AND rev>?)'],
    ['askedIn', 'asked USING PRIMARY KEY (job=? AND request=?)'],
    ['echoedBy', 'echo USING PRIMARY KEY (correlation=? AND job>? AND job<?)'],
    ['echoes', 'echo USING COVERING INDEX echo_job (job=? AND correlation=? AND rev>?)'],
    ['longEnded', 'done USING INDEX done_long ((ended_at,id)>(?,?) AND ended_at<?)'],
    ['anyEnded', 'ending USING COVERING INDEX ending_ended (state=? AND ended_at<?)'],
    ['bornAfter', 'job USING INTEGER PRIMARY KEY (rowid>?)'],
    ['kindsOf', 'kind USING COVERING INDEX kind_queue (queue=?)'],
    ['kindsOfType', 'kind USING COVERING INDEX kind_queue (queue=? AND type=?)'],
    ['tallyOf', 'k USING COVERING INDEX kind_queue (queue=?)'],
    ['settings', 'setting USING PRIMARY KEY (collection=? AND key>?)'],
    ['lastWaiting', 'flow USING COVERING INDEX flow_account (waits_at=? AND priority=? AND weighed_by=?)'],
    ['flowsWaiting', 'f USING INDEX flow_ring (waits_at=? AND priority=? AND pass>?)'],
    ['priorityWaiting', 'flow USING COVERING INDEX flow_ring (waits_at=? AND priority>?)'],
    ['placeWaiting', 'flow USING COVERING INDEX flow_ring (waits_at>? AND waits_at<?)'],
    ['flowsDue', 'flow USING COVERING INDEX flow_next (next_at<?)'],
    ['keysAwake', 'flow_key USING COVERING INDEX flow_key_wake (wake_at<?)'],
    ['heldIn', 'ready USING PRIMARY KEY (lane=? AND (ready_at,id)>(?,?))'],
    ['standing', 'r USING INDEX ready_kind (kind=? AND state=? AND id=?)'],
    ['slotsOf', 'slot USING PRIMARY KEY (key=?)'],
    ['freeSlots', 'slot USING INDEX slot_job (job=?)'],
    ['stoodSince', 's USING INDEX slot_standing (let_in<?)'],
    ['pacesOf', 'pace USING PRIMARY KEY (key=?)'],
  ] as const)('%s looks nowhere but where it must', (name, served) => {
    const steps = plan(STATEMENTS[name])
    expect(steps).toContain(`SEARCH ${served}`)
    expect(steps).not.toMatch(SCANS)
    expect(steps).not.toContain('TEMP B-TREE')
  })

  it.each([
    ['ready', 'ready_kind (kind=? AND state=? AND id>? AND id<?)'],
    ['rest', 'rest_kind (kind=? AND state=? AND id>? AND id<?)'],
    ['done', 'PRIMARY KEY (kind=? AND state=? AND id>? AND id<?)'],
    ['mark', 'PRIMARY KEY (mark=? AND job>? AND job<?)'],
    ['correlation', 'job_correlation (correlation=? AND id>? AND id<?)'],
    ['doneCode', 'done_code (code=? AND id>? AND id<?)'],
    ['readyCode', 'ready_code (code=? AND id>? AND id<?)'],
    ['restCode', 'rest_code (code=? AND id>? AND id<?)'],
    ['leaseCode', 'lease_code (code=? AND id>? AND id<?)'],
    ['leases', 'INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
    ['jobs', 'INTEGER PRIMARY KEY (rowid>? AND rowid<?)'],
  ] as const)('a walk of %s is the index in its order, in both directions', (name, served) => {
    for (const walks of [UPWARDS, DOWNWARDS]) {
      const steps = plan(walks[name])
      expect(steps).toContain(served)
      expect(steps).not.toMatch(/SCAN|TEMP B-TREE/)
    }
  })

  it.each(['whole', 'heads'] as const)('%s finds a job in whatever place by its id', (name) => {
    expect(plan(STATEMENTS[name])).not.toMatch(/SCAN|TEMP B-TREE|AUTOMATIC/)
  })

  it('no statement makes up an index of its own', () => {
    const odd = Object.entries(STATEMENTS).filter(([, sql]) => plan(sql).includes('AUTOMATIC'))
    expect(odd.map(([name]) => name)).toEqual([])
  })

  it('logs are long for the index as they are for core', () => {
    const [row] = db.prepare(`SELECT sql FROM sqlite_master WHERE name = 'done_long'`).all()
    expect(row?.['sql']).toContain(`rev >= ${LONG_LOG}`)
  })
})
