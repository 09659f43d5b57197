import pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { openPostgresStore, type PostgresStore } from '../../../src/store/postgres/postgres.ts'
import type { Hint } from '../../../src/store/store.ts'
import type { Log, LogFields } from '../../../src/system/log.ts'
import { eventually } from '../../support/eventually.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import { type Pooler, startPgbouncer } from '../../support/pgbouncer.ts'
import { describePooled } from '../../support/pooled.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { startProxy, type TcpProxy } from '../../support/proxy.ts'
import { scaled } from '../../support/scale.ts'
import { claimedBy, completion, grantOf, kindOf, newJob, range } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

/** Short, so that nobody has to wait for what is proved here. */
const ANSWER_WITHIN_MS = 1_000

let database: FreshDatabase
let admin: pg.Client
let proxy: TcpProxy
let store: PostgresStore
/** What the store's log was told. */
let told: { readonly level: string; readonly message: string; readonly fields: LogFields | undefined }[]
let number = 1

const log: Log = {
  info: (message, fields) => told.push({ level: 'info', message, fields }),
  warn: (message, fields) => told.push({ level: 'warn', message, fields }),
  error: (message, fields) => told.push({ level: 'error', message, fields }),
}

beforeAll(async () => {
  database = await migratedDatabase()
  await (await openPostgresStore({ url: database.url, migrate: true })).close()
  admin = new pg.Client({ connectionString: database.url })
  await admin.connect()
})

afterAll(async () => {
  await admin.end()
  await database.drop()
})

beforeEach(async () => {
  told = []
  proxy = await startProxy(database.url)
  store = await openPostgresStore({ url: proxy.url, log, answerWithinMs: ANSWER_WITHIN_MS })
})

afterEach(async () => {
  await store.close()
  await proxy.stop()
})

/** Something on every connection: new jobs, keyed ones, a claim, an end, a heartbeat, a search. */
async function everything(queue: string): Promise<void> {
  const { now } = await store.load([])
  const fresh = range(number, 4).map((n) => newJob(kindOf(queue), n, now))
  number += 5
  const key = { purpose: 'dedupe', key: `${queue} ${number}`, until: undefined } as const
  const keyed = { ...newJob(kindOf(queue), number - 1, now), keys: [key] }
  const inserted = await Promise.all([store.insert(fresh), store.insert([keyed])])
  expect(inserted.flatMap(({ items }) => items.map(({ status }) => status))).toEqual(range(0, 5).map(() => 'inserted'))
  const grant = grantOf(queue, 5)
  const { jobs } = await store.claim(grant)
  expect(jobs.length).toBe(5)
  const owned = jobs.map((job) => claimedBy(job, grant))
  const [first] = owned
  const beat = { id: first?.id ?? '', fence: first?.lease?.fence ?? '', requestId: `beat ${number}` }
  // Busy: a try that was given up for lost has the row just now. Whoever hears that asks again.
  const beaten = await eventually('the row to be free', async () => {
    const [item] = (await store.heartbeat([beat])).items
    return item?.status !== 'busy' && item
  })
  expect(beaten.status).toBe('renewed')
  const { verdicts } = await store.commit(owned.slice(1).map((job) => completion(job, now)))
  expect(verdicts.map(({ status }) => status)).toEqual(range(0, 4).map(() => 'applied'))
  const { jobs: found } = await store.find({ queues: [queue], order: 'oldest', limit: 10 })
  expect(found.length).toBe(5)
}

const lines = (level: string) => told.filter((line) => line.level === level).map(({ message }) => message)

describe('a way that swallows what is sent', () => {
  it('is left by all connections at once; whatever was asked is answered on new ones', async () => {
    await everything('before')
    const { accepted, open } = proxy
    proxy.swallow()
    // One call finds out. The others' connections are as dead, and nobody waits for them to be found out one by one.
    await store.load([])
    await eventually('all of the old ones to be given up', () => proxy.open <= proxy.accepted - accepted)
    // More than a store keeps when it is idle (3): it was one call that found out for several connections.
    expect(open).toBeGreaterThan(3)
    await everything('after')
    expect(lines('warn')).toEqual(['Postgres is away: what was asked is repeated until it is back'])
    expect(lines('info')).toEqual(['Postgres is back'])
  })

  it('ends what was left at the server, with its locks', async () => {
    await store.load([])
    const { rows } = await admin.query<{ pid: number }>(
      `select pid from pg_stat_activity where application_name = 'pawl looks' and datname = current_database()`,
    )
    proxy.swallow()
    await store.load([])
    await eventually('the backend to end', async () => {
      const left = await admin.query('select from pg_stat_activity where pid = $1', [rows[0]?.pid])
      return left.rows.length === 0
    })
  })

  it('does not keep whoever listens deaf', async () => {
    const heard: Hint[] = []
    await using _subscription = await store.subscribe((hint) => heard.push(hint))
    proxy.swallow()
    await eventually('it to listen again', () => heard.some(({ about }) => about === 'anything'))
    const other = await openPostgresStore({ url: database.url })
    const { now } = await other.load([])
    await other.insert([newJob(kindOf('heard'), number++, now)])
    await eventually('a hint', () => heard.some((hint) => hint.about === 'queue' && hint.queue === 'heard'))
    await other.close()
  })

  it('does not keep a transaction from beginning, and ends one that was under way', async () => {
    const one = await store.transaction((tx) => tx.query('select 1 as n', []))
    expect(one.rows).toEqual([{ n: 1 }])
    proxy.swallow()
    const two = await store.transaction((tx) => tx.query('select 2 as n', []))
    expect(two.rows).toEqual([{ n: 2 }])
    const lost = store.transaction(async (tx) => {
      await tx.query('create table public.never (n int)', [])
      proxy.swallow()
      return tx.query('select 3 as n', [])
    })
    await expect(lost).rejects.toThrow()
    expect((await admin.query(`select to_regclass('public.never') as found`)).rows).toEqual([{ found: null }])
  })

  it('lets nobody in: who asks is told so when the time is over, and who closes is not kept', async () => {
    await store.close()
    store = await openPostgresStore({ url: proxy.url, log, answerWithinMs: ANSWER_WITHIN_MS, retryForMs: 1_000 })
    await store.load([])
    proxy.swallow()
    proxy.fresh('swallow')
    await expect(store.load([])).rejects.toMatchObject({ name: 'PostgresUnavailable', code: 'UNAVAILABLE' })
    const asked = store.load([]).catch((error: unknown) => error)
    await store.close()
    expect(await asked).toBeInstanceOf(Error)
    await eventually('nothing to be left', () => proxy.open === 0)
  })
})

