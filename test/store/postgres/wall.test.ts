import { readFileSync } from 'node:fs'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { STATES } from '../../../src/core/job.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Store } from '../../../src/store/store.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { audit, change, claimedBy, completion, drain, grantOf, kindOf, Ledger, newJob, range } from './flow.ts'

let database: FreshDatabase
let owner: pg.Client
let app: pg.Client
let store: Store

beforeAll(async () => {
  database = await freshDatabase()
  const migrated = await openPostgresStore({ url: database.url, migrate: true })
  await migrated.close()
  owner = new pg.Client({ connectionString: database.url })
  await owner.connect()
  const url = new URL(database.url)
  url.username = `service_${owner.database}`
  await owner.query(`create role ${url.username} login in role pawl_app_${owner.database}`)
  app = new pg.Client({ connectionString: url.href })
  await app.connect()
  store = await openPostgresStore({ url: url.href })
})

afterAll(async () => {
  await store.close()
  await app.end()
  await owner.end()
  await database.drop()
})

const codeOf = (statement: Promise<unknown>): Promise<string> =>
  statement.then(
    () => 'done',
    (error: unknown) => String((error as { code?: string }).code),
  )

describe('whoever is in the role of the installation', () => {
  it('can do all the work', async () => {
    const { now } = await store.load([])
    const numbers = range(1, 300)
    await store.insert(numbers.map((n) => newJob(kindOf('app'), n, now)))
    const ledger = new Ledger()
    await drain(store, 'app', ledger, numbers.length, () => 50)
    await audit(store, numbers)
    const { rows } = await app.query(`select state, count(*)::int from pawl.jobs where queue = 'app' group by state`)
    expect(rows).toEqual([{ state: 'succeeded', count: 300 }])
    const events = await app.query(`select type from pawl.events where job = 7 order by rev, place`)
    expect(events.rows.map(({ type }) => type).toSorted()).toEqual(['claimed', 'enqueued', 'started', 'succeeded'])
  })

  it('cannot touch a table, nor a helper', async () => {
    const { rows } = await owner.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
       where schemaname = 'pawl' and tablename <> 'migration'`,
    )
    expect(rows.length).toBeGreaterThan(12)
    for (const { name } of rows) {
      expect(await codeOf(app.query(`select * from ${name}`)), name).toBe('42501')
      expect(await codeOf(app.query(`delete from ${name}`)), name).toBe('42501')
      expect(await codeOf(app.query(`insert into ${name} default values`)), name).toBe('42501')
    }
    for (const call of [
      `pawl.move_sets('[]', 0, null, null)`,
      `pawl.bear('{}', 0, null)`,
      `pawl.take_key('', '', '', 1, 0, 0, null)`,
      `pawl.parked_for(1, 0)`,
      `pawl.answer(null, '[]')`,
    ]) {
      expect(await codeOf(app.query(`select ${call}`)), call).toBe('42501')
    }
    expect(await codeOf(app.query('create table pawl.mine (x int)'))).toBe('42501')
    expect(await codeOf(app.query('alter function pawl.clock() reset all'))).toBe('42501')
  })

  it('cannot make a job go backwards, lose it, or end it twice, whatever it tells the functions', async () => {
    const { now } = await store.load([])
    const kind = kindOf('wall')
    const [queued, ended] = [newJob(kind, 10_001, now), newJob(kind, 10_002, now)]
    await store.insert([queued, ended])
    const cancel = change(ended.job, { type: 'cancel', mode: 'hard', actor: 'a', requestId: 'r' }, now)
    await store.commit([cancel])
    const running = newJob(kind, 10_003, now)
    await store.insert([running])
    const grant = grantOf('wall', 10)
    const answer = await store.claim(grant)
    expect(answer.jobs.map(({ before }) => before.id)).toEqual([queued.job.id, running.job.id])

    const G = 2 ** 36
    const row = {
      e: '[0]',
      a: now,
      f: 9,
      k: 1,
      h: 'qxq',
      tn: 't',
      l: 15,
      lw: 1000,
      d: '{"s":"q"}',
      ra: now,
      x: now,
      t: now,
    }
    const move = (item: object) =>
      app.query('select verdicts from pawl.move($1, false)', [JSON.stringify([{ ...row, ...item }])])
    const illegal: Record<string, object> = {
      'ended to queued, same generation': { i: 10_002, r: 2, v: 3, q: 'p', w: 'r', s: 7 },
      'ended to claimed, next attempt': {
        i: 10_002,
        r: 2,
        v: 3,
        q: 'p',
        w: 'l',
        s: 17,
        c: { w: 'w', a: 'a', n: 'n', t: now },
      },
      'ended two generations on': { i: 10_002, r: 2, v: 3, q: 'p', w: 'r', s: 2 * G + 7 },
      'ended to another end': { i: 10_002, r: 2, v: 3, q: 'p', w: 'p', s: 24, z: 'S' },
      'owned to queued, same attempt, lower rank': { i: 10_003, r: 2, v: 3, q: 'l', w: 's', s: 16 },
      'owned to nowhere': { i: 10_003, r: 2, v: 3, q: 'l', w: 'z', s: 23 },
      'owned to history without an end': { i: 10_003, r: 2, v: 3, q: 'l', w: 'p', s: 23 },
      'an end among the claimable': { i: 10_003, r: 2, v: 3, q: 'l', w: 'r', s: 24, z: 'S' },
      'owned to owned, next attempt, without a claim': { i: 10_003, r: 2, v: 3, q: 'l', w: 'l', s: 33 },
      'a revision that does not rise': { i: 10_003, r: 2, v: 2, q: 'l', w: 'r', s: 23 },
      'owned, as claimable': { i: 10_003, r: 2, v: 3, q: 'l', w: 'r', s: 18 },
    }
    for (const [what, item] of Object.entries(illegal)) expect(await codeOf(move(item)), what).toBe('23514')
    const settle = { i: '{10003}', r: 2, v: 3, s: 23, a: now, e: '[0]' }
    const { rows } = await app.query(`select missed from pawl.settle_leases($1, '{10003}', '{3}', '{1}', '{cxq}')`, [
      JSON.stringify([settle]),
    ])
    expect(rows[0].missed).toEqual([10_003])

    const { items } = await store.load([{ id: ended.job.id }, { id: running.job.id }])
    expect(items[0]?.job).toEqual(cancel.after)
    const claimed = answer.jobs.find(({ before }) => before.id === running.job.id)
    if (claimed === undefined) throw new Error('it was claimed')
    expect(items[1]?.job).toEqual(claimedBy(claimed, grant))
    expect((await store.commit([completion(claimedBy(claimed, grant), answer.now)])).verdicts).toEqual([
      { status: 'applied' },
    ])
  })
})

describe('the schema itself', () => {
  it('refuses the owner what no job may be', async () => {
    const broken = [
      `update pawl.past set to_step = from_step - 1`,
      `update pawl.past set state = null where state is not null`,
      `update pawl.past set rev = from_rev`,
      `insert into pawl.lease (id, claim, expires_at, rev, step) values (1, 1, 1, 1, 7)`,
      `insert into pawl.lease (id, claim, expires_at, rev, step) values (1, -1, 1, 1, 17)`,
      `insert into pawl.ready (id, ready_at, lane, window_ms, kind, rev, step, doc) values (1, 1, 1, 1, 1, 2, 24, '{}')`,
      `insert into pawl.ready (id, ready_at, lane, window_ms, kind, step) values (1, 1, 1, 1, 1, 7)`,
      `insert into pawl.rest (id, rev, step, doc) values (1, 2, 24, '{}')`,
      `insert into pawl.job (id, created_at, kind, lane) values (0, 1, 1, 1)`,
      `insert into pawl.past (job, at, from_step, to_step, rev, from_rev, plain, events) values (1, 1, 7, 23, 9, 8, false, '')`,
    ]
    for (const statement of broken) expect(await codeOf(owner.query(statement)), statement).toBe('23514')
  })

  it('is described, view by view and column by column', async () => {
    const page = readFileSync('docs/sql.md', 'utf8')
    for (const view of ['jobs', 'events']) {
      const section = page.slice(page.indexOf(`### \`pawl.${view}\``)).split('###')[1] ?? ''
      const { rows } = await owner.query(
        `select column_name as name from information_schema.columns where table_schema = 'pawl' and table_name = $1`,
        [view],
      )
      const told = section.split('\n').flatMap((line) => {
        const [, first = ''] = line.split('|')
        return [...first.matchAll(/`(\w+)`/g)].map(([, name]) => name)
      })
      expect(told.toSorted(), view).toEqual(rows.map(({ name }) => name).toSorted())
    }
  })

  it('names every state in its view', async () => {
    const { rows } = await owner.query(`select pg_get_viewdef('pawl.jobs'::regclass) as text`)
    for (const state of STATES) expect(rows[0].text).toContain(`'${state}'`)
  })
})
