/** `pawl verify` of a Redis with a ledger: what is damaged in one of the three places is named. */
import pg from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStoreFixture } from '../../src/store/conformance/store-fixture.ts'
import { openPostgresLedger } from '../../src/store/postgres/ledger/postgres-ledger.ts'
import type { Link } from '../../src/store/redis/connection/link.ts'
import { digitsOf } from '../../src/store/redis/job/id-text.ts'
import { openRedisStore } from '../../src/store/redis/redis.ts'
import { rawLink } from '../store/redis/raw.ts'
import { eventually } from '../support/eventually.ts'
import { type FreshDatabase, freshDatabase } from '../support/postgres.ts'
import { type RedisServer, startRedis } from '../support/redis.ts'
import { describeOnRedis } from '../support/with-redis.ts'
import { pawl } from './pawl.ts'

interface Found {
  readonly jobs: number
  readonly discrepancies: readonly { readonly about: string; readonly what: string }[]
}

let server: RedisServer
let database: FreshDatabase
let link: Link
let client: pg.Client
let digits: string
const BASE = '{pawl:0}:'

async function verified(): Promise<Found['discrepancies']> {
  const url = `${server.url}?ledger=${encodeURIComponent(database.url)}`
  const { stdout, code } = await pawl(['verify', '--json', '--url', url])
  const { discrepancies } = JSON.parse(stdout) as Found
  expect(code).toBe(discrepancies.length === 0 ? 0 : 1)
  return discrepancies
}

const query = (text: string) => client.query(text)

/** Damages something, sees what is said of it, and mends it. */
async function expectNamed(about: string, what: RegExp, damage: () => Promise<unknown>, mend: () => Promise<unknown>) {
  await damage()
  const found = await verified()
  expect(found.filter((each) => each.about === about).map((each) => each.what)).toContainEqual(
    expect.stringMatching(what),
  )
  await mend()
}

describeOnRedis('pawl verify of a Redis with a ledger', () => {
  beforeAll(async () => {
    server = await startRedis(['--appendonly', 'no'])
    database = await freshDatabase()
    link = await rawLink(server)
    client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const ledger = await openPostgresLedger({ url: database.url, migrate: true })
    const store = await openRedisStore({ url: server.url, ledger, evictAfterMs: 0 })
    const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
    const [ended, live] = await fixture.insert({ input: '1' }, { input: '2', labels: { a: 'b' } }, {}, {})
    await fixture.say(ended as never, { type: 'cancel', mode: 'hard' })
    digits = digitsOf(live?.id ?? '')
    await eventually('the ended one has left', async () => Number(await link.send(['SCARD', `${BASE}evicted`])) === 1)
    await store.close()
  })

  afterAll(async () => {
    await client.end()
    await link.close()
    await server.stop()
    await database.drop()
  })

  it('finds no difference where there is none', async () => {
    expect(await verified()).toEqual([])
  })

  it('names what Redis has otherwise, has not, or has besides', async () => {
    const born = `${BASE}born:${digits}`
    const was = String(await link.send(['GET', born]))
    await expectNamed(
      'hot',
      /born:.*Redis has .*the ledger has/,
      () => link.send(['SET', born, was.replace('2', '3')]),
      () => link.send(['SET', born, was]),
    )
    await expectNamed(
      'hot',
      /kinds.*Redis has not/,
      async () => {
        await link.send(['RENAME', `${BASE}kinds`, `${BASE}mislaid`])
        await link.send(['HSET', `${BASE}kinds`, 'x', 'y'])
      },
      () => link.send(['RENAME', `${BASE}mislaid`, `${BASE}kinds`]),
    )
    await expectNamed(
      'hot',
      /stray: Redis has 1 of it, the ledger has 0/,
      () => link.send(['SET', `${BASE}stray`, '1']),
      () => link.send(['DEL', `${BASE}stray`]),
    )
  })

  it('names an entry of the log that does not follow, is not what Redis has of it, or is missing', async () => {
    await query('create table saved as table pawl.log')
    const mend = () => query('truncate pawl.log; insert into pawl.log select * from saved')
    await expectNamed(
      'log',
      /does not follow/,
      () => query(`update pawl.log set prev = 'somebody' where first = (select max(first) from pawl.log)`),
      mend,
    )
    await expectNamed(
      'log',
      /not what Redis has of it/,
      () => query(`update pawl.log set texts[1] = '[]' where first = (select max(first) from pawl.log)`),
      mend,
    )
    await expectNamed(
      'log',
      /it has nothing after entry/,
      () => query('delete from pawl.log where first = (select max(first) from pawl.log)'),
      mend,
    )
  })

  it('names what reports say otherwise, and what the image has lost', async () => {
    await expectNamed(
      'fold',
      /rev is 99 in reports/,
      () => query('update pawl.job set rev = rev + 97'),
      () => query('update pawl.job set rev = rev - 97'),
    )
    await query('create table kept as table pawl.image')
    await expectNamed(
      'fold',
      /reports have it, and the image has not/,
      () => query(`delete from pawl.image where key_name like 'job:%'`),
      () => query('truncate pawl.image; insert into pawl.image select * from kept'),
    )
    expect(await verified()).toEqual([])
  })
})
