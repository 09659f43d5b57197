import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { pgbouncerBinary } from './debian.ts'
import { eventually } from './eventually.ts'
import { freePort, serverFolder, serverUser, startServer } from './server-process.ts'

/** Debian's pooler, in transaction mode unless told otherwise, as people run it in front of their Postgres. */
export interface Pooler extends AsyncDisposable {
  /** The same database as the given url, through the pooler. */
  readonly url: string
  stop(): Promise<void>
}

export interface PoolerOptions {
  /** Whom a backend belongs to, for how long. */
  readonly mode?: 'transaction' | 'session'
  /** Backends that all clients share. */
  readonly size?: number
}

export async function startPgbouncer(postgresUrl: string, options: PoolerOptions = {}): Promise<Pooler> {
  const binary = pgbouncerBinary()
  const user = serverUser()
  const folder = serverFolder('pgbouncer', user)
  const config = join(folder, 'pgbouncer.ini')
  const port = await freePort()
  writeFileSync(config, configuration(new URL(postgresUrl), port, options), { mode: 0o644 })
  const server = startServer(binary, [config], folder, user)
  const stop = async () => {
    await server.stop('SIGINT')
    rmSync(folder, { recursive: true, force: true })
  }
  const url = new URL(postgresUrl)
  url.hostname = '127.0.0.1'
  url.port = String(port)
  try {
    await eventually('pgbouncer to answer', () => server.exited() || answers(url.href))
    if (server.exited()) throw new Error(`pgbouncer ended at once:\n${readFileSync(server.logFile, 'utf8')}`)
  } catch (error) {
    await stop()
    throw error
  }
  return { url: url.href, stop, [Symbol.asyncDispose]: stop }
}

function configuration(target: URL, port: number, { mode = 'transaction', size = 20 }: PoolerOptions): string {
  const password = target.password === '' ? '' : ` password=${decodeURIComponent(target.password)}`
  const host = `host=${target.hostname} port=${target.port || '5432'} user=${decodeURIComponent(target.username)}${password}`
  return `[databases]
* = ${host}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
max_client_conn = 1000
default_pool_size = ${size}
server_round_robin = 1
ignore_startup_parameters = extra_float_digits
`
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('select 1')
    return true
  } finally {
    await client.end().catch(() => {})
  }
}
