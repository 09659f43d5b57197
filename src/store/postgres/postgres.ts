/** The Postgres store: opening it, and the port in terms of its parts. */
import { derive } from '../../core/evolve.ts'
import type { Job, Time } from '../../core/job.ts'
import { type Clock, realClock } from '../../system/clock.ts'
import { realTimers, type Timers } from '../../system/timers.ts'
import type {
  Beat,
  BeatAnswer,
  Change,
  ClaimAnswer,
  CommitAnswer,
  DueAnswer,
  EventPage,
  EventQuery,
  Grant,
  Hint,
  InsertAnswer,
  JobPage,
  JobQuery,
  LoadAnswer,
  LoadItem,
  NewJob,
  SettingAnswer,
  SettingOperation,
  Store,
  Transaction,
} from '../store.ts'
import { Claims } from './claims.ts'
import { Commits } from './commits.ts'
import { type Connect, Connection, connectWithPg, type Row } from './connection.ts'
import { Inserts } from './insert.ts'
import { Kinds, type Run } from './kinds.ts'
import { type LoadParts, load, loadWithInputs, logOf, whereabouts } from './load.ts'
import { prepareSchema } from './prepare.ts'
import { statementsIn } from './statements.ts'

export interface PostgresOptions {
  readonly url: string
  /** Pawl's own; `pawl` unless given. */
  readonly schema?: string
  /** Bring the schema up to date first. Otherwise an outdated one is refused, with the command to run. */
  readonly migrate?: boolean
  /** For LISTEN, where `url` leads through a transaction pooler. Without it there are no hints from other processes. */
  readonly directUrl?: string
  readonly connect?: Connect
  readonly clock?: Clock
  readonly timers?: Timers
  /** How long what passes by itself (a lost connection, a deadlock) is tried again. */
  readonly retryForMs?: number
}

const RETRY_FOR_MS = 30_000

export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const schema = options.schema ?? 'pawl'
  await prepareSchema(options.directUrl ?? options.url, schema, options.migrate ?? false)
  return new PostgresStore(options, schema)
}

class PostgresStore implements Store {
  readonly #reads: Connection
  readonly #owners: Connection
  readonly #claiming: Connection
  readonly #plain: Connection
  readonly #keyed: Connection
  readonly #load: LoadParts
  readonly #inserts: Inserts
  readonly #claims: Claims
  readonly #commits: Commits
  #now: Time = 0

  constructor(options: PostgresOptions, schema: string) {
    const { url, connect = connectWithPg, clock = realClock, timers = realTimers, retryForMs = RETRY_FOR_MS } = options
    const statements = statementsIn(schema)
    const connection = () => new Connection({ url, connect, clock, timers, retryForMs })
    this.#reads = connection()
    this.#owners = connection()
    this.#claiming = connection()
    this.#plain = connection()
    this.#keyed = connection()
    const run = on(this.#reads)
    const kinds = new Kinds(run, statements)
    this.#load = { run, kinds, statements }
    const sawClock = (now: number) => this.#sawClock(now)
    this.#inserts = new Inserts({
      plain: this.#plain,
      keyed: this.#keyed,
      kinds,
      statements,
      sawClock,
      load: (ids) => loadWithInputs(this.#load, ids),
    })
    const beforeClaim = (id: number, attempt: number) => this.#beforeClaim(id, attempt)
    this.#claims = new Claims({ connection: this.#claiming, kinds, statements, clock, sawClock, beforeClaim })
    this.#commits = new Commits({
      connection: this.#owners,
      kinds,
      statements,
      sawClock,
      other: () => {
        throw new Error('soon')
      },
    })
  }

  async insert(items: readonly NewJob[], tx?: Transaction): Promise<InsertAnswer> {
    if (tx === undefined) return { items: await this.#inserts.insert(items), now: this.#now }
    const run = within(tx)
    const inside: LoadParts = { ...this.#load, run }
    return { items: await this.#inserts.insertIn(items, run, (ids) => loadWithInputs(inside, ids)), now: this.#now }
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    const found = await load(this.#load, items)
    return { now: await this.#clock(), items: found }
  }

  claim(grant: Grant): Promise<ClaimAnswer> {
    return this.#claims.claim(grant)
  }

  async commit(changes: readonly Change[], tx?: Transaction): Promise<CommitAnswer> {
    if (tx === undefined) return { verdicts: await this.#commits.commit(changes), now: this.#now }
    const run = within(tx)
    const verdicts = await this.#commits.commitIn(changes, (text, values) => run(text, values(false)))
    return { verdicts, now: this.#now }
  }

  heartbeat(_beats: readonly Beat[]): Promise<BeatAnswer> {
    throw new Error('soon')
  }
  due(_limit: number): Promise<DueAnswer> {
    throw new Error('soon')
  }
  find(_query: JobQuery): Promise<JobPage> {
    throw new Error('soon')
  }
  events(_query: EventQuery): Promise<EventPage> {
    throw new Error('soon')
  }
  settings(_operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    throw new Error('soon')
  }
  subscribe(_wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    throw new Error('soon')
  }

  async close(): Promise<void> {
    await Promise.all([this.#inserts.close(), this.#commits.close()])
    const all = [this.#reads, this.#owners, this.#claiming, this.#plain, this.#keyed]
    await Promise.all(all.map((connection) => connection.close()))
  }

  async #clock(): Promise<Time> {
    const [row] = await this.#load.run(this.#load.statements.clock, [])
    return this.#sawClock(Number(row?.[0]))
  }

  /** Never backwards, whatever happens to the server's clock. */
  #sawClock(now: Time): Time {
    if (now > this.#now) this.#now = now
    return this.#now
  }

  /** The record an attempt's claim was made on, from the log. */
  async #beforeClaim(id: number, attempt: number): Promise<Job> {
    const row = (await whereabouts(this.#load, [id])).get(id)
    if (row === undefined) throw new Error(`pawl: job ${id} was purged while it was owned`)
    const log = await logOf(this.#load, row)
    return derive(
      log.slice(
        0,
        log.findIndex((event) => event.type === 'claimed' && event.attempt === attempt),
      ),
    )
  }
}

const on =
  (connection: Connection): Run =>
  (text, values) =>
    connection.run(text, () => values)

/** The caller's client may answer with objects: columns come in the order the statement names them. */
const within =
  (tx: Transaction): Run =>
  async (text, values) => {
    const { rows } = await tx.query(text, values)
    return rows.map((row) => Object.values(row as object).map(plainValue)) as Row[]
  }

function plainValue(value: unknown): Row[number] {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  return typeof value === 'bigint' ? Number(value) : JSON.stringify(value)
}
