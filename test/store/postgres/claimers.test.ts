import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { queueKey, type Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { audit, drain, kindOf, Ledger, newJob, range, seeded } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase
let admin: pg.Client

beforeAll(async () => {
  database = await migratedDatabase()
  const store = await openPostgresStore({ url: database.url, migrate: true })
  await store.close()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
})

afterAll(async () => {
  await admin.end()
  await database.drop()
})

/** Kills one of pawl's connections after another, in the middle of whatever it does. */
async function killConnections(
  signal: AbortSignal,
  random: () => number,
  killed: (pid: number) => void,
): Promise<void> {
  while (!signal.aborted) {
    const { rows } = await admin.query<{ pid: number }>(
      `select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
       and backend_type = 'client backend' and state = 'active'`,
    )
    const victim = rows[Math.floor(random() * rows.length)]
    if (victim !== undefined) {
      await admin.query('select pg_terminate_backend($1)', [victim.pid])
      killed(victim.pid)
    }
    await pause(25)
  }
}

describe('many claimers, mixed batches, connections killed in the middle of a call', () => {
  for (const [claimers, stores, from] of [
    [64, 4, 1],
    [256, 8, 100_001],
  ] as const) {
    it(`${claimers} claimers: no job is given twice, none is lost, each has exactly its events`, async () => {
      const jobs = scaled(1_500, 20_000)
      const random = seeded(claimers)
      const queue = `q${claimers}`
      const opened: Store[] = []
      for (let n = 0; n < stores; n += 1) opened.push(await openPostgresStore({ url: database.url }))
      const [first] = opened as [Store, ...Store[]]
      const { now } = await first.load([])
      const numbers = range(from, jobs)
      const stop = new AbortController()
      const killed: number[] = []
      const killing = killConnections(stop.signal, random, (pid) => killed.push(pid))
      const kind = kindOf(queue)
      const ledger = new Ledger()
      const insert = (some: readonly number[]) =>
        Promise.all(
          range(0, Math.ceil(some.length / 100)).map((batch) => {
            const items = some.slice(batch * 100, batch * 100 + 100).map((n) => newJob(kind, n, now))
            return (opened[batch % stores] as Store).insert(items)
          }),
        )
      const enqueuing = insert(numbers.slice(0, jobs / 2))
      const draining = range(0, claimers).map((n) =>
        drain(opened[n % stores] as Store, queue, ledger, jobs, () => 1 + Math.floor(random() * 40)),
      )
      // However fast the machine: the second half comes once the claimers have lost some connections.
      await eventually('connections are killed', () => killed.length > 3)
      const answers = [...(await enqueuing), ...(await insert(numbers.slice(jobs / 2)))]
      for (const { items } of answers) for (const item of items) expect(item.status).toBe('inserted')
      await Promise.all(draining)
      stop.abort()
      await killing
      expect(ledger.owners.size).toBe(jobs)
      await audit(first, numbers)
      for (const store of opened) await store.close()
    })
  }
})

describe('a claim that gets less than it asked for', () => {
  it('says so where others hold what is due in its lanes, and nowhere else', async () => {
    const store = await openPostgresStore({ url: database.url })
    const { now } = await store.load([])
    const numbers = range(5_000_001, 3)
    await store.insert(numbers.map((n) => newJob(kindOf('met'), n, now)))
    await store.insert([newJob(kindOf('met paused'), 5_000_101, now)])
    await store.settings([
      { op: 'put', collection: 'queue', key: queueKey('t', 'met paused'), text: '{"paused":true}', rev: undefined },
    ])
    let calls = 0
    const claim = async (limit: number) => {
      calls += 1
      const lanes = ['met', 'met paused'].map((queue) => ({ tenant: 't', queue, priority: 5 }))
      const words = { workerId: 'w', actor: 'worker:w', requestId: `met/${calls}`, maxInputBytes: 0 }
      const answer = await store.claim({ ...words, nonce: String(calls).padStart(16, '0'), lanes, limit })
      return { got: answer.jobs.length, contended: answer.contended }
    }
    await admin.query('begin')
    await admin.query('select from pawl.ready where id = $1 for update', [numbers[0]])
    expect(await claim(1)).toEqual({ got: 1, contended: false })
    expect(await claim(2)).toEqual({ got: 1, contended: true })
    expect(await claim(2)).toEqual({ got: 0, contended: true })
    await admin.query('rollback')
    expect(await claim(2)).toEqual({ got: 1, contended: false })
    expect(await claim(2)).toEqual({ got: 0, contended: false })
    await store.close()
  })
})
