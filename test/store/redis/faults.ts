/** What befalls a Redis and its ledger, one fault each; `ledger-faults.test.ts` has each of them in the middle of each phase. */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kill } from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { eventually } from '../../support/eventually.ts'
import type { PostgresServer } from '../../support/postgres.ts'
import type { TcpProxy } from '../../support/proxy.ts'
import type { RedisServer } from '../../support/redis.ts'
import { rawLink } from './raw.ts'

export interface Servers {
  /** The one that is led to, and a second that nobody is led to yet. Neither keeps more than its snapshots. */
  redis: RedisServer
  other: RedisServer
  readonly postgres: PostgresServer
  /** The ways of the two processes to Redis. */
  readonly ways: readonly [TcpProxy, TcpProxy]
  /** Their ways to Postgres. */
  readonly ledgerWays: readonly [TcpProxy, TcpProxy]
  /** Until so many more jobs have ended. */
  readonly worked: (count: number) => Promise<void>
  /** Snapshots of before, the oldest first. */
  readonly snapshots: string[]
}

export interface Fault {
  readonly name: string
  /** While all is well. */
  readonly prepare?: (servers: Servers) => Promise<unknown>
  readonly strike: (servers: Servers) => Promise<unknown>
}

/** Longer than anybody's turn to ship. */
export const PAST_THE_TURN_MS = 250
/** So much is lost by what goes back. */
const JOBS_LOST = 8
/** Snapshots that one that is old is older than. */
const OLD = 3

export async function asked(redis: RedisServer, ...request: string[]): Promise<string> {
  const link = await rawLink(redis)
  const answer = await link.send(request)
  await link.close()
  return String(answer)
}

async function restarted({ redis }: Servers): Promise<void> {
  await redis.kill()
  await redis.restart()
}

export async function follow(replica: RedisServer, master: RedisServer): Promise<void> {
  await asked(replica, 'REPLICAOF', '127.0.0.1', String(master.port))
  await eventually('the replica has followed', async () =>
    /master_link_status:up/.test(await asked(replica, 'INFO', 'replication')),
  )
}

const onDisk = ({ folder }: RedisServer): string => join(folder, 'dump.rdb')

/** Kept where no later snapshot replaces it. */
async function keepSnapshot({ redis, snapshots, worked }: Servers): Promise<void> {
  await asked(redis, 'SAVE')
  const kept = `${onDisk(redis)}.${snapshots.length}`
  await copyFile(onDisk(redis), kept)
  snapshots.push(kept)
  await worked(JOBS_LOST)
}

/** `back`: how many before the last one. */
async function putBack({ redis, snapshots }: Servers, back: number): Promise<void> {
  await copyFile(snapshots.at(-1 - back) ?? snapshots[0] ?? '', onDisk(redis))
}

/** A replica that has stopped following a while ago, and is a master by itself. */
async function stale({ redis, other, worked }: Servers): Promise<void> {
  await follow(other, redis)
  await asked(other, 'REPLICAOF', 'NO', 'ONE')
  await worked(JOBS_LOST)
}

export const REDIS_FAULTS: readonly Fault[] = [
  { name: 'FLUSHALL', strike: ({ redis }) => asked(redis, 'FLUSHALL') },
  {
    name: 'SIGKILL, and back as a moment ago',
    strike: async (servers) => {
      await asked(servers.redis, 'SAVE')
      await pause(50)
      await restarted(servers)
    },
  },
  {
    name: 'SIGKILL, and back from an old snapshot',
    prepare: keepSnapshot,
    strike: async (servers) => {
      await servers.redis.kill()
      await putBack(servers, 0)
      await servers.redis.restart()
    },
  },
  {
    name: 'SIGKILL, and back from a snapshot of several epochs ago',
    prepare: keepSnapshot,
    strike: async (servers) => {
      await servers.redis.kill()
      await putBack(servers, OLD)
      await servers.redis.restart()
    },
  },
  {
    name: 'SIGKILL, and back with nothing',
    strike: async (servers) => {
      await asked(servers.redis, 'FLUSHALL')
      await restarted(servers)
    },
  },
  {
    name: 'SIGSTOP past all turns',
    strike: async ({ redis }) => {
      redis.freeze()
      await pause(PAST_THE_TURN_MS)
      kill(redis.pid, 'SIGCONT')
    },
  },
  {
    name: 'a stale replica is promoted, and both masters are written',
    prepare: stale,
    strike: async (servers) => {
      const { redis, other, ways } = servers
      ways[1].lead(other.url)
      ways[1].reset()
      await pause(2 * PAST_THE_TURN_MS)
      ways[0].lead(other.url)
      ways[0].reset()
      Object.assign(servers, { redis: other, other: redis })
    },
  },
  {
    name: 'demoted under a stale master and promoted again, on open connections',
    prepare: stale,
    strike: async ({ redis, other }) => {
      await follow(redis, other)
      await asked(redis, 'REPLICAOF', 'NO', 'ONE')
    },
  },
  {
    // What needs more is refused before anything was written.
    name: 'out of memory',
    strike: async ({ redis }) => {
      await asked(redis, 'CONFIG', 'SET', 'maxmemory', '1')
      await pause(2 * PAST_THE_TURN_MS)
      await asked(redis, 'CONFIG', 'SET', 'maxmemory', '0')
    },
  },
  {
    // What was done is not answered, and cannot be done again: nobody may say that it was not done.
    name: 'out of memory, and the answers before are lost',
    strike: async ({ redis, ways }) => {
      for (const way of ways) way.delay(20)
      await pause(PAST_THE_TURN_MS)
      await asked(redis, 'CONFIG', 'SET', 'maxmemory', '1')
      for (const way of ways) way.reset()
      for (const way of ways) way.delay(0)
      await pause(2 * PAST_THE_TURN_MS)
      await asked(redis, 'CONFIG', 'SET', 'maxmemory', '0')
    },
  },
  {
    // Neither end is told, and nothing gets through.
    name: 'half-open connections',
    strike: async ({ ways }) => {
      for (const way of ways) way.swallow()
      await pause(PAST_THE_TURN_MS)
    },
  },
  {
    // Without a new life of the server: nothing but the ledger can tell.
    name: 'back to where it was, in the same life',
    prepare: keepSnapshot,
    strike: async (servers) => {
      await putBack(servers, 0)
      await asked(servers.redis, 'DEBUG', 'RELOAD', 'NOSAVE')
    },
  },
  {
    name: 'connections are reset',
    strike: async ({ ways }) => {
      for (const way of ways) way.reset()
    },
  },
]

export const POSTGRES_FAULTS: readonly Fault[] = [
  {
    name: 'Postgres is killed',
    strike: async ({ postgres }) => {
      await postgres.kill()
      await postgres.restart()
    },
  },
  {
    // What it has done it has done: its answers are on their way for so long that they do not arrive.
    name: 'Postgres is killed between what it does and its answer',
    strike: async ({ postgres, ledgerWays }) => {
      for (const way of ledgerWays) way.delay(30)
      await pause(PAST_THE_TURN_MS)
      for (const way of ledgerWays) way.reset()
      await postgres.kill()
      for (const way of ledgerWays) way.delay(0)
      await postgres.restart()
    },
  },
  {
    name: 'connections to Postgres are reset',
    strike: async ({ ledgerWays }) => {
      for (const way of ledgerWays) way.reset()
    },
  },
]
