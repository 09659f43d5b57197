/** How a server that came back is brought to where its ledger is: by the entries that it lacks, and by a load only where that cannot be. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Log, LogFields } from '../../../src/system/log.ts'
import { eventually } from '../../support/eventually.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { startProxy } from '../../support/proxy.ts'
import { startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { asked, follow } from './faults.ts'
import { WITH_DEBUG } from './raw.ts'

const FORGETFUL = [...WITH_DEBUG, '--appendonly', 'no', '--repl-diskless-sync-delay', '0'] as const
const HOUR_MS = 3_600_000

const fixtureOf = (store: Store) => openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})

/** What a store has said of how a server was joined. */
function joinsIn(lines: readonly (readonly [string, LogFields | undefined])[]) {
  const fits = lines.filter(([message]) => message === 'Redis fits its ledger')
  return fits.map(([, fields]) => [fields?.['by'], fields?.['reason']])
}

describeOnRedis('a Redis with a ledger', () => {
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase()
    await (await openPostgresLedger({ url: database.url, migrate: true }))[Symbol.asyncDispose]()
  })
  afterAll(() => database.drop())

  let partitions = 0
  /** Of a ledger of its own, which `another` of it has too. */
  async function opened(url: string, partition = (partitions += 1), clockSetByMs = () => 0) {
    const lines: (readonly [string, LogFields | undefined])[] = []
    const say = (message: string, fields?: LogFields) => void lines.push([message, fields])
    const log: Log = { info: say, warn: say, error: say }
    const ledger = await openPostgresLedger({ url: database.url, partition })
    const store = await openRedisStore({ url, ledger, log, clockSetByMs, answerWithinMs: 1_000 })
    return {
      store,
      joins: () => joinsIn(lines),
      another: (by: () => number) => opened(url, partition, by),
      [Symbol.asyncDispose]: () => store.close(),
    }
  }

  it('that restarts with all that it had is not loaded', async () => {
    await using server = await startRedis(['--appendonly', 'yes', '--appendfsync', 'always'])
    await using at = await opened(server.url)
    const fixture = await fixtureOf(at.store)
    const job = await fixture.claimed({ input: '1' })
    expect(at.joins()).toEqual([['load', 'empty']])
    await server.kill()
    await server.restart()
    await fixture.expectRecord(job, 'it is as it was')
    expect(at.joins().slice(1)).toEqual([['replay', 'restarted']])
  })

  it('that restarts from an old snapshot is given what it lacks', async () => {
    await using server = await startRedis(FORGETFUL)
    await using at = await opened(server.url)
    const fixture = await fixtureOf(at.store)
    const [early] = await fixture.insert({ input: '1' })
    await asked(server, 'SAVE')
    const late = await fixture.insert({ input: '2' }, { input: '3' })
    const { jobs } = await fixture.claim({ limit: 1 })
    await server.kill()
    await server.restart()
    for (const job of late) await fixture.expectRecord(job, 'it is as it was')
    const record = await fixture.record(early?.id ?? '')
    expect([record.state, record.rev]).toEqual(['claimed', jobs[0]?.rev])
    expect(at.joins().slice(1)).toEqual([['replay', 'behind']])
  })

  it('that goes back on open connections is given what it lacks', async () => {
    await using server = await startRedis(FORGETFUL)
    await using at = await opened(server.url)
    const fixture = await fixtureOf(at.store)
    await fixture.insertOne()
    await asked(server, 'SAVE')
    const late = await fixture.insertOne({ input: '2' })
    await asked(server, 'DEBUG', 'RELOAD', 'NOSAVE')
    await fixture.expectRecord(late, 'it is as it was')
    expect(at.joins().slice(1)).toEqual([['replay', 'behind']])
  })

  it('that lost everything is loaded', async () => {
    await using server = await startRedis(FORGETFUL)
    await using at = await opened(server.url)
    const fixture = await fixtureOf(at.store)
    const job = await fixture.claimed({ input: '1' })
    await asked(server, 'FLUSHALL')
    await fixture.expectRecord(job, 'it is as it was')
    expect(at.joins().slice(1)).toEqual([['load', 'empty']])
  })

  it('whose stale replica is promoted, and is an hour behind, does not take the time back', async () => {
    await using server = await startRedis(FORGETFUL)
    await using replica = await startRedis(FORGETFUL)
    await using way = await startProxy(server.url)
    let setBy = 0
    await using at = await opened(way.url, undefined, () => setBy)
    const fixture = await fixtureOf(at.store)
    await fixture.insertOne()
    await follow(replica, server)
    await asked(replica, 'REPLICAOF', 'NO', 'ONE')
    const job = await fixture.claimed({ queue: 'other' })
    setBy = -HOUR_MS
    way.lead(replica.url)
    way.reset()
    await fixture.expectRecord(job, 'it is as it was')
    expect(at.joins().slice(1)).toEqual([['replay', 'behind']])
    await expectLater(job.lease?.grantedAt ?? 0, at)
  })

  it('that was emptied, and is an hour behind, does not take the time back', async () => {
    await using server = await startRedis(FORGETFUL)
    let setBy = 0
    await using at = await opened(server.url, undefined, () => setBy)
    const fixture = await fixtureOf(at.store)
    const job = await fixture.claimed()
    setBy = -HOUR_MS
    await asked(server, 'FLUSHALL')
    await fixture.expectRecord(job, 'it is as it was')
    await expectLater(job.lease?.grantedAt ?? 0, at)
  })

  /** Also by who was told no time before: its own clock of the server is an hour behind, too. */
  async function expectLater(time: number, at: Awaited<ReturnType<typeof opened>>): Promise<void> {
    await using other = await at.another(() => -HOUR_MS)
    const fixture = await fixtureOf(other.store)
    expect((await other.store.load([])).now).toBeGreaterThanOrEqual(time)
    const { lease } = await fixture.claimed({ queue: 'third' })
    expect(lease?.grantedAt).toBeGreaterThanOrEqual(time)
    const first = await fixture.now()
    await eventually('it goes on', async () => (await fixture.now()) > first)
  }
})
