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
import { eventually } from '../../support/eventually.ts'
import { type PostgresServer, startPostgres } from '../../support/postgres.ts'
import { startProxy, type TcpProxy } from '../../support/proxy.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { ledgerWith } from './ledger-with.ts'
import { rawLink, WITH_DEBUG } from './raw.ts'
import { expectTold, live, toldNothing } from './told.ts'

const POSTGRES_FAULTS = scaled(1, 50)
/** Longer than anybody's turn to ship. */
const PAST_THE_TURN_MS = 250
/** How long a phase is waited for in which to do it; nobody may come to it. */
const PHASE_WITHIN_MS = 2_000

/** Of those who ship, join, load and fold: whom a fault finds in the middle of it. `work`: nobody in particular. */
type Phase = 'work' | 'append' | 'fence' | 'imageAfter' | 'fold'
const PHASES: readonly Phase[] = ['work', 'append', 'fence', 'fold', 'imageAfter']

interface Servers {
  /** The one that is led to, and a second that follows it, or not. */
  redis: RedisServer
  other: RedisServer
  readonly postgres: PostgresServer
  /** The ways of the two processes to Redis. */
  readonly ways: readonly [TcpProxy, TcpProxy]
  /** While it names a phase, processes stop before it; `there`: so many have. */
  readonly stopped: { at: Phase; there: number }
}

async function asked(redis: RedisServer, ...request: string[]): Promise<string> {
  const link = await rawLink(redis)
  const answer = await link.send(request)
  await link.close()
  return String(answer)
}

/** One after the other, as often as is asked for. The server keeps no more than its last snapshot. */
const FAULTS: readonly ((servers: Servers) => Promise<void>)[] = [
  async ({ redis }) => void (await asked(redis, 'FLUSHALL')),
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
  // Both masters are written: the second process is led to the replica, and later on both are.
  async (servers) => {
    const { redis, other, ways } = servers
    await asked(other, 'REPLICAOF', '127.0.0.1', String(redis.port))
    await eventually('the replica follows', async () =>
      /master_link_status:up/.test(await asked(other, 'INFO', 'replication')),
    )
    await asked(other, 'REPLICAOF', 'NO', 'ONE')
    await pause(50)
    ways[1].lead(other.url)
    ways[1].reset()
    await pause(2 * PAST_THE_TURN_MS)
    ways[0].lead(other.url)
    ways[0].reset()
    Object.assign(servers, { redis: other, other: redis })
  },
  async ({ redis }) => {
    await redis.kill()
    await redis.restart()
  },
  // Out of memory: what needs more is refused before anything was written.
  async ({ redis }) => {
    await asked(redis, 'CONFIG', 'SET', 'maxmemory', '1')
    await pause(PAST_THE_TURN_MS)
    await asked(redis, 'CONFIG', 'SET', 'maxmemory', '0')
  },
  async ({ redis }) => {
    await asked(redis, 'FLUSHALL')
    await pause(20)
    await redis.kill()
    await redis.restart()
  },
  // Half-open: neither end is told, and nothing gets through.
  async ({ ways }) => {
    for (const way of ways) way.swallow()
    await pause(PAST_THE_TURN_MS)
  },
  // Back to where it was without a new life of it: nothing but the ledger can tell.
  async ({ redis }) => {
    await asked(redis, 'SAVE')
    await pause(50)
    await asked(redis, 'DEBUG', 'RELOAD', 'NOSAVE')
  },
  async ({ ways }) => {
    for (const way of ways) way.reset()
  },
]
const REDIS_FAULTS = scaled(FAULTS.length, 200)

async function postgresFault({ postgres }: Servers): Promise<void> {
  await postgres.kill()
  await postgres.restart()
}

