import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { connectWithPg } from '../../../src/store/postgres/connection/client.ts'
import { openPostgresStore, type PostgresOptions } from '../../../src/store/postgres/postgres.ts'
import type { Hint, Store, Transaction } from '../../../src/store/store.ts'
import { realClock } from '../../../src/system/clock.ts'
import { realTimers } from '../../../src/system/timers.ts'
import { eventually } from '../../support/eventually.ts'
import { migratedDatabase } from '../../support/migrated-postgres.ts'
import { startPgbouncer } from '../../support/pgbouncer.ts'
import { itPooled } from '../../support/pooled.ts'
import type { FreshDatabase } from '../../support/postgres.ts'
import { scaled } from '../../support/scale.ts'
import { grantOf, kindOf, limitedJob, newJob, range } from './flow.ts'

vi.setConfig({ testTimeout: scaled(120_000, 3_600_000) })

let database: FreshDatabase
let client: pg.Client
let listener: Store
let subscription: AsyncDisposable
/** Queues that another process was told of. */
const heard = new Set<string>()
let next = 1

beforeAll(async () => {
  database = await migratedDatabase()
  listener = await openPostgresStore({ url: database.url, migrate: true })
  subscription = await listener.subscribe((hint: Hint) => {
    if (hint.about === 'queue') heard.add(hint.queue)
  })
  client = new pg.Client({ connectionString: database.url })
  await client.connect()
})

afterAll(async () => {
  await client.end()
  await subscription[Symbol.asyncDispose]()
  await listener.close()
  await database.drop()
})

/** As a client of another library has it: nobody tells when the transaction is over. */
const untold = (tx: pg.Client): Transaction => ({ query: (text, values) => tx.query(text, values) })

/**
 * A process that enqueues: how often it has asked what became of transactions, and the pauses it has made. `aheadMs`: how much older it
 * believes itself to be. `never`: pauses that are not over in this test.
 */
async function producing({
  never = [],
  ...options
}: Partial<PostgresOptions> & { readonly never?: readonly number[] } = {}) {
  const seen = { asked: 0, pauses: [] as number[], aheadMs: 0 }
  const store = await openPostgresStore({
    url: database.url,
    connect(config) {
      const theirs = connectWithPg(config)
      return {
        ...theirs,
        query(question) {
          if (question.text.includes('pg_xact_status')) seen.asked += 1
          return theirs.query(question)
        },
      }
    },
    timers: {
      ...realTimers,
      after(ms, fn) {
        if (ms < 5_000) seen.pauses.push(ms)
        return never.includes(ms) ? { [Symbol.dispose]: () => {} } : realTimers.after(ms, fn)
      },
    },
    clock: { ...realClock, monotonicMs: () => realClock.monotonicMs() + seen.aheadMs },
    ...options,
  })
  const enqueue = (queue: string, tx: Transaction = client, together = false) =>
    store.insert([newJob(kindOf(queue), next++, Date.now())], tx, together)
  const askedFor = (times: number) => eventually(`it to ask ${times} times`, () => seen.asked >= times)
  return { store, seen, enqueue, askedFor, [Symbol.asyncDispose]: () => store.close() }
}

const hears = (queue: string) => eventually(`a hint about ${queue}`, () => heard.has(queue))

