/** Faults of a Redis and of its ledger in the middle of each phase of work, judged from outside by what callers were told. */
import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { list, pairs, words } from '../../../src/store/redis/connection/reply.ts'
import { openRedisStore, type RedisStore } from '../../../src/store/redis/redis.ts'
import { eventually } from '../../support/eventually.ts'
import { startPostgres } from '../../support/postgres.ts'
import { startProxy } from '../../support/proxy.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled, soaking } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { boundedScripts } from './bounded-scripts.ts'
import { asked, type Fault, POSTGRES_FAULTS, REDIS_FAULTS, type Servers } from './faults.ts'
import { startLives } from './lives-together.ts'
import { during, hesitating, PHASES, type Phase, type Stop } from './phases.ts'
import { rawLink, WITH_DEBUG } from './raw.ts'

/** The gate meets each fault of Redis once, in phases that differ from run to run. */
const COUNTS = { redis: scaled(REDIS_FAULTS.length, 200), postgres: scaled(1, 50) }
const DRAWN = soaking ? 0 : randomInt(PHASES.length * POSTGRES_FAULTS.length)
/** Entries that may wait for the ledger here, so few that they do. */
const UNSHIPPED = 2
const LOOK_EVERY_MS = 50

interface Meeting {
  readonly fault: Fault
  readonly phase: Phase
}

/** The n-th: in as many as there are of both together each fault has met each phase. */
function meeting(faults: readonly Fault[], n: number): Meeting {
  const phase = PHASES[(n + Math.floor(n / faults.length) + DRAWN) % PHASES.length]
  const fault = faults[(n + (faults === POSTGRES_FAULTS ? DRAWN : 0)) % faults.length]
  if (fault === undefined || phase === undefined) throw new Error('there is one of each')
  return { fault, phase }
}

/** Those of Postgres spread among those of Redis. */
function meetings(): readonly Meeting[] {
  const every = COUNTS.redis / COUNTS.postgres
  return Array.from({ length: COUNTS.redis }, (_, n) => {
    const ofRedis = meeting(REDIS_FAULTS, n)
    const before = Math.floor(n / every)
    return Math.floor((n + 1) / every) > before ? [ofRedis, meeting(POSTGRES_FAULTS, before)] : [ofRedis]
  }).flat()
}

/** What waits for the ledger on a server at most, looked at all the while; those that begin to be joined have their own counts. */
async function watchUnshipped(servers: Servers, signal: AbortSignal): Promise<number> {
  let most = 0
  while (!signal.aborted) {
    await pause(LOOK_EVERY_MS)
    const link = await rawLink(servers.redis).catch(() => undefined)
    const known = await link?.send(['HMGET', '{pawl:0}:meta', 'logged', 'shipped', 'epoch', 'joining']).catch(() => [])
    await link?.close()
    const [logged, shipped, epoch, joining] = list(known ?? []).map(Number)
    if (epoch === joining) most = Math.max(most, (logged ?? 0) - (shipped ?? 0))
  }
  return most
}

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

/** When nobody does anything any more. */
async function expectQuiet({ ledger }: RedisStore): Promise<void> {
  await eventually('all is shipped and folded', async () => {
    const standing = await ledger?.standing()
    return standing?.unshipped === 0 && standing.unfolded === 0
  })
  expect(await ledger?.compared(() => {})).toEqual([])
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
    await using ledgerWay = await startProxy(postgres.url)
    await using anotherLedgerWay = await startProxy(postgres.url)
    const stop: Stop = { at: 'work', there: 0 }
    await (await openPostgresLedger({ url: postgres.url, migrate: true }))[Symbol.asyncDispose]()
    const scripts = boundedScripts(UNSHIPPED)
    const open = async (to: string, behind: string) => {
      const ledger = hesitating(await openPostgresLedger({ url: behind }), stop)
      return openRedisStore({ url: to, ledger, scripts, evictAfterMs: 200, answerWithinMs: 1_000 })
    }
    const stores = [await open(way.url, ledgerWay.url), await open(anotherWay.url, anotherLedgerWay.url)]
    const lives = startLives(stores, 5)
    const servers: Servers = {
      redis: first,
      other: second,
      postgres,
      ways: [way, anotherWay],
      ledgerWays: [ledgerWay, anotherLedgerWay],
      worked: lives.worked,
      snapshots: [],
    }
    const watch = new AbortController()
    const unshipped = watchUnshipped(servers, watch.signal)
    const met: string[] = []
    const missed = new Set<string>()
    for (const { fault, phase } of meetings()) {
      const name = `${fault.name}, ${phase}`
      const so = await lives
        .worked(5)
        .then(() => during(servers, stop, phase, fault))
        .catch((error: unknown) => {
          throw new Error(`after ${met.slice(-3).join('; ')}`, { cause: error })
        })
      if (so) missed.delete(name)
      else if (!met.includes(name)) missed.add(name)
      met.push(name)
    }
    await lives.over()
    watch.abort()
    await lives.expectTold()
    expect(await unshipped).toBeLessThanOrEqual(2 * UNSHIPPED)
    for (const store of stores) await expectQuiet(store)
    // What is in Redis is what the ledger makes of an empty one.
    const hot = await contentOf(servers.redis)
    await asked(servers.redis, 'FLUSHALL')
    await lives.expectTold()
    expect(await contentOf(servers.redis)).toEqual(hot)
    if (soaking) expect([...missed], 'phases that nobody came to').toEqual([])
    await Promise.all(stores.map((store) => store.close()))
  },
  scaled(240_000, 2_400_000),
)