/** A statement that waits for somebody else's lock takes its time, and the server is at it. */
async function isWaitedFor(queue: string): Promise<void> {
  await everything(queue)
  await admin.query('begin')
  // Counting waits for whoever is counting.
  await admin.query('select pawl.place_entries(1000, false)')
  const { accepted } = proxy
  const counted = store.events({ by: 'tally' })
  await eventually('it to be asked after, more than once', () => proxy.accepted >= accepted + 3)
  await admin.query('commit')
  expect((await counted).tally.length).toBeGreaterThan(0)
  expect(lines('warn')).toEqual([])
}

describe('a server that takes its time', () => {
  it('is waited for as long as it is at it', () => isWaitedFor('slow'))
})

describePooled('through a pooler', () => {
  let pooler: Pooler

  beforeEach(async () => {
    await store.close()
    await proxy.stop()
    pooler = await startPgbouncer(database.url)
    proxy = await startProxy(pooler.url)
    store = await openPostgresStore({ url: proxy.url, log, answerWithinMs: ANSWER_WITHIN_MS })
  })

  afterEach(() => pooler.stop())

  it('a way that swallows is left as well, though nobody knows which backend was at it', async () => {
    await everything('pooled')
    const { accepted } = proxy
    proxy.swallow()
    await store.load([])
    await eventually('all of the old ones to be given up', () => proxy.open <= proxy.accepted - accepted)
    await everything('pooled again')
  })

  it('a server that takes its time is waited for as well', () => isWaitedFor('pooled and slow'))
})

describe('connections that are reset', () => {
  it('are opened again, and what was asked is repeated', async () => {
    await everything('whole')
    proxy.reset()
    await everything('again')
  })
})

describe('a server that knows less than the one before', () => {
  it('is noticed: what was asked of the other is not said to it, and numbers are learnt anew', async () => {
    const { now } = await store.load([])
    await store.insert([newJob(kindOf('kept'), number++, now)])
    // As if a kind had been lost with the primary, and its number been given to another.
    await admin.query(`update pawl.kind set hash = 'another', type = 'another'
      where queue = (select id from pawl.queue where name = 'kept')`)
    proxy.reset()
    const next = newJob(kindOf('kept'), number++, now)
    await expect(store.insert([next])).rejects.toMatchObject({ name: 'PostgresRewound', code: 'UNAVAILABLE' })
    expect((await store.insert([next])).items).toEqual([{ status: 'inserted' }])
    const { items } = await store.load([{ id: next.job.id }])
    expect(items[0]?.job.spec.kind).toMatchObject({ type: 'flow.job', queue: 'kept' })
    expect(lines('error')).toEqual(['the database has lost what it had acknowledged'])
  })
})

describe('an address where nobody answers', () => {
  it('is told of with its name and without the password, and not waited for longer than was said', async () => {
    proxy.fresh('swallow')
    const url = new URL(proxy.url)
    url.password = 'very secret'
    url.searchParams.set('connect_timeout', '0.3')
    const error: Error = await openPostgresStore({ url: url.href }).then(
      () => new Error('it was opened'),
      (reason: Error) => reason,
    )
    expect(error.name).toBe('PostgresUnavailable')
    expect(error.message).toContain(`127.0.0.1:${url.port} (no answer within 0.3 s)`)
    expect(error.message).toContain('See that it runs there')
    expect(JSON.stringify([error.message, error.stack, String(error.cause)])).not.toContain('secret')
  })

  it('is told of at once where it refuses', async () => {
    await using gone = await startProxy(database.url)
    await gone.stop()
    const { port } = new URL(gone.url)
    await expect(openPostgresStore({ url: gone.url })).rejects.toThrow(
      new RegExp(`does not answer at 127\\.0\\.0\\.1:${port} \\(.*ECONNREFUSED`),
    )
  })
})
