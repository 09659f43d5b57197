import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { eventually } from './eventually.ts'
import { postgresPrograms } from './postgres-programs.ts'
import { freePort, runToEnd, type ServerProcess, serverFolder, serverUser, startServer } from './server-process.ts'

/** A cluster of one's own, to be killed and restarted at will. */
export interface PostgresServer extends AsyncDisposable {
  /** Of its database `postgres`, as its superuser. The same after every restart. */
  readonly url: string
  /** SIGKILL to the postmaster and all its backends. */
  kill(): Promise<void>
  /** After `kill` (recovers from its log) or while running (stops first). */
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface PostgresOptions {
  /** `-c name=value` for the server. Durability is on and stays on unless a test says otherwise here. */
  readonly settings?: Readonly<Record<string, string>>
  /** The folder of `initdb` and `postgres`, for a version of one's own choosing. */
  readonly programs?: string
}

export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const programs = options.programs ?? postgresPrograms()
  const user = serverUser()
  const folder = serverFolder('postgres', user)
  const data = join(folder, 'data')
  const initdb = ['-D', data, '-U', 'pawl', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync', '--no-instructions']
  runToEnd(join(programs, 'initdb'), initdb, folder, user)
  const start = (port: number) =>
    startServer(join(programs, 'postgres'), ['-D', data, ...flags(port, options)], folder, user)

  const { port, server } = await firstStart(start)
  const url = urlOf(port)
  let current = server
  const stop = async () => {
    await current.stop('SIGINT')
    rmSync(folder, { recursive: true, force: true })
  }
  return {
    url,
    kill: () => current.kill(),
    async restart() {
      await current.stop('SIGINT')
      current = start(port)
      await untilReady(url, current)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** A database of its own on a server that the whole run shares. */
export interface FreshDatabase extends AsyncDisposable {
  readonly url: string
  drop(): Promise<void>
}

export async function freshDatabase(template = 'template0'): Promise<FreshDatabase> {
  const admin = await sharedPostgresUrl()
  const name = `pawl_test_${randomBytes(6).toString('hex')}`
  const create = async () => {
    await query(admin, `create database ${name} template ${template}`)
    return true
  }
  // Postgres refuses while somebody else is copying the same template; a moment later it does not.
  await eventually('a new database', create, { withinMs: 10_000 })
  const drop = () => query(admin, `drop database if exists ${name} with (force)`)
  return { url: inDatabase(admin, name), drop, [Symbol.asyncDispose]: drop }
}

/** `PAWL_TEST_POSTGRES_URL`; or the run's own cluster, started when the first test asks for it. */
export async function sharedPostgresUrl(): Promise<string> {
  const given = process.env['PAWL_TEST_POSTGRES_URL']
  if (given !== undefined && given !== '') return given
  const servers = process.env['PAWL_TEST_SERVERS']
  if (servers === undefined) {
    own ??= startPostgres()
    return (await own).url
  }
  const answer = await fetch(`${servers}/postgres`)
  const text = await answer.text()
  if (!answer.ok) throw new Error(text)
  return text
}

/** Outside vitest: one per process, which takes it along when it ends. */
let own: Promise<PostgresServer> | undefined

export async function stopOwnPostgres(): Promise<void> {
  const server = await own
  own = undefined
  await server?.stop()
}

export function inDatabase(url: string, name: string): string {
  const changed = new URL(url)
  changed.pathname = `/${name}`
  return changed.href
}

const PORTS_TRIED = 5

async function firstStart(start: (port: number) => ServerProcess): Promise<{ port: number; server: ServerProcess }> {
  let cause: unknown
  for (let n = 0; n < PORTS_TRIED; n += 1) {
    const port = await freePort()
    const server = start(port)
    try {
      await untilReady(urlOf(port), server)
      return { port, server }
    } catch (error) {
      cause = error
      await server.kill()
    }
  }
  throw new Error('Postgres does not start', { cause })
}

function flags(port: number, options: PostgresOptions): string[] {
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    max_connections: '400',
    shared_buffers: '256MB',
    max_wal_size: '2GB',
    log_checkpoints: 'off',
    ...options.settings,
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
}

async function untilReady(url: string, server: ServerProcess): Promise<void> {
  const ready = eventually('Postgres to answer', () => server.exited() || query(url, 'select 1').then(() => true), {
    withinMs: 60_000,
    everyMs: 20,
  })
  await ready.catch((error: unknown) => {
    throw new Error(`Postgres does not answer:\n${tail(server)}`, { cause: error })
  })
  if (server.exited()) throw new Error(`Postgres ended at once:\n${tail(server)}`)
}

const tail = (server: ServerProcess) => readFileSync(server.logFile, 'utf8').slice(-2000)

const urlOf = (port: number) => `postgres://pawl@127.0.0.1:${port}/postgres`

async function query(url: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query(text)
  } finally {
    await client.end().catch(() => {})
  }
}
