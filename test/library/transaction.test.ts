import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { defineSpec, Invalid, type Transaction } from '../../src/index.ts'
import { openAt, PLACES } from '../engine/opened.ts'

const mail = defineSpec({ type: 'mail' })
const nothing = () => {}

async function openFixture() {
  const place = await PLACES.postgres()
  const pawl = await openAt(place)
  const pool = new pg.Pool({ connectionString: place.url, max: 2 })
  const client = await pool.connect()
  return {
    pawl,
    pool,
    client,
    count: async () => (await pawl.find()).jobs.length,
    async [Symbol.asyncDispose]() {
      client.release()
      await pool.end()
      await pawl.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

/** A wrapper as users write them, that tells how often it was asked. */
function wrapped(client: pg.PoolClient): Transaction & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async query(text, values) {
      asked.push(text)
      return client.query(text, values)
    },
  }
}

describe('a transaction that a caller brings', () => {
  it('is refused where it is a pool, which would keep the job when the caller rolls back', async () => {
    await using fixture = await openFixture()
    const { pawl, pool, client } = fixture
    await client.query('begin')
    const refused = await pawl.enqueue(mail, 1, { tx: pool }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Invalid)
    expect((refused as Invalid).message).toMatch(/tx: this is a pool, and a pool is no transaction/)
    await expect(pawl.enqueueMany(mail, [1, 2], { tx: pool })).rejects.toBeInstanceOf(Invalid)
    await client.query('rollback')
    expect(await fixture.count()).toBe(0)
  })

  it('is refused where nobody has begun one: a client, a wrapper around it, a wrapper around the pool', async () => {
    await using fixture = await openFixture()
    const { pawl, pool, client } = fixture
    const viaPool: Transaction = { query: (text, values) => pool.query(text, values) }
    for (const tx of [client, wrapped(client), viaPool]) {
      const refused = pawl.enqueue(mail, 1, { tx })
      await expect(refused).rejects.toMatchObject({ name: 'NoTransaction', code: 'NO_TRANSACTION' })
      await expect(refused).rejects.toThrow('no transaction is open on the tx')
      await expect(pawl.enqueueMany(mail, [1, 2], { tx })).rejects.toMatchObject({ code: 'NO_TRANSACTION' })
      await expect(pawl.enqueueMany(mail, [1, 2], { tx, atomic: true })).rejects.toMatchObject({
        code: 'NO_TRANSACTION',
      })
    }
    expect(await fixture.count()).toBe(0)
  })

  it('is looked at each time where its client knows, at no cost: also the second one of the same client', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    const asked: string[] = []
    const query = client.query.bind(client)
    const watched: Transaction = Object.create(client, {
      query: {
        value(text: string, values: unknown[]) {
          asked.push(text)
          return query(text, values)
        },
      },
    })
    await client.query('begin')
    for (let n = 0; n < 3; n += 1) await pawl.enqueue(mail, n, { tx: watched })
    await client.query('commit')
    expect([await fixture.count(), asked.length]).toEqual([3, 3])
    await expect(pawl.enqueue(mail, 4, { tx: watched })).rejects.toMatchObject({ code: 'NO_TRANSACTION' })
    expect(await fixture.count()).toBe(3)
  })

  it('is asked about once per object elsewhere: one statement more for the first job, none for the others', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    await client.query('begin')
    const tx = wrapped(client)
    for (let n = 0; n < 3; n += 1) await pawl.enqueue(mail, n, { tx })
    await client.query('rollback')
    expect(tx.asked).toHaveLength(4)
    expect(await fixture.count()).toBe(0)
  })

  it('may be on its way: a begin that nobody has waited for is one', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    const begun = client.query('begin')
    const job = pawl.enqueue(mail, 1, { tx: client })
    await Promise.all([begun, job])
    await client.query('rollback')
    expect(await fixture.count()).toBe(0)
  })

  it('is left as it was by jobs that come together and are refused', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    await pawl.enqueue(mail, 'other', { id: 'taken' })
    await client.query('begin')
    const each = (_: unknown, i: number) => (i === 1 ? { id: 'taken' } : {})
    const outcomes = await pawl.enqueueEach(mail, [1, 2, 3], { tx: client, atomic: true, each })
    expect(outcomes.map(({ ok }) => ok)).toEqual([false, false, false])
    await pawl.enqueue(mail, 4, { tx: client })
    await client.query('commit')
    expect(await fixture.count()).toBe(2)
  })

  it('is refused where its answers have no rows, before anything is written', async () => {
    await using fixture = await openFixture()
    const { pawl, client } = fixture
    await client.query('begin')
    const bare = { query: async (text: string, values: unknown[]) => (await client.query(text, values)).rows as never }
    await expect(pawl.enqueue(mail, 1, { tx: bare })).rejects.toThrow('must resolve to { rows }')
    await client.query('commit')
    expect(await fixture.count()).toBe(0)
  })

  it('cannot be joined by a store that has none', async () => {
    for (const name of ['memory', 'sqlite'] as const) {
      await using place = await PLACES[name]()
      await using pawl = await openAt(place)
      const tx = { query: async () => ({ rows: [] }) }
      await expect(pawl.enqueue(mail, 1, { tx })).rejects.toThrow('cannot take part in a transaction of yours')
    }
  })
})

/** By their shapes, since what is handed over is whatever the application has. */
const FOREIGN: readonly (readonly [library: string, tx: unknown, rule: string])[] = [
  [
    'knex',
    Object.assign(nothing.bind(undefined), { raw: nothing, isTransaction: true, commit: nothing }),
    'fromKnex(tx)',
  ],
  ['kysely', { selectFrom: nothing, executeQuery: nothing, isTransaction: true }, 'fromKysely(tx)'],
  [
    'postgres.js',
    Object.assign(nothing.bind(undefined), { unsafe: nothing, savepoint: nothing }),
    'fromPostgresJs(tx)',
  ],
  ['drizzle', { execute: nothing, select: nothing, insert: nothing, session: {}, query: {} }, 'fromDrizzle(tx, sql)'],
  ['Prisma', { $queryRawUnsafe: nothing, $executeRawUnsafe: nothing }, 'fromPrisma(tx)'],
  ['TypeORM', { query: nothing, queryRunner: {}, save: nothing }, 'manager.query(text, values)'],
  ['a pool', { query: nothing, connect: nothing, totalCount: 0, idleCount: 0 }, 'pool.connect()'],
  ['nothing of the kind', {}, 'must have query(text, values)'],
  ['null', null, 'must have query(text, values)'],
  ['text', 'begin', 'must have query(text, values)'],
]

describe('a transaction of another library, handed over as it is', () => {
  it.each(FOREIGN)('%s: the refusal says what to hand over', async (_, tx, rule) => {
    await using pawl = await openAt(await PLACES.memory())
    const refused = await pawl.enqueue(mail, 1, { tx: tx as never }).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(Invalid)
    expect((refused as Invalid).message).toContain(rule)
    expect((refused as Invalid).violations[0]?.field).toBe('tx')
  })
})
