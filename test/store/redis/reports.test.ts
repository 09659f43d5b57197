/** The same SQL works on a store in Postgres and on the ledger of one in Redis: what docs/sql.md shows, and every column of both views. */
import { readFileSync } from 'node:fs'
import pg from 'pg'
import { expect } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import { itOnRedis } from '../../support/with-redis.ts'

const LARGE = JSON.stringify('x'.repeat(5_000))
const FAULT = { code: 'E_NET', message: 'gone' } as const

/** Jobs at every kind of place, with bodies of both sizes, that were claimed, retried, cancelled, ended and purged. */
async function live(store: Store): Promise<void> {
  const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
  await fixture.insert({ input: LARGE, correlationId: 'order-7' }, { runAt: fixture.begin + 3_600_000, priority: 2 })
  await completed(
    fixture,
    await fixture.claimed({ queue: 'ends', input: '{"n":1}', correlationId: 'order-7' }),
    '"done"',
  )
  await completed(fixture, await fixture.claimed({ queue: 'ends', type: 'large' }), LARGE)
  const retried = await fixture.claimed({ queue: 'fails', correlationId: 'order-7' })
  await fixture.say(retried, { type: 'fail', fence: fenceOf(retried), fault: FAULT })
  await fixture.claimed({ queue: 'owned' })
  const cancelled = await fixture.insertOne({ queue: 'cancelled' })
  await fixture.say(cancelled, { type: 'cancel', mode: 'soft', reason: 'not wanted' })
  const purged = await fixture.insertOne({ queue: 'purged' })
  const after = await fixture.say(purged, { type: 'cancel', mode: 'soft', reason: 'not wanted' })
  await fixture.commit({ kind: 'purge', before: after })
}

const fenceOf = ({ lease }: Job): string => lease?.fence ?? ''

async function completed(fixture: StoreFixture, job: Job, output: string): Promise<void> {
  const result = { name: 'output', size: Buffer.byteLength(output), digest: undefined }
  const bodies = [{ name: 'output', text: output }]
  const saying = { type: 'complete', fence: fenceOf(job), result } as const
  await fixture.apply(fixture.change(job, saying, job.updatedAt, { bodies }))
}

const documented = (): readonly string[] => {
  const [, block = ''] =
    /### Some to begin with[\s\S]*?```sql\n([\s\S]*?)```/.exec(readFileSync('docs/sql.md', 'utf8')) ?? []
  return block
    .split(';')
    .map((text) => text.trim())
    .filter((text) => text !== '')
}

/** What takes its time takes another one on each. */
const timeless = (rows: readonly Record<string, unknown>[]) =>
  rows.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, withoutTime(value)])))

const withoutTime = (value: unknown): unknown =>
  value instanceof Date || (typeof value === 'object' && value !== null) ? 'some time' : value

itOnRedis(
  'what docs/sql.md asks is answered alike by a store in Postgres and by the ledger of one in Redis',
  async () => {
    await using redis = await startRedis()
    const [one, other] = [await freshDatabase(), await freshDatabase()]
    const ledger = await openPostgresLedger({ url: other.url, migrate: true })
    const stores = [
      await openPostgresStore({ url: one.url, migrate: true }),
      await openRedisStore({ url: redis.url, ledger }),
    ]
    for (const store of stores) await live(store)
    await eventually('all is folded', async () => {
      const { folded, head } = await ledger.account()
      return folded === head.seq
    })
    const clients = [one, other].map(({ url }) => new pg.Client({ connectionString: url }))
    for (const client of clients) await client.connect()
    const asked = [
      ...documented(),
      'select * from pawl.jobs order by id',
      'select * from pawl.events order by job, rev, place',
    ]
    expect(asked.length).toBeGreaterThan(6)
    for (const text of asked) {
      const [first, second] = await Promise.all(clients.map((client) => client.query(text)))
      expect(
        second?.fields.map(({ name, dataTypeID }) => [name, dataTypeID]),
        text,
      ).toEqual(first?.fields.map(({ name, dataTypeID }) => [name, dataTypeID]))
      expect(timeless(second?.rows ?? []), text).toEqual(timeless(first?.rows ?? []))
    }
    for (const client of clients) await client.end()
    for (const store of stores) await store.close()
    for (const database of [one, other]) await database.drop()
  },
)
