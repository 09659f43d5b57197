/** Postgres that an application already has a way to: what `pg` takes to connect, and a pool of its own. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { defineJob, defineSpec, type OpenOptions, open } from '../../src/index.ts'
import { eventually } from '../support/eventually.ts'
import { freshDatabase, startPostgres } from '../support/postgres.ts'

const QUIET: OpenOptions = { migrate: true, ticker: false, retention: false, log: 'silent' }
const double = defineJob({ type: 'double', run: (n: number) => ({ doubled: n * 2 }) })
const mail = defineSpec({ type: 'mail' })

/** As those say it who have no URL. */
function partsOf(url: string) {
  const { hostname, port, username, password, pathname } = new URL(url)
  return { host: hostname, port: Number(port), user: username, password, database: pathname.slice(1) }
}

async function openFixture(max = 10) {
  const database = await freshDatabase()
  const pool = new pg.Pool({ ...partsOf(database.url), max })
  pool.on('error', () => {})
  return {
    pool,
    url: database.url,
    async [Symbol.asyncDispose]() {
      await pool.end()
      await database.drop()
    },
  }
}

describe('what pg takes to connect', () => {
  it('opens the store, in this thread and in the one that keeps leases', async () => {
    await using database = await freshDatabase()
    await using pawl = await open({ connection: partsOf(database.url) }, QUIET)
    const worker = pawl.work([double])
    await eventually('the thread', () => worker.keeper === 'thread')
    expect(await (await pawl.enqueue(double, 21)).result({ timeout: '20s' })).toEqual({ doubled: 42 })
  })

  it('may have a password that is asked for each time; leases are then kept here', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-password-'))
    chmodSync(folder, 0o755)
    const rules = join(folder, 'hba.conf')
    writeFileSync(rules, 'host all asked all scram-sha-256\nhost all all all trust\n')
    await using server = await startPostgres({ settings: { hba_file: rules } })
    const admin = new pg.Client({ connectionString: server.url })
    await admin.connect()
    await admin.query(`create role asked login superuser password 'of this minute'`)
    await admin.end()
    let asked = 0
    const password = async () => {
      asked += 1
      return 'of this minute'
    }
    const connection: pg.ClientConfig = { ...partsOf(server.url), user: 'asked', password }
    await using pawl = await open({ connection }, QUIET)
    const worker = pawl.work([double])
    expect(await (await pawl.enqueue(double, 21)).result({ timeout: '20s' })).toEqual({ doubled: 42 })
    expect(worker.keeper).toBe('main')
    expect(asked).toBeGreaterThan(1)
    rmSync(folder, { recursive: true })
  })

  it('may have certificates', async () => {
    await using database = await freshDatabase()
    const connection = { ...partsOf(database.url), ssl: { rejectUnauthorized: false } }
    await expect(open({ connection }, QUIET)).rejects.toThrow('does not support SSL')
  })

  it('is told apart from what it is not', async () => {
    await using fixture = await openFixture()
    await expect(open(fixture.pool as never)).rejects.toThrow('{ pool } with a pg.Pool is expected')
  })
})

