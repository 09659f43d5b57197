/**
 * Two Postgres servers that Debian's patroni looks after, with etcd to say who leads: who fails is found out, and the
 * other promoted, without anybody's help. A commit is acknowledged when both have it.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { etcdBinary, patroniBinary, postgresBinaries } from './debian.ts'
import { eventually } from './eventually.ts'
import { freePort, killTree, type ServerProcess, serverFolder, serverUser, startServer } from './server-process.ts'

export interface Patroni extends AsyncDisposable {
  readonly url: string
  /** The one that leads loses its power; resolves when the other leads. */
  failover(): Promise<void>
  /** It is set up anew and follows; resolves when commits wait for it. */
  rejoin(): Promise<void>
}

const WITHIN_MS = 120_000

export async function startPatroni(): Promise<Patroni> {
  const etcd = await startEtcd()
  const nodes = [await Node.start('a', etcd.url), await Node.start('b', etcd.url)] as const
  const leading = () =>
    eventually('somebody to lead', () => first(nodes, (node) => node.is('primary')), { withinMs: WITHIN_MS })
  const followed = () =>
    eventually('commits to wait for a second', () => first(nodes, (node) => node.is('sync')), { withinMs: WITHIN_MS })
  await leading()
  await followed()
  let lost: Node | undefined
  return {
    url: `postgres://pawl@${nodes.map(({ port }) => `127.0.0.1:${port}`).join(',')}/postgres`,
    async failover() {
      lost = await leading()
      await lost.kill()
      await eventually('the other to lead', () => first(nodes, (node) => node !== lost && node.is('primary')), {
        withinMs: WITHIN_MS,
      })
    },
    async rejoin() {
      await lost?.startAnew()
      await followed()
    },
    async [Symbol.asyncDispose]() {
      for (const node of nodes) await node.remove()
      await etcd.stop()
    },
  }
}

async function first(
  nodes: readonly Node[],
  fits: (node: Node) => Promise<boolean> | false,
): Promise<Node | undefined> {
  for (const node of nodes) if (await fits(node)) return node
  return undefined
}

async function startEtcd(): Promise<{ readonly url: string; stop(): Promise<void> }> {
  const folder = serverFolder('etcd', serverUser())
  const url = `http://127.0.0.1:${await freePort()}`
  const peer = `http://127.0.0.1:${await freePort()}`
  const flags = {
    'data-dir': join(folder, 'data'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peer,
    'initial-advertise-peer-urls': peer,
    'initial-cluster': `default=${peer}`,
  }
  const args = Object.entries(flags).map(([name, value]) => `--${name}=${value}`)
  const server = startServer(etcdBinary(), args, folder, serverUser())
  await eventually('etcd to answer', async () => (await fetch(`${url}/health`)).ok)
  return {
    url,
    async stop() {
      await server.stop('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

class Node {
  readonly port: number
  readonly #folder: string
  readonly #rest: string
  #process: ServerProcess | undefined

  constructor(port: number, rest: string, folder: string) {
    this.port = port
    this.#rest = rest
    this.#folder = folder
  }

  static async start(name: string, etcd: string): Promise<Node> {
    const folder = serverFolder('patroni', serverUser())
    const rest = `127.0.0.1:${await freePort()}`
    const node = new Node(await freePort(), rest, folder)
    writeFileSync(join(folder, 'patroni.yml'), JSON.stringify(node.#configuration(name, etcd)), { mode: 0o644 })
    node.#start()
    return node
  }

  /** As patroni says of it: `primary`, or `sync` where it follows and commits wait for it. */
  async is(role: 'primary' | 'sync'): Promise<boolean> {
    return await fetch(`http://${this.#rest}/${role}`).then(
      ({ ok }) => ok,
      () => false,
    )
  }

  /** Patroni and what it looks after, at once. */
  async kill(): Promise<void> {
    await this.#process?.kill()
    const file = join(this.#data, 'postmaster.pid')
    if (existsSync(file)) await killTree(Number(readFileSync(file, 'utf8').split('\n', 1)[0]))
  }

  async startAnew(): Promise<void> {
    rmSync(this.#data, { recursive: true, force: true })
    this.#start()
  }

  async remove(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  #start(): void {
    mkdirSync(this.#folder, { recursive: true })
    this.#process = startServer(patroniBinary(), [join(this.#folder, 'patroni.yml')], this.#folder, serverUser())
  }

  /** JSON is YAML. As quick as patroni lets it be. */
  #configuration(name: string, etcd: string): object {
    const address = `127.0.0.1:${this.port}`
    const trust = ['local all all trust', 'host all all 127.0.0.1/32 trust', 'host replication all 127.0.0.1/32 trust']
    return {
      scope: 'pawl',
      name,
      restapi: { listen: this.#rest, connect_address: this.#rest },
      etcd3: { host: etcd.replace('http://', '') },
      bootstrap: {
        dcs: { ttl: 20, loop_wait: 2, retry_timeout: 3, synchronous_mode: true },
        initdb: [{ encoding: 'UTF8' }, { locale: 'C' }, { auth: 'trust' }],
        pg_hba: trust,
      },
      postgresql: {
        listen: address,
        connect_address: address,
        data_dir: this.#data,
        bin_dir: postgresBinaries(),
        pgpass: join(this.#folder, 'pgpass'),
        pg_hba: trust,
        authentication: { superuser: { username: 'pawl' }, replication: { username: 'replicator' } },
        parameters: { unix_socket_directories: this.#folder, max_connections: 200, synchronous_commit: 'on' },
      },
    }
  }
}
