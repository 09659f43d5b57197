import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { EventType } from '../../../src/core/event.ts'
import { idNumber, idText } from '../../../src/core/id.ts'
import { MACHINE } from '../../../src/core/transitions.ts'
import { ledBy, ledOf } from '../../../src/store/postgres/names/led.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Store } from '../../../src/store/store.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { change, grantOf, kindOf, newJob, range } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase
let client: pg.Client
let store: Store
let plans: string[] = []

beforeAll(async () => {
  database = await freshDatabase()
  store = await openPostgresStore({ url: database.url, migrate: true })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
  for (const table of ['ready', 'lease', 'job', 'past', 'rest']) {
    await client.query(`alter table pawl.${table} set (autovacuum_enabled = off)`)
  }
  client.on('notice', ({ message }) => plans.push(message ?? ''))
  await client.query(`load 'auto_explain'`)
  const settings = {
    log_min_duration: '0',
    log_nested_statements: 'on',
    log_analyze: 'on',
    log_timing: 'off',
    log_buffers: 'on',
  }
  for (const [name, value] of Object.entries(settings)) await client.query(`set auto_explain.${name} = '${value}'`)
  await client.query('set client_min_messages = log')
})

afterAll(async () => {
  await client.end()
  await store.close()
  await database.drop()
})

async function planOfClaim(queue: string, limit: number): Promise<string> {
  const { rows } = await client.query(`select id from pawl.queue where name = $1`, [queue])
  plans = []
  const { requestId, workerId, actor, nonce } = grantOf(queue, limit)
  const lane = rows[0].id * 10 + 5
  const values = [requestId, null, workerId, actor, nonce, `{${lane}}`, '{0}', limit, 1 << 20]
  await client.query('select * from pawl.claim($1, $2, $3, $4, $5, $6, $7, $8, $9)', values)
  // The statements of the function; the call itself tells of nothing but their sum.
  return plans.filter((plan) => !plan.includes('Function Scan on claim')).join('\n')
}

const buffersOf = (plan: string): number => {
  // Of each statement what its topmost node has touched, which is less indented than the rest.
  const found = plan.matchAll(/^ {2}Buffers: shared hit=(\d+)(?: read=(\d+))?/gm)
  return [...found].reduce((sum, [, hit, read]) => sum + Number(hit) + Number(read ?? 0), 0)
}

describe('the plan of a claim', () => {
  it('looks each job up, also where it was made while there was none', async () => {
    await store.claim(grantOf('early', 1))
    await client.query('analyze')
    await planOfClaim('early', 100)
    const { now } = await store.load([])
    await store.insert(range(800_001, 300).map((n) => newJob(kindOf('early'), n, now)))
    const plan = await planOfClaim('early', 100)
    expect(plan).toMatch(/Index Scan using job_pkey on job[^\n]*\n\s*Index Cond/)
    expect(plan).not.toContain('Removed by Join Filter')
  })

  it('is the ordered index scan, also on a table that was never analyzed', async () => {
    const kind = kindOf('full')
    const { now } = await store.load([])
    await store.insert(range(1, 20_000).map((n) => newJob(kind, n, now)))
    for (let round = 0; round < 7; round += 1) {
      const plan = await planOfClaim('full', 100)
      expect(plan).toContain('Index Scan using ready_pkey on ready')
      expect(plan).not.toMatch(/Seq Scan on (ready|lease|job)|Bitmap|Sort Key: r/)
      expect(plan).toMatch(/Index Scan using job_pkey on job/)
      expect(plan).toMatch(/Tid Scan on ready/)
    }
  })

  it('does not get dearer with what is not claimable: finished, delayed and parked jobs', async () => {
    const kind = kindOf('quiet')
    const { now } = await store.load([])
    await store.insert(range(100_001, 60).map((n) => newJob(kind, n, now)))
    const alone = buffersOf(await planOfClaim('quiet', 20))
    const others = scaled(2_000, 1_000_000)
    for (let from = 0; from < others; from += 2_000) {
      const ids = range(200_000 + from * 3, 2_000)
      await store.insert(ids.map((n) => delayed(newJob(kind, n, now))))
      const ended = range(200_000 + from * 3 + 2_000, 2_000).map((n) => newJob(kind, n, now))
      await store.insert(ended)
      await store.commit(ended.map(({ job }) => change(job, cancel(job.id), now)))
      const parked = range(200_000 + from * 3 + 4_000, 2_000).map((n) =>
        newJob(kindOf('quiet', { admission: true }), n, now),
      )
      await store.insert(parked)
    }
    const beside = buffersOf(await planOfClaim('quiet', 20))
    expect(alone).toBeGreaterThan(0)
    expect(beside).toBeLessThan(alone * 1.5 + 40)
  })
})

