/** What a phase costs the server: CPU of all its processes, WAL, pages looked at, bytes on disk. */
import { readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { exists } from './contender.ts'
import type { Figures } from './scenario.ts'
import { query } from './servers.ts'

const TICK_US = 10_000
const LEFT_WITHIN_MS = 3_000

export interface Meter {
  /** From now on. */
  begin(): Promise<void>
  /** When what was answered has cost all that it costs: a ledger folds later on. */
  settled(): Promise<void>
  /** Per job, since `begin`. */
  costs(jobs: number): Promise<Figures>
  /**
   * Pages looked at so far, by everybody who has left: a backend hands in what it has counted once a second at most and
   * when it leaves, so this waits until all others have. Rates from begin to end of a drain were off by a second's worth.
   */
  pages(): Promise<number>
  /** CPU of the server since `begin`, in µs. */
  serverCpuUs(): Promise<number>
  diskBytes(): Promise<number>
  /** Transactions so far: a statement that is in no other is one. Backends hand them in once a second at most. */
  transactions(): Promise<number>
  /** Levels of the deepest index. */
  depth(): Promise<number>
  close(): Promise<void>
}

const DEPTH = `select max((public.bt_metap(i.indexrelid::regclass::text)).level)::float8 as depth
  from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am a on a.oid = c.relam join pg_namespace n on n.oid = c.relnamespace
  where a.amname = 'btree' and n.nspname not in ('pg_catalog', 'pg_toast', 'information_schema')`

const OTHERS = `pg_stat_activity
  where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`

export async function postgresMeter(url: string): Promise<Meter> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  const read = async () => {
    const { rows } = await client.query<Record<'wal' | 'pages' | 'pid', string>>(
      `select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::text as wal, pg_backend_pid()::text as pid,
         (select (blks_hit + blks_read)::text from pg_stat_database where datname = current_database()) as pages`,
    )
    const [row] = rows
    return { wal: Number(row?.wal), pages: Number(row?.pages), cpuUs: treeCpuUs(parentOf(Number(row?.pid))) }
  }
  let before = await read()
  const diskBytes = async () => {
    const { rows } = await client.query('select pg_database_size(current_database())::float8 as size')
    return rows[0].size as number
  }
  return {
    async begin() {
      before = await read()
    },
    settled: async () => {},
    async costs(jobs) {
      const after = await read()
      return {
        walBytes: (after.wal - before.wal) / jobs,
        serverUs: (after.cpuUs - before.cpuUs) / jobs,
      }
    },
    async pages() {
      for (const fromMs = performance.now(); performance.now() - fromMs < LEFT_WITHIN_MS; ) {
        if (!(await exists(client, OTHERS))) break
        await sleep(10)
      }
      return (await read()).pages
    },
    serverCpuUs: async () => (await read()).cpuUs - before.cpuUs,
    diskBytes,
    async transactions() {
      const { rows } = await client.query<{ count: number }>(
        `select (xact_commit + xact_rollback)::float8 as count from pg_stat_database where datname = current_database()`,
      )
      return rows[0]?.count ?? Number.NaN
    },
    async depth() {
      // It comes with the server, unless a package left it out.
      const there = await client.query(`select 1 from pg_available_extensions where name = 'pageinspect'`)
      if (there.rows.length === 0) return Number.NaN
      await client.query('create extension if not exists pageinspect schema public')
      const { rows } = await client.query<{ depth: number }>(DEPTH)
      return rows[0]?.depth ?? Number.NaN
    },
    close: () => client.end(),
  }
}

/** Redis counts no WAL that could be compared; CPU it has. */
export function redisMeter(pid: number): Meter {
  let before = cpuUs(pid, OWN)
  const since = () => cpuUs(pid, OWN) - before
  return {
    async begin() {
      before = cpuUs(pid, OWN)
    },
    settled: async () => {},
    costs: async (jobs) => ({ serverUs: since() / jobs }),
    pages: async () => Number.NaN,
    serverCpuUs: async () => since(),
    diskBytes: async () => Number.NaN,
    transactions: async () => Number.NaN,
    depth: async () => Number.NaN,
    close: async () => {},
  }
}

/** Both servers: `serverUs` is that of Redis, as it is without a ledger, and what the ledger costs comes besides. */
export async function ledgerMeter(redisPid: number, ledgerUrl: string): Promise<Meter> {
  const redis = redisMeter(redisPid)
  const ledger = await postgresMeter(ledgerUrl)
  return {
    ...ledger,
    async begin() {
      await Promise.all([redis.begin(), ledger.begin()])
    },
    async settled() {
      for (const fromMs = performance.now(); performance.now() - fromMs < FOLDED_WITHIN_MS; ) {
        const [part] = await query<{ isFolded: boolean }>(ledgerUrl, FOLDED)
        if (part?.isFolded === true) return
        await sleep(10)
      }
      throw new Error('the ledger is not folded: what it costs is not known')
    },
    async costs(jobs) {
      const { walBytes = Number.NaN, serverUs: ledgerUs = Number.NaN } = await ledger.costs(jobs)
      return { ...(await redis.costs(jobs)), ledgerUs, walBytes }
    },
    serverCpuUs: () => redis.serverCpuUs(),
  }
}

const FOLDED = `select bool_and(folded = seq) as "isFolded" from pawl.part`
const FOLDED_WITHIN_MS = 60_000

/** The embedded store has no server: its threads are in the worker's own CPU. */
export function fileMeter(path: string): Meter {
  const sizeOf = (file: string) => statSync(file, { throwIfNoEntry: false })?.size ?? 0
  return {
    begin: async () => {},
    settled: async () => {},
    costs: async () => ({}),
    pages: async () => Number.NaN,
    serverCpuUs: async () => 0,
    diskBytes: async () => sizeOf(path) + sizeOf(`${path}-wal`),
    transactions: async () => Number.NaN,
    depth: async () => Number.NaN,
    close: async () => {},
  }
}

/** Fields of /proc/<pid>/stat after the name: user and system time, own and of children that have ended. */
const OWN = [11, 12]
const OWN_AND_ENDED = [11, 12, 13, 14]

function treeCpuUs(root: number): number {
  const children = readFileSync(`/proc/${root}/task/${root}/children`, 'utf8').trim().split(' ').map(Number)
  return cpuUs(root, OWN_AND_ENDED) + children.reduce((sum, pid) => sum + cpuUs(pid, OWN), 0)
}

const parentOf = (pid: number) => Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

/** 0 where the process has gone. */
function cpuUs(pid: number, fields: readonly number[]): number {
  try {
    const all = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return fields.reduce((sum, field) => sum + Number(all[field]), 0) * TICK_US
  } catch {
    return 0
  }
}