describe('a pool of the application', () => {
  it('is borrowed from, statement by statement, and left as it was', async () => {
    await using fixture = await openFixture()
    const { pool } = fixture
    const pawl = await open({ pool }, QUIET)
    const pay = defineJob({
      type: 'pay',
      run: (n: number, ctx) => ctx.tx(async (tx) => (await tx.query('select $1::int + 1 as n', [n])).rows),
    })
    const worker = pawl.work([double, pay])
    const jobs = await pawl.enqueueMany(double, [...Array(200).keys()])
    const results = await Promise.all(jobs.map((job) => job.result({ timeout: '30s' })))
    expect(results.at(-1)).toEqual({ doubled: 398 })
    expect(await (await pawl.enqueue(pay, 1)).result({ timeout: '20s' })).toEqual([{ n: 2 }])
    expect(worker.keeper).toBe('main')
    expect(pool.totalCount).toBeLessThanOrEqual(10)
    expect((await pawl.verify()).discrepancies).toEqual([])
    await pawl.close()
    expect(pool.totalCount).toBe(pool.idleCount)
    const client = await pool.connect()
    // Those of the pool itself and of the driver.
    expect(client.listenerCount('error')).toBeLessThanOrEqual(1)
    expect((await client.query('select from pg_listening_channels()')).rows).toEqual([])
    client.release()
  })

  it('whose clients are all in transactions that enqueue lets them end', async () => {
    await using fixture = await openFixture(4)
    const { pool } = fixture
    await using pawl = await open({ pool }, QUIET)
    await using _ = pawl.work([double])
    await (await pawl.enqueue(double, 1)).result({ timeout: '20s' })
    const own = await Promise.all([pool.connect(), pool.connect()])
    for (const [n, tx] of own.entries()) {
      await tx.query('begin')
      // A type and a queue that nobody has met yet has to be looked up first.
      await pawl.enqueue(defineSpec({ type: `new.${n}`, queue: `new.${n}` }), n, { tx, timeout: '10s' })
    }
    for (const tx of own) {
      await tx.query('commit')
      tx.release()
    }
    expect((await pawl.find()).jobs.length).toBe(3)
  })

  it('that has no client left is named by whoever waited for one', async () => {
    await using fixture = await openFixture(3)
    const { pool } = fixture
    await using pawl = await open({ pool }, { ...QUIET, retryFor: '500ms', answerWithin: '100ms' })
    await pawl.enqueue(mail, 1)
    const own = await Promise.all([pool.connect(), pool.connect()])
    const refused = await pawl.enqueue(mail, 2).catch((error: unknown) => error)
    const waiting = pawl.enqueue(mail, 3)
    for (const client of own) client.release()
    await waiting
    expect(refused).toMatchObject({ name: 'PoolUsedUp', code: 'UNAVAILABLE' })
    expect((refused as Error).message).toContain('the pool it was given, 3 of whose 3 clients are in use')
    expect((await pawl.find()).jobs.length).toBe(2)
  })

  it('that its owner ends too early is named by whoever asks for a client, and holds up nobody who closes pawl', async () => {
    await using database = await freshDatabase()
    const pool = new pg.Pool({ ...partsOf(database.url), max: 5 })
    const pawl = await open({ pool }, QUIET)
    const started = Promise.withResolvers<void>()
    const stuck = defineJob({ type: 'stuck', run: () => new Promise(() => started.resolve()) })
    pawl.work([stuck], { drain: 0 })
    await pawl.enqueue(stuck)
    await started.promise
    const ended = pool.end()
    for (const ask of [() => pawl.enqueue(mail, 1), () => pawl.find()]) {
      await expect(ask()).rejects.toMatchObject({ name: 'PoolEnded', code: 'UNAVAILABLE' })
    }
    await pawl.close()
    await ended
  })

  it('is hinted to: who waits in another process is told at once', async () => {
    await using fixture = await openFixture()
    await using pawl = await open({ pool: fixture.pool }, QUIET)
    await using other = await open(fixture.url, QUIET)
    await using _ = other.work([double])
    // Longer than the test may take: only a hint comes sooner.
    const listening = pawl.work([defineJob({ type: 'other', queue: 'other', run: () => 'heard' })], { poll: '300s' })
    await eventually('it to listen', async () => {
      const { rows } = await fixture.pool.query(
        `select from pg_stat_activity where query ilike 'listen %' or query = 'select'`,
      )
      return rows.length > 0
    })
    const job = await other.enqueue(defineSpec({ type: 'other', queue: 'other' }), 1)
    expect(await job.result({ timeout: '30s' })).toBe('heard')
    await listening.stop()
  })

  it('goes on where the server ends its clients', async () => {
    await using fixture = await openFixture()
    const { pool } = fixture
    await using pawl = await open({ pool }, QUIET)
    await using _ = pawl.work([double])
    await (await pawl.enqueue(double, 1)).result({ timeout: '20s' })
    const admin = new pg.Client({ connectionString: fixture.url })
    await admin.connect()
    for (let n = 0; n < 3; n += 1) {
      await admin.query(
        'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
      )
      expect(await (await pawl.enqueue(double, n)).result({ timeout: '20s' })).toEqual({ doubled: 2 * n })
    }
    await admin.end()
  })

  it('that is too small to share is refused', async () => {
    await using fixture = await openFixture(2)
    await expect(open({ pool: fixture.pool }, QUIET)).rejects.toThrow('a pool of 2 is too small')
  })
})
