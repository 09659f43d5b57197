/**
 * Two Postgres servers, one of which follows the other: a commit is acknowledged when both have it on disk. The one that
 * leads can be lost, in several ways, and the other takes its place.
 */
import { spawnSync } from 'node:child_process'
import { appendFileSync, chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { eventually } from './eventually.ts'
import { postgresPrograms } from './postgres-programs.ts'
import { freePort, runToEnd, type ServerProcess, serverFolder, serverUser, startServer } from './server-process.ts'

export interface Replicated extends AsyncDisposable {
  /** Of both, for whoever looks for the one that takes writes. */
  readonly url: string
  /** Of the one that leads now. */
  readonly leader: string
  /** It is gone; or stands still, and whoever is connected hears nothing any more. The other leads when this resolves. */
  failover(how: 'kill' | 'freeze'): Promise<void>
  /** Whoever was lost follows the other from now on, and commits wait for it again. */
  rejoin(): Promise<void>
  stop(): Promise<void>
}

export async function startReplicated(): Promise<Replicated> {
  let leader = await Server.make()
  let follower = await Server.following(leader)
  const hosts = [leader, follower].map(({ port }) => `127.0.0.1:${port}`).join(',')
  const stop = async () => {
    for (const each of [follower, leader]) await each.stop()
  }
  return {
    url: `postgres://pawl@${hosts}/postgres`,
    get leader() {
      return leader.url
    },
    async failover(how) {
      if (how === 'kill') await leader.kill()
      else leader.freeze()
      await follower.query('select pg_promote(true, 60)')
      ;[leader, follower] = [follower, leader]
    },
    async rejoin() {
      await follower.stop()
      follower = await Server.following(leader, follower.port)
    },
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

class Server {
  readonly port: number
  readonly #folder: string
  #process: ServerProcess | undefined

  constructor(port: number, folder: string) {
    this.port = port
    this.#folder = folder
  }

  static async make(): Promise<Server> {
    const server = new Server(await freePort(), serverFolder('leader', serverUser()))
    const initdb = ['-D', server.#data, '-U', 'pawl', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']
    runToEnd(join(postgresPrograms(), 'initdb'), initdb, server.#folder, serverUser())
    await server.start()
    return server
  }

  /** A copy that follows. Commits of the other wait for it from then on. */
  static async following(leader: Server, port?: number): Promise<Server> {
    const server = new Server(port ?? (await freePort()), serverFolder('follower', serverUser()))
    await leader.copyTo(server)
    await server.start()
    await eventually('it to follow', async () => {
      const [row] = await leader.query(`select count(*)::int from pg_stat_replication where state = 'streaming'`)
      return row?.[0] === 1
    })
    await leader.query(`alter system set synchronous_standby_names = '*'`)
    await leader.query('select pg_reload_conf()')
    await eventually('commits to wait for it', async () => {
      const [row] = await leader.query(`select count(*)::int from pg_stat_replication where sync_state = 'sync'`)
      return row?.[0] === 1
    })
    return server
  }

  get url(): string {
    return `postgres://pawl@127.0.0.1:${this.port}/postgres`
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  async start(): Promise<void> {
    const settings = {
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 200,
      shared_buffers: '64MB',
      wal_keep_size: '512MB',
      synchronous_commit: 'on',
      wal_receiver_timeout: '5s',
      wal_sender_timeout: '5s',
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const program = join(postgresPrograms(), 'postgres')
    const server = startServer(program, ['-D', this.#data, ...flags], this.#folder, serverUser())
    this.#process = server
    const answers = () => server.exited() || this.query('select 1').then(() => true)
    await eventually('Postgres to answer', answers, { withinMs: 60_000 })
    if (server.exited()) throw new Error(`Postgres ended:\n${readFileSync(server.logFile, 'utf8').slice(-2_000)}`)
  }

  /** As it runs: the files, and the log that it sends to whoever follows. */
  async copyTo(other: Server): Promise<void> {
    const client = await this.#connect()
    try {
      await client.query(`select pg_backup_start('copy', true)`)
      // Files may go while they are copied, which tar takes for an error.
      const tar = `tar -C '${this.#folder}' --exclude=data/pg_wal/* --exclude=data/postmaster.* -cf - data | tar -C '${other.#folder}' -xf -`
      spawnSync('sh', ['-c', tar], { ...serverUser() })
      const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
      other.#write('backup_label', rows[0]?.labelfile ?? '')
    } finally {
      await client.end()
    }
    other.#write('standby.signal', '')
    // Whom others wait for is said by whoever leads, and not before somebody follows.
    appendFileSync(
      join(other.#data, 'postgresql.auto.conf'),
      `\nsynchronous_standby_names = ''\nprimary_conninfo = 'host=127.0.0.1 port=${this.port} user=pawl'\n`,
    )
  }

  async query(text: string): Promise<unknown[][]> {
    const client = await this.#connect()
    try {
      return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows
    } finally {
      await client.end()
    }
  }

  kill(): Promise<void> {
    return this.#process?.kill() ?? Promise.resolve()
  }

  freeze(): void {
    this.#process?.freeze()
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url, connectionTimeoutMillis: 5_000 })
    client.on('error', () => {})
    await client.connect()
    return client
  }

  #write(name: string, text: string): void {
    const file = join(this.#data, name)
    writeFileSync(file, text)
    const user = serverUser()
    if (user !== undefined) chownSync(file, user.uid, user.gid)
  }
}