describe('000A:51 the plan of events by type and time', () => {
  it('is a walk of one index of both, which reads nothing of other types or times', async () => {
    // A dead letter a minute among a thousand words of progress and ten retries.
    const at = `(6000000 + n) * 60`
    await client.query(`insert into pawl.past (job, at, from_step, to_step, rev, from_rev, state, plain, events)
      select n, ${at}, 18, case when n % 1000 = 0 then 24 when n % 100 = 0 then 22 else 18 end, 4, 3,
        case when n % 1000 = 0 then 'L' end, false, '[0]' from generate_series(1, 60000) n`)
    const rowsOf = async (types: readonly EventType[]) => {
      plans = []
      const values = [`{${ledBy(types)}}`, 6_010_000 * 60, 6_020_000 * 60, 0, 100]
      const { rows } = await client.query('select * from pawl.led_between($1, $2, $3, $4, $5)', values)
      const plan = plans.filter((each) => each.includes('past')).join('\n')
      expect(plan).toMatch(/Index Scan using past_led on past[^\n]*\n\s*Index Cond: [^\n]*COALESCE\(state[^\n]*at >=/)
      expect(plan).not.toMatch(/Seq Scan on past|Bitmap/)
      return { rows: rows.length, pages: buffersOf(plan), removed: /Rows Removed by Filter: [1-9]/.test(plan) }
    }
    expect(await rowsOf(['dead_lettered'])).toEqual({ rows: 10, pages: expect.any(Number), removed: false })
    expect((await rowsOf(['dead_lettered'])).pages).toBeLessThan(30)
    expect(await rowsOf(['retry_scheduled'])).toMatchObject({ rows: 100, removed: false })
    await client.query('delete from pawl.past where events = $1', ['[0]'])
  })

  it('has a key for wherever a commit with an event of the type may lead', () => {
    expect(ledBy(['dead_lettered'])).toEqual([ledOf('dead_lettered')])
    for (const row of Object.values(MACHINE))
      for (const { events, to } of Object.values(row).flat())
        for (const type of events) expect(ledBy([type]), type).toContain(ledOf(to))
  })
})

describe('a function that forbids plans', () => {
  it('is not compiled either: what is forbidden counts as dear, and dear plans are compiled, for half a second', async () => {
    const { rows } = await client.query<{ name: string }>(`
      select p.proname as name from pg_proc p where p.pronamespace = 'pawl'::regnamespace
        and array_to_string(p.proconfig, ' ') like '%enable_%' and not 'jit=off' = any(p.proconfig)`)
    expect(rows.map(({ name }) => name)).toEqual([])
  })
})

describe('the plan of a settlement', () => {
  const words = { r: 2, v: 3, s: 24, z: 'S', p: 1, e: '[0]' }
  const alike = (ids: readonly number[]) => [{ ...words, a: 1, i: `{${ids}}` }]
  const different = (ids: readonly number[]) => ids.map((id) => ({ ...words, a: 1, i: `{${id}}`, o: `${id}` }))

  /** Of all statements it took, while the tables had been analyzed empty. */
  async function planOfSettle(first: number, items: (ids: readonly number[]) => object[], hinted: boolean) {
    const kind = kindOf('ended')
    const { now } = await store.load([])
    await store.insert(range(first, 300).map((n) => newJob(kind, n, now)))
    const found = await store.claim(grantOf('ended', 300))
    const ids = found.jobs.map(({ before }) => idNumber(before.id) ?? 0)
    const { rows: claims } = await client.query('select id from pawl.claim where jobs @> $1', [[ids[0]]])
    const bundle = hinted ? claims[0].id : undefined
    plans = []
    const values = [JSON.stringify(items(ids).map((item) => ({ ...item, c: bundle }))), `{${ids}}`]
    const shared = `'{3}', '{1}', '{cSS}'`
    if (bundle === undefined) {
      const { rows } = await client.query(`select missed from pawl.settle_leases($1, $2, ${shared})`, values)
      expect(rows).toEqual([{ missed: null }])
    } else {
      const settle = `select ended from pawl.settle_bundles($1, $2, ${shared}, $3)`
      expect((await client.query(settle, [...values, `{${bundle}}`])).rows).toEqual([{ ended: true }])
    }
    return plans.filter((plan) => !plan.includes('Function Scan on settle'))
  }

  beforeAll(async () => {
    for (const table of ['lease', 'past']) await client.query(`delete from pawl.${table}`)
    for (const table of ['lease', 'past', 'claim']) await client.query(`vacuum analyze pawl.${table}`)
  })

  it.each([
    ['alike', 70_000_001, alike],
    ['in many ways', 71_000_001, different],
  ])('looks each lease up, where jobs end %s', async (_, first, items) => {
    // Nobody says which bundle they are in: they are given leases first.
    const all = await planOfSettle(first, items, false)
    const deletions = all.filter((each) => each.includes('delete from lease'))
    expect(deletions.length).toBeGreaterThan(0)
    for (const plan of deletions) {
      expect(plan).toMatch(/Index Scan using lease_pkey on lease[^\n]*\n\s*Index Cond/)
      expect(plan).not.toMatch(/Removed by (Join )?Filter|Seq Scan on lease/)
    }
    const loosened = all.find((each) => each.includes('insert into lease')) ?? ''
    for (const key of ['job_pkey on job', 'kind_pkey on kind', 'past_pkey on past']) {
      expect(loosened).toMatch(new RegExp(`Index (Only )?Scan using ${key}[^\\n]*\\n\\s*Index Cond`))
    }
    expect(loosened).not.toMatch(/Removed by Join Filter|Seq Scan/)
  })

  it.each([
    ['alike', 72_000_001, alike],
    ['in many ways', 73_000_001, different],
  ])('looks no lease up and no job for each job, where a bundle ends %s', async (_, first, items) => {
    const all = await planOfSettle(first, items, true)
    expect(all.join('\n')).not.toMatch(/on lease|Removed by Join Filter|Seq Scan on (past|claim|job)/)
    const insertion = all.find((each) => each.includes('insert into past')) ?? ''
    expect(insertion).toMatch(items === alike ? /HashSetOp Intersect|SetOp Intersect/ : /Hash Join/)
  })
})

describe('the plan of a heartbeat', () => {
  it('looks each lease up, also where the table was analyzed while it was empty', async () => {
    await client.query('delete from pawl.lease')
    await client.query('vacuum analyze pawl.lease')
    const { now } = await store.load([])
    await store.insert(range(75_000_001, 400).map((n) => newJob(kindOf('kept'), n, now)))
    const grant = grantOf('kept', 400)
    const ids = (await store.claim(grant)).jobs.map(({ before }) => idNumber(before.id) ?? 0)
    for (let round = 0; round < 7; round += 1) {
      plans = []
      const items = ids.slice(0, 40).map((i) => ({ i, f: 1, x: grant.nonce, q: `${round}` }))
      const { rows } = await client.query('select answers from pawl.heartbeat($1)', [JSON.stringify(items)])
      expect(rows[0].answers.every(Array.isArray)).toBe(true)
      const plan = plans.find((each) => each.includes('update lease l set rev')) ?? ''
      expect(plan).toMatch(/Update on lease/)
      const walks = [...plan.matchAll(/Index Scan using lease_pkey on lease[^\n]*\n\s*(\S+ \S+)/g)].map(
        ([, next]) => next,
      )
      expect(walks.length).toBeGreaterThan(2)
      expect(new Set(walks)).toEqual(new Set(['Index Cond:']))
    }
  })
})

const cancel = (id: string) => ({ type: 'cancel', mode: 'hard', actor: 'operator', requestId: `cancel ${id}` }) as const

function delayed(item: ReturnType<typeof newJob>): ReturnType<typeof newJob> {
  const runAt = 4_000_000_000_000
  const job = { ...item.job, runAt, readyAt: runAt } as typeof item.job
  const event = { ...item.event, payload: { ...item.event.payload, runAt } } as typeof item.event
  return { ...item, job, event }
}

describe('a lane that is being drained', () => {
  it('is taken up where it was left, for a second at most, and never found empty while it is not', async () => {
    let nowMs = 0
    const clock = { now: () => 0, monotonicMs: () => nowMs }
    const drainer = await openPostgresStore({ url: database.url, clock })
    const { now } = await store.load([])
    const kind = kindOf('drained')
    const claim = async () => (await drainer.claim(grantOf('drained', 50))).jobs.map(({ before }) => before.id)
    await store.insert(range(90_000_001, 120).map((n) => newJob(kind, n, now)))
    expect(await claim()).toEqual(range(90_000_001, 50).map(idText))
    await store.insert([newJob(kind, 90_000_500, now - 5_000)])
    expect(await claim(), 'the older one is not looked for').toEqual(range(90_000_051, 50).map(idText))
    nowMs += 1_000
    expect(await claim(), 'after a second it is').toEqual([90_000_500, ...range(90_000_101, 20)].map(idText))
    await store.insert(range(90_000_600, 50).map((n) => newJob(kind, n, now)))
    expect((await claim()).length).toBe(50)
    await store.insert([newJob(kind, 90_000_700, now - 5_000)])
    expect(await claim(), 'nor is it missed where there is nothing else').toEqual([idText(90_000_700)])
    await drainer.close()
  })
})

describe('numbers', () => {
  it('of jobs reach as far as JavaScript counts', async () => {
    const { now } = await store.load([])
    const last = newJob(kindOf('far'), Number.MAX_SAFE_INTEGER, now)
    expect((await store.insert([last])).items).toEqual([{ status: 'inserted' }])
    const { items } = await store.load([{ id: idText(Number.MAX_SAFE_INTEGER) }])
    expect(items[0]?.job).toEqual(last.job)
  })
})