/** In the middle of a phase, if somebody comes to it: a server that is joined has been emptied before. */
async function during(servers: Servers, phase: Phase, fault: (servers: Servers) => Promise<void>): Promise<void> {
  const { stopped } = servers
  stopped.there = 0
  stopped.at = phase
  if (phase === 'fence' || phase === 'imageAfter') await asked(servers.redis, 'FLUSHALL')
  const until = performance.now() + PHASE_WITHIN_MS
  while (phase !== 'work' && stopped.there === 0 && performance.now() < until) await pause(5)
  await fault(servers)
  // Longer than a turn: who was stopped goes on after others have.
  await pause(phase === 'work' ? 0 : PAST_THE_TURN_MS)
  stopped.at = 'work'
}

/** Stopped before a phase, as a process is that the machine has forgotten for a while. */
function hesitating(ledger: Ledger, stopped: Servers['stopped']): Ledger {
  const before = async (phase: Phase) => {
    if (stopped.at === phase) stopped.there += 1
    while (stopped.at === phase) await pause(5)
  }
  return ledgerWith(ledger, {
    append: (append) => before('append').then(() => ledger.append(append)),
    fence: (epoch) => before('fence').then(() => ledger.fence(epoch)),
    fold: (step) => before('fold').then(() => ledger.fold(step)),
    imageAfter: (cursor) => before('imageAfter').then(() => ledger.imageAfter(cursor)),
  })
}

const fixtureOf = (store: Store): Promise<StoreFixture> =>
  openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})

/** Of meta: what calls have changed. */
const OF_CALLS = ['seq', 'name', 'purged']

/** What each key holds that calls have changed; what is due was handed out by putting off its tick. */
async function contentOf(redis: RedisServer): Promise<Readonly<Record<string, string>>> {
  const link = await rawLink(redis)
  const base = '{pawl:0}:'
  const keys = words(await link.send(['KEYS', `${base}*`])).filter(
    (key) => !['meta', 'entries', 'turn', 'folds', 'evicts', 'tick', 'judge'].includes(key.slice(base.length)),
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
    const settings = [...WITH_DEBUG, '--appendonly', 'no', '--save', '3600 1000000', '--repl-diskless-sync-delay', '0']
    await using first = await startRedis(settings)
    await using second = await startRedis(settings)
    await using postgres = await startPostgres()
    await using way = await startProxy(first.url)
    await using anotherWay = await startProxy(first.url)
    const stopped: Servers['stopped'] = { at: 'work', there: 0 }
    const servers: Servers = { redis: first, other: second, postgres, ways: [way, anotherWay], stopped }
    const { url } = postgres
    const open = async (ledger: Ledger, { url: to }: TcpProxy) =>
      openRedisStore({ url: to, ledger, evictAfterMs: 200, answerWithinMs: 1_000 })
    const slow = hesitating(await openPostgresLedger({ url, migrate: true }), stopped)
    const stores = [await open(slow, way), await open(await openPostgresLedger({ url }), anotherWay)]
    const fixtures = await Promise.all(stores.map(fixtureOf))
    const told = toldNothing()
    const over = new AbortController()
    const lives = fixtures.flatMap((fixture) => [live(fixture, told, over.signal), live(fixture, told, over.signal)])
    const failed = Promise.all(lives)
    failed.catch(() => over.abort())
    const every = Math.ceil((REDIS_FAULTS + POSTGRES_FAULTS) / POSTGRES_FAULTS)
    for (let n = 0; n < REDIS_FAULTS + POSTGRES_FAULTS && !over.signal.aborted; n += 1) {
      const before = told.ended.size
      while (told.ended.size < before + 5 && !over.signal.aborted) await pause(2)
      const isPostgres = n % every === 4
      const fault = isPostgres ? postgresFault : (FAULTS[n % FAULTS.length] as typeof postgresFault)
      await during(servers, PHASES[n % PHASES.length] as Phase, fault)
    }
    over.abort()
    await failed
    for (const fixture of fixtures) await expectTold(fixture, told)
    // What is in Redis is what the ledger makes of an empty one.
    const { redis } = servers
    const hot = await contentOf(redis)
    await asked(redis, 'FLUSHALL')
    for (const fixture of fixtures) await expectTold(fixture, told)
    expect(await contentOf(redis)).toEqual(hot)
    await Promise.all(stores.map((store) => store.close()))
  },
  scaled(120_000, 1_200_000),
)