describe('a job of a transaction of the caller’s', () => {
  it('is told of when that is committed, however long it took, and not before', async () => {
    await using producer = await producing()
    for (const [together, tx] of [
      [false, client],
      [true, client],
      [false, untold(client)],
    ] as const) {
      const queue = `long ${together} ${tx === client}`
      const from = producer.seen.asked
      await client.query('begin')
      await producer.enqueue(queue, tx, together)
      // More than the time in which it was told of once, whatever had become of it.
      await producer.askedFor(from + (tx === client ? 2 : 8))
      expect(heard).not.toContain(queue)
      await client.query('commit')
      await hears(queue)
    }
  })

  it('is asked after in pauses that grow to 25 ms, and no further for as long as a transaction may well take', async () => {
    await using producer = await producing()
    await client.query('begin')
    await producer.enqueue('growing', untold(client))
    await producer.askedFor(12)
    const expected = range(0, 12).map((n) => Math.min(25, 5 * 1.25 ** n))
    expect(producer.seen.pauses.filter((ms) => expected.includes(ms)).slice(0, 12)).toEqual(expected)
    // It has been open for 100 seconds by then.
    producer.seen.aheadMs = 100_000
    await eventually('longer pauses', () => producer.seen.pauses.includes(25 * 1.25 ** 2))
    await client.query('commit')
    await hears('growing')
    expect(producer.seen.pauses.filter((ms) => ms > 110 && ms < 1_000)).toEqual([])
  })

  it('is asked after as soon as the client of a transaction says that it is over', async () => {
    await using producer = await producing({ never: [100] })
    for (const queue of ['over', 'over again']) {
      const { asked } = producer.seen
      await client.query('begin')
      await producer.enqueue(queue)
      await client.query('savepoint within')
      await expect(client.query('select nothing')).rejects.toThrow('nothing')
      await client.query('rollback to within')
      expect([heard.has(queue), producer.seen.asked]).toEqual([false, asked])
      await client.query('commit')
      await hears(queue)
    }
    expect(client.listenerCount('drain')).toBe(0)
  })

  it('is claimed once it is committed, also where a limit let it in first, and nobody looks at what is due', async () => {
    await using producer = await producing()
    for (const tx of [client, untold(client)]) {
      const queue = `limited ${tx === client}`
      const waiting = listener.claim({ ...grantOf(queue, 1), waitMs: 60_000, pollMs: 60_000 })
      await client.query('begin')
      const job = limitedJob(kindOf(queue), next++, Date.now(), queue, 1)
      await producer.store.insert([job], tx)
      await client.query('commit')
      expect((await waiting).jobs.map(({ before }) => before.id)).toEqual([job.job.id])
    }
  })
})

describe('what was enqueued in a transaction of the caller’s', () => {
  it('is not told of when it is rolled back, whole or in part', async () => {
    await using producer = await producing()
    await client.query('begin')
    await producer.enqueue('rolled back')
    await client.query('rollback')
    await producer.askedFor(1)
    await client.query('begin')
    await producer.enqueue('kept')
    await client.query('savepoint within')
    await producer.enqueue('kept')
    await client.query('rollback to within')
    await client.query('commit')
    await hears('kept')
    expect(heard).not.toContain('rolled back')
  })

  it('is told of for each of many transactions, whichever ends first', async () => {
    await using producer = await producing()
    const clients = await Promise.all(
      range(0, 5).map(async (n) => {
        const one = new pg.Client({ connectionString: database.url })
        await one.connect()
        await one.query('begin')
        await producer.enqueue(`many ${n}`, one)
        return one
      }),
    )
    for (const n of [3, 0, 4, 1, 2]) {
      await clients[n]?.query('commit')
      await hears(`many ${n}`)
      await clients[n]?.end()
    }
  })

  it('is told of by a process that closes when it was committed; one that is open does not keep it', async () => {
    const producer = await producing()
    const other = new pg.Client({ connectionString: database.url })
    await other.connect()
    await other.query('begin')
    await producer.enqueue('left open', other)
    await client.query('begin')
    await producer.enqueue('last words')
    await client.query('commit')
    await producer.store.close()
    await hears('last words')
    const { asked } = producer.seen
    await other.query('commit')
    await other.end()
    expect([heard.has('left open'), producer.seen.asked]).toEqual([false, asked])
  })

  it('is told of although the transaction that it was asked of is none the server knows', async () => {
    await using producer = await producing()
    const strange = {
      async query(text: string, values: unknown[]) {
        const { rows } = await client.query(text, values)
        // As if a standby had taken the server's place which is far behind.
        return { rows: rows.map((row: object) => ('xact' in row ? { ...row, xact: '4000000000' } : row)) }
      },
    }
    await client.query('begin')
    await producer.store.insert([newJob(kindOf('strange'), next++, Date.now())], strange)
    await client.query('commit')
    await hears('strange')
  })

  itPooled('is told of through a transaction pooler as well, in the process itself', async () => {
    const pooler = await startPgbouncer(database.url, { size: 2 })
    const pooled = new pg.Client({ connectionString: pooler.url })
    await pooled.connect()
    {
      await using producer = await producing({ url: pooler.url })
      const own = new Set<string>()
      await using _ = await producer.store.subscribe((hint) => {
        if (hint.about === 'queue') own.add(hint.queue)
      })
      await pooled.query('begin')
      await producer.enqueue('pooled', pooled)
      await producer.askedFor(3)
      expect(own).not.toContain('pooled')
      await pooled.query('commit')
      await eventually('a hint', () => own.has('pooled'))
    }
    await pooled.end()
    await pooler.stop()
  })
})
