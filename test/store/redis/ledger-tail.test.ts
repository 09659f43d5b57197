/** A ledger that has lost the end of its log, as a Postgres does that fails over to a replica which had not heard of it. */
import pg from 'pg'
import { expect } from 'vitest'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { eventually } from '../../support/eventually.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { rawLink } from './raw.ts'

const TABLES = ['part', 'log', 'image', 'job', 'past']

itOnRedis('a ledger that lost the last minute of its log is given it again by Redis', async () => {
  await using server = await startRedis(['--appendonly', 'no'])
  await using database = await freshDatabase()
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  const ledger = await openPostgresLedger({ url: database.url, migrate: true })
  const store = await openRedisStore({ url: server.url, ledger })
  const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
  const early = await fixture.insertOne({ input: '1' })
  for (const table of TABLES) await client.query(`create table saved_${table} as table pawl.${table}`)
  const late = await fixture.insert({ input: '2' }, { input: '3' })
  const { head } = await ledger.account()
  await client.query('begin')
  for (const table of TABLES)
    await client.query(`delete from pawl.${table}; insert into pawl.${table} select * from saved_${table}`)
  await client.query('commit')
  expect((await ledger.account()).head.seq).toBeLessThan(head.seq)

  const next = await fixture.insertOne({ input: '4' })
  await eventually('the ledger has it again', async () => (await ledger.account()).head.seq > head.seq)
  const link = await rawLink(server)
  await link.send(['FLUSHALL'])
  for (const { id } of [early, ...late, next]) expect((await fixture.loaded(id, ['input']))?.bodies).toBeDefined()
  await link.close()
  await client.end()
  await store.close()
})
