/** Measures a phase: wall time, WAL written, CPU of the whole server and of this process. */
import { readFileSync } from 'node:fs'
import pg from 'pg'

export interface Figures {
  readonly perSecond: number
  readonly walBytes: number
  readonly serverUs: number
  readonly nodeUs: number
}

const TICK_US = 10_000

export class Meter implements AsyncDisposable {
  readonly url: string
  readonly #admin: pg.Client
  readonly #client: pg.Client

  private constructor(url: string, admin: pg.Client, client: pg.Client) {
    this.url = url
    this.#admin = admin
    this.#client = client
  }

  /** On a database of its own. */
  static async open(server: string): Promise<Meter> {
    const admin = new pg.Client({ connectionString: server })
    await admin.connect()
    const name = `bench_${process.hrtime.bigint()}`
    await admin.query(`create database ${name} template template0`)
    const url = new URL(server)
    url.pathname = `/${name}`
    const client = new pg.Client({ connectionString: url.href })
    await client.connect()
    return new Meter(url.href, admin, client)
  }

  query(text: string): Promise<pg.QueryResult> {
    return this.#client.query(text)
  }

  /** Tables freshly filled are analyzed for everybody, and nobody pays for another's dirty pages. */
  async settle(schema: string): Promise<void> {
    const { rows } = await this.#client.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = '${schema}'`,
    )
    for (const { name } of rows) await this.#client.query(`analyze ${name}`)
    await this.#client.query('checkpoint')
  }

  async measure(jobs: number, phase: () => Promise<void>): Promise<Figures> {
    const before = await this.#read()
    const node = process.cpuUsage()
    const started = performance.now()
    await phase()
    const ms = performance.now() - started
    const used = process.cpuUsage(node)
    const after = await this.#read()
    return {
      perSecond: (jobs / ms) * 1_000,
      walBytes: (after.wal - before.wal) / jobs,
      serverUs: ((after.ticks - before.ticks) * TICK_US) / jobs,
      nodeUs: (used.user + used.system) / jobs,
    }
  }

  async #read(): Promise<{ wal: number; ticks: number }> {
    const { rows } = await this.#client.query<{ wal: string; pid: number }>(
      `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::text as wal, pg_backend_pid() as pid`,
    )
    return { wal: Number(rows[0]?.wal), ticks: serverTicks(rows[0]?.pid ?? 0) }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const name = new URL(this.url).pathname.slice(1)
    await this.#client.end()
    await this.#admin.query(`drop database ${name} with (force)`)
    await this.#admin.end()
  }
}

/** User and system time of the whole server: the postmaster, its children, and the children it had. */
function serverTicks(backend: number): number {
  const parent = Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${backend}/status`, 'utf8'))?.[1])
  const children = readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8').trim().split(' ').map(Number)
  return ticksOf(parent, [11, 12, 13, 14]) + children.reduce((sum, pid) => sum + ticksOf(pid, [11, 12]), 0)
}

/** Fields of /proc/<pid>/stat after the name; 0 where the process has gone. */
function ticksOf(pid: number, fields: readonly number[]): number {
  try {
    const all = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return fields.reduce((sum, field) => sum + Number(all[field]), 0)
  } catch {
    return 0
  }
}
