/** The servers of a run, private to it: Postgres and Redis as the machine has them, with durability on. */
import { rmSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { natsBinary, pgbouncerBinary, redisBinary } from '../test/support/debian.ts'
import { type PostgresServer, startPostgres } from '../test/support/postgres.ts'
import { ofMachine, postgresPrograms } from '../test/support/postgres-programs.ts'
import { freePort, type ServerProcess, serverFolder, serverUser, startServer } from '../test/support/server-process.ts'
import { type ContenderName, PEERS } from './contenders.ts'
import type { Play } from './options.ts'

/** Big enough that no checkpoint falls into one contender's minute and not into another's; the same for everybody. */
const SETTINGS = {
  shared_buffers: '1GB',
  // A hundred workers with eight connections each, and whoever else is there.
  max_connections: '1000',
  max_wal_size: '16GB',
  min_wal_size: '2GB',
  checkpoint_timeout: '1h',
  random_page_cost: '1.1',
}

export interface Servers extends AsyncDisposable {
  readonly postgresUrl: string
  /** Where somebody who plays needs it. */
  readonly redis: { readonly url: string; readonly pid: number } | undefined
  readonly nats: { readonly url: string } | undefined
  /** Databases with nothing but a contender's schema, by contender. */
  readonly prepared: Map<string, string>
}

/** The machine's own first: results are kept, and Debian's has been measured before. */
export const postgresMeasured = (): string => ofMachine() ?? postgresPrograms()

/** Finds the servers of a plan, and installs them first where they are missing and we may. */
export function installServers(plan: readonly Play[]): void {
  postgresMeasured()
  if (needsRedis(plan)) redisProgram()
  if (plan.some(({ scenario }) => scenario.name === 'pgbouncer')) pgbouncerBinary()
  if (needsNats(plan)) natsBinary()
}

const ON_REDIS: readonly ContenderName[] = ['bullmq-redis', 'pawl-redis', 'pawl-redis-ledger']

const needsRedis = (plan: readonly Play[]): boolean =>
  plan.some(({ contenders }) => contenders.some((name) => ON_REDIS.includes(name)))

const needsNats = (plan: readonly Play[]): boolean => plan.some(({ scenario }) => /^bus\b/.test(scenario.name))

/** `warm`: its log has been written to, as that of a server that has run for a while. */
export async function startServers(plan: readonly Play[], warm = true): Promise<Servers> {
  const redis = needsRedis(plan) ? await startRedis() : undefined
  const nats = needsNats(plan) ? await startNats() : undefined
  const postgres: PostgresServer = await startPostgres({ settings: SETTINGS, programs: postgresMeasured() })
  if (warm) await fillLog(postgres.url)
  return {
    postgresUrl: postgres.url,
    redis: redis && { url: redis.url, pid: redis.server.pid },
    nats: nats && { url: nats.url },
    prepared: new Map(),
    async [Symbol.asyncDispose]() {
      await redis?.stop()
      await nats?.stop()
      await postgres.stop()
    },
  }
}

/**
 * Files of the log are made once and used again; whoever came first paid for making them: graphile-worker enqueued
 * 80,000 jobs/s on a fresh server and 91,000/s right after.
 */
async function fillLog(url: string): Promise<void> {
  const filled = `create table filler as select repeat(md5(n::text), 30) as text from generate_series(1, 1500000) n`
  await query(url, filled, 'drop table filler', 'checkpoint')
}

/** With JetStream, as it comes: what it has said it has is in its files. */
async function startNats(): Promise<{ url: string; stop(): Promise<void> }> {
  const user = serverUser()
  const folder = serverFolder('nats', user)
  const port = await freePort()
  const server = startServer(
    natsBinary(),
    ['-js', '-sd', join(folder, 'kept'), '-a', '127.0.0.1', '-p', `${port}`],
    folder,
    user,
  )
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (tries > 200 || server.exited()) throw new Error(`NATS does not start; see ${server.logFile}`)
    await sleep(25)
  }
  const stop = async () => {
    await server.stop('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
  return { url: `nats://127.0.0.1:${port}`, stop }
}

async function startRedis(): Promise<{ url: string; server: ServerProcess; stop(): Promise<void> }> {
  const user = serverUser()
  const folder = serverFolder('redis', user)
  const port = await freePort()
  const settings = ['--port', `${port}`, '--bind', '127.0.0.1', '--save', '', '--dir', folder, '--daemonize', 'no']
  const durable = ['--appendonly', 'yes', '--appendfsync', 'everysec', '--maxmemory-policy', 'noeviction']
  const server = startServer(redisProgram(), [...settings, ...durable], folder, user)
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (tries > 200 || server.exited()) throw new Error(`Redis does not start; see ${server.logFile}`)
    await sleep(25)
  }
  const stop = async () => {
    await server.stop('SIGTERM')
    rmSync(folder, { recursive: true, force: true })
  }
  return { url: `redis://127.0.0.1:${port}`, server, stop }
}

function redisProgram(): string {
  try {
    return redisBinary()
  } catch (error) {
    const others = PEERS.filter((name) => name !== 'bullmq-redis').join(',')
    throw new Error(`${String(error)} Or measure beside the others: --peers ${others}`, { cause: error })
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Says one word to Redis, in its own inline protocol. */
export function tellRedis(url: string, word: string): Promise<void> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(`${word}\r\n`))
    socket.once('data', () => {
      socket.destroy()
      resolve()
    })
    socket.once('error', reject)
  })
}

export async function query<Row>(url: string, ...texts: readonly string[]): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    let rows: Row[] = []
    for (const text of texts) rows = (await client.query(text)).rows as Row[]
    return rows
  } finally {
    await client.end()
  }
}
