/** Faults of a Redis and of its ledger in the middle of work, judged from outside by what callers were told. */
import { kill } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { Ledger } from '../../../src/store/ledger/ledger-port.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { pairs, words } from '../../../src/store/redis/connection/reply.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import type { Store } from '../../../src/store/store.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { rawLink, WITH_DEBUG } from './raw.ts'
import { expectTold, live, toldNothing } from './told.ts'

const REDIS_FAULTS = scaled(7, 200)
const POSTGRES_FAULTS = scaled(1, 50)
/** Longer than anybody's turn to ship. */
const PAST_THE_TURN_MS = 250

interface Servers {
  readonly redis: RedisServer
  readonly postgres: PostgresServer
  /** While it says so, the first process takes its time between what it has read and what it ships. */
  readonly stopped: { is: boolean }
}

async function asked(redis: RedisServer, ...request: string[]): Promise<void> {
  const link = await rawLink(redis)
  await link.send(request)
  await link.close()
}

/** One after the other, as often as is asked for. The server keeps no more than its last snapshot. */
const FAULTS: readonly ((servers: Servers) => Promise<void>)[] = [
  ({ redis }) => asked(redis, 'FLUSHALL'),
  async ({ redis }) => {
    await asked(redis, 'SAVE')
    await pause(50)
    await redis.kill()
    await redis.restart()
  },
  async ({ redis }) => {
    redis.freeze()
    await pause(PAST_THE_TURN_MS)
    kill(redis.pid, 'SIGCONT')
  },
  async ({ stopped }) => {
    stopped.is = true
    await pause(3 * PAST_THE_TURN_MS)
    stopped.is = false
  },
  async ({ redis }) => {
    await redis.kill()
    await redis.restart()
  },
  async ({ redis, stopped }) => {
    stopped.is = true
    await pause(PAST_THE_TURN_MS)
    await asked(redis, 'FLUSHALL')
    await pause(PAST_THE_TURN_MS)
    stopped.is = false
  },
  async ({ redis }) => {
    await asked(redis, 'FLUSHALL')
    await pause(20)
    await redis.kill()
    await redis.restart()
  },
  // Back to where it was without a new life of it: nothing but the ledger can tell.
  async ({ redis }) => {
    await asked(redis, 'SAVE')
    await pause(50)
    await asked(redis, 'DEBUG', 'RELOAD', 'NOSAVE')
  },
]

async function postgresFault({ postgres }: Servers): Promise<void> {
  await postgres.kill()
  await postgres.restart()
}

/** Stopped before it ships, as a process is that the machine has forgotten for a while. */
const hesitating = (ledger: Ledger, stopped: { readonly is: boolean }): Ledger => ({
  account: () => ledger.account(),
  fence: (epoch) => ledger.fence(epoch),
  after: (head) => ledger.after(head),
  look: (calls) => ledger.look(calls),
  unfolded: () => ledger.unfolded(),
  fold: (step) => ledger.fold(step),
  pieces: (keys) => ledger.pieces(keys),
  imageAfter: (cursor) => ledger.imageAfter(cursor),
  async append(append) {
    while (stopped.is) await pause(5)
    return ledger.append(append)
  },
  [Symbol.asyncDispose]: () => ledger[Symbol.asyncDispose](),
})

const fixtureOf = (store: Store): Promise<StoreFixture> =>
  openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})

/** Of meta: what calls have changed. */
const OF_CALLS = ['seq', 'name', 'purged']

/** What each key holds that calls have changed; what is due was handed out by putting off its tick. */
async function contentOf(redis: RedisServer): Promise<Readonly<Record<string, string>>> {
  const link = await rawLink(redis)
  const base = '{pawl:0}:'
  const keys = words(await link.send(['KEYS', `${base}*`])).filter(
    (key) => !['meta', 'entries', 'turn', 'folds', 'tick'].includes(key.slice(base.length)),
  )
  const digests = await Promise.all(keys.map((key) => link.send(['DEBUG', 'DIGEST-VALUE', key])))
  const meta = pairs(words(await link.send(['HGETALL', `${base}meta`])))
  await link.close()
  const fields = meta.filter(([field]) => OF_CALLS.includes(field))
  return Object.fromEntries([...keys.map((key, n) => [key, String(digests[n])]), ...fields])
}

itOnRedis(
  'all that callers were told is in the ledger, whatever befalls Redis, Postgres or a shipper meanwhile',
  async () => {
    await using redis = await startRedis([...WITH_DEBUG, '--appendonly', 'no', '--save', '3600 1000000'])
    await using postgres = await startPostgres()
    const servers: Servers = { redis, postgres, stopped: { is: false } }
    const { url } = postgres
    const open = async (ledger: Ledger) => openRedisStore({ url: redis.url, ledger })
    const slow = hesitating(await openPostgresLedger({ url, migrate: true }), servers.stopped)
    const stores = [await open(slow), await open(await openPostgresLedger({ url }))]
    const fixtures = await Promise.all(stores.map(fixtureOf))
    const told = toldNothing()
    const over = new AbortController()
    const lives = fixtures.flatMap((fixture) => [live(fixture, told, over.signal), live(fixture, told, over.signal)])
    const failed = Promise.all(lives)
    failed.catch(() => over.abort())
    for (let n = 0; n < REDIS_FAULTS + POSTGRES_FAULTS && !over.signal.aborted; n += 1) {
      const before = told.ended.size
      while (told.ended.size < before + 5 && !over.signal.aborted) await pause(2)
      const isPostgres = n % Math.ceil((REDIS_FAULTS + POSTGRES_FAULTS) / POSTGRES_FAULTS) === 4
      await (isPostgres ? postgresFault : (FAULTS[n % FAULTS.length] as typeof postgresFault))(servers)
    }
    over.abort()
    await failed
    for (const fixture of fixtures) await expectTold(fixture, told)
    // What is in Redis is what the ledger makes of an empty one.
    const hot = await contentOf(redis)
    await asked(redis, 'FLUSHALL')
    for (const fixture of fixtures) await expectTold(fixture, told)
    expect(await contentOf(redis)).toEqual(hot)
    await Promise.all(stores.map((store) => store.close()))
  },
  scaled(120_000, 3_600_000),
)
