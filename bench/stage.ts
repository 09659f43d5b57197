/** What a scenario plays on: an empty store for one contender, a meter on its server, and processes for the parts. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { inDatabase } from '../test/support/postgres.ts'
import { type Contender, type Crowd, nowMs, type Purpose, type Role } from './contender.ts'
import { CONTENDERS, type ContenderName } from './contenders.ts'
import { Actor } from './crew.ts'
import { fileMeter, ledgerMeter, type Meter, postgresMeter, redisMeter } from './meter.ts'
import type { BulkOrder, Timed, WorkOrder } from './orders.ts'
import { DidNotFinish, type Figures } from './scenario.ts'
import { query, type Servers, tellRedis } from './servers.ts'
import type { Size } from './size.ts'
import { within } from './within.ts'

/** How long a cell may take, and how few jobs say nothing. */
export type Bounds = Pick<Size, 'cellMs' | 'least'>

export interface DrainOptions {
  /** Jobs handled per process before the clock starts. */
  readonly warm?: number | undefined
  /** Where the workers connect to, unless it is the store itself. */
  readonly url?: string | undefined
  readonly processes?: number | undefined
  /** More jobs are there than are waited for. */
  readonly endless?: boolean | undefined
  /** Counts the pages looked at, too. */
  readonly pages?: boolean | undefined
  /** What is said about the jobs besides how many they are, and about what their handlers do. */
  readonly bulk?: Partial<BulkOrder> | undefined
  readonly work?: Partial<WorkOrder> | undefined
  /** Of big jobs, fewer than which would be too few. */
  readonly least?: number | undefined
  /** Of each process. */
  readonly crowd?: Crowd | undefined
  /** What the workers go through. Its CPU is counted with theirs, and by itself. */
  readonly gateway?: Actor | undefined
}

interface ConnectOptions {
  readonly url?: string | undefined
  readonly purpose?: Purpose | undefined
  readonly crowd?: Crowd | undefined
}

export class Stage implements AsyncDisposable {
  readonly name: ContenderName
  readonly contender: Contender
  readonly url: string
  readonly meter: Meter
  readonly servers: Servers
  readonly bounds: Bounds
  readonly #actors: Actor[] = []
  readonly #clean: () => Promise<void>

  private constructor(
    parts: Pick<Stage, 'name' | 'contender' | 'url' | 'meter' | 'servers' | 'bounds'>,
    clean: () => Promise<void>,
  ) {
    this.name = parts.name
    this.contender = parts.contender
    this.url = parts.url
    this.meter = parts.meter
    this.servers = parts.servers
    this.bounds = parts.bounds
    this.#clean = clean
  }

  /** An empty store, or a copy of the one that `template` names. */
  static async set(servers: Servers, name: ContenderName, bounds: Bounds, template?: string): Promise<Stage> {
    const contender = await CONTENDERS[name]()
    if (contender.store !== 'postgres') {
      const stage = await Stage.#on(servers, name, contender, bounds)
      await stage.#prepare()
      return stage
    }
    return Stage.#on(
      servers,
      name,
      contender,
      bounds,
      template ?? (await Stage.#prepared(servers, name, contender, bounds)),
    )
  }

  /** Each schema is made once, and copied for each cell. */
  static async #prepared(servers: Servers, name: ContenderName, contender: Contender, bounds: Bounds): Promise<string> {
    const known = servers.prepared.get(name)
    if (known !== undefined) return known
    const stage = await Stage.#on(servers, name, contender, bounds)
    await stage.#prepare()
    const made = await stage.keep()
    servers.prepared.set(name, made)
    return made
  }

  static async #on(servers: Servers, name: ContenderName, contender: Contender, bounds: Bounds, template?: string) {
    const { url, meter, clean } = await ground(servers, contender.store, template)
    return new Stage({ name, contender, url, meter, servers, bounds }, clean)
  }

  async #prepare(): Promise<void> {
    await using actor = new Actor(this.name)
    await actor.ask({ op: 'prepare', url: this.url })
  }

  /** The slow ones get fewer. */
  jobs(count: number, least = this.bounds.least): number {
    return Math.max(least, Math.ceil((count * this.contender.share) / least) * least)
  }

  actor(): Actor {
    return this.#join(new Actor(this.name))
  }

  async connected(role: Role, { url = this.url, purpose, crowd }: ConnectOptions = {}): Promise<Actor> {
    return this.#join(await Actor.connected(this.name, url, role, purpose, crowd))
  }

  /** The same contender on an empty store: what is measured here is compared with what is measured there. */
  empty(): Promise<Stage> {
    return Stage.set(this.servers, this.name, this.bounds)
  }

  /** Fills the store outside of what is measured. Tables freshly filled are analyzed for everybody. */
  async fill(count: number, bulk: Partial<BulkOrder> = {}): Promise<readonly string[]> {
    await using producer = await Actor.connected(this.name, this.url, 'producer')
    const { names } = await this.inTime(producer.ask({ ...bulk, op: 'bulk', count }))
    if (this.contender.store === 'postgres') await query(this.url, 'analyze')
    await this.meter.settled()
    return names
  }

  /** Fills the store and drains it: so many jobs to get warm with in each process, and so many that count. */
  async fillAndDrain(size: Pick<Size, 'warm' | 'jobs'>, options: DrainOptions = {}): Promise<Figures> {
    const warm = this.jobs(size.warm, options.least)
    const count = this.jobs(size.jobs, options.least)
    await this.fill(warm * (options.processes ?? 1) + count, options.bulk)
    return this.drain(count, { ...options, warm })
  }

  /** What takes longer than a cell may has not finished. */
  async inTime<T>(work: Promise<T>): Promise<T> {
    if (!(await within(this.bounds.cellMs, work))) throw new DidNotFinish({})
    return work
  }

  /** From when the workers are warm to the last outcome written. */
  async drain(count: number, options: DrainOptions = {}): Promise<Figures> {
    const { url = this.url, processes = 1, endless = false, gateway, pages = false, crowd } = options
    const pagesBefore = pages ? await this.meter.pages() : 0
    const workers = await Promise.all(Array.from({ length: processes }, () => this.connected('worker', { url, crowd })))
    const counted = gateway === undefined ? workers : [gateway, ...workers]
    const started = () => workers.reduce((sum, worker) => sum + worker.started, 0)
    const orderedMs = nowMs()
    await Promise.all(workers.map((worker) => worker.ask({ purpose: 'throughput', ...options.work, op: 'work' })))
    const until = async (wanted: number) => {
      while (started() < wanted) {
        if (nowMs() - orderedMs > this.bounds.cellMs)
          throw new DidNotFinish({ perSecond: rate(started(), nowMs() - orderedMs) })
        await sleep(3)
      }
    }
    const warm = processes * (options.warm ?? 0)
    await until(warm)
    const [before, fromMs] = [started(), nowMs()]
    await Promise.all([this.meter.begin(), ...counted.map((each) => each.mark())])
    await until(warm + count)
    let toMs = nowMs()
    if (!endless) {
      const settling = Promise.all(workers.map((worker) => worker.ask({ op: 'settled' })))
      if (!(await within(this.bounds.cellMs, settling)))
        throw new DidNotFinish({ perSecond: rate(count, nowMs() - orderedMs) })
      toMs = Math.max(...(await settling).map((each) => each.toMs))
    }
    const all = endless ? started() : warm + count
    await this.meter.settled()
    const done = Math.max(1, all - before)
    const used = await Promise.all(counted.map((each) => each.usage()))
    const costs = await this.meter.costs(done)
    if (pages) await Promise.all(workers.map((worker) => worker[Symbol.asyncDispose]()))
    return {
      perSecond: rate(done, toMs - fromMs),
      ...costs,
      ...(pages && { pages: ((await this.meter.pages()) - pagesBefore) / all }),
      nodeUs: used.reduce((sum, { cpuUs }) => sum + cpuUs, 0) / done,
      ...(gateway !== undefined && { gatewayUs: (used[0]?.cpuUs ?? 0) / done }),
      heapMb: Math.max(...used.map(({ heapBytes }) => heapBytes)) / 2 ** 20,
    }
  }

  /** Works until so many handlers have started, and what they did is written down. */
  async shift(worker: Actor, work: Partial<WorkOrder>, count: number): Promise<Timed> {
    const before = worker.started
    const { fromMs } = await worker.ask({ purpose: 'throughput', ...work, op: 'work' })
    await this.started(worker, before + count)
    const { toMs } = await this.inTime(worker.ask({ op: 'settled' }))
    return { count, fromMs, toMs }
  }

  /** Until a worker has started so many handlers. */
  async started(worker: Actor, count: number): Promise<void> {
    const fromMs = nowMs()
    while (worker.started < count) {
      if (nowMs() - fromMs > this.bounds.cellMs) throw new DidNotFinish({})
      await sleep(3)
    }
  }

  /** Everybody leaves, the database stays: others are made after it. */
  async keep(): Promise<string> {
    await this.#leave()
    await query(this.url, 'vacuum analyze')
    return new URL(this.url).pathname.slice(1)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leave()
    await this.#clean()
  }

  async #leave(): Promise<void> {
    await Promise.all(this.#actors.map((actor) => actor[Symbol.asyncDispose]()))
    await this.meter.close()
  }

  #join(actor: Actor): Actor {
    this.#actors.push(actor)
    return actor
  }
}

export const rate = (count: number, ms: number): number => (count / ms) * 1_000

interface Ground {
  readonly url: string
  readonly meter: Meter
  readonly clean: () => Promise<void>
}

async function ground(servers: Servers, store: Contender['store'], template?: string): Promise<Ground> {
  if (store === 'redis') {
    const { url, pid } = await emptyRedis(servers)
    return { url, meter: redisMeter(pid), clean: async () => {} }
  }
  if (store === 'redis+ledger') return withLedger(servers)
  if (store === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'pawl-bench-'))
    const url = join(folder, 'jobs.db')
    return { url, meter: fileMeter(url), clean: async () => rmSync(folder, { recursive: true, force: true }) }
  }
  const { url, clean } = await database(servers, template)
  return { url, meter: await postgresMeter(url), clean }
}

async function emptyRedis({ redis }: Servers): Promise<NonNullable<Servers['redis']>> {
  if (redis === undefined) throw new Error('this run has no Redis')
  await tellRedis(redis.url, 'FLUSHALL')
  return redis
}

async function withLedger(servers: Servers): Promise<Ground> {
  const redis = await emptyRedis(servers)
  const { url, clean } = await database(servers)
  const meter = await ledgerMeter(redis.pid, url)
  return { url: `${redis.url}?ledger=${encodeURIComponent(url)}`, meter, clean }
}

async function database(servers: Servers, template?: string): Promise<Omit<Ground, 'meter'>> {
  const name = `bench_${randomBytes(6).toString('hex')}`
  // Copied through the log: after a checkpoint the first change to each page would log the page as a whole, and draining
  // a copied backlog would cost more than draining one that was filled here.
  await query(
    servers.postgresUrl,
    'checkpoint',
    `create database ${name} template ${template ?? 'template0'} strategy wal_log`,
  )
  const url = inDatabase(servers.postgresUrl, name)
  const clean = async () => void (await query(servers.postgresUrl, `drop database ${name} with (force)`))
  return { url, clean }
}
