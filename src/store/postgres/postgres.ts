/** The Postgres store: opening it, and the port in terms of its parts. */
import { unreachable } from '../../core/assert.ts'
import { derive } from '../../core/evolve.ts'
import { idNumber } from '../../core/id.ts'
import type { Job, Time } from '../../core/job.ts'
import { isNews } from '../../core/news.ts'
import { type Clock, realClock } from '../../system/clock.ts'
import { type Random, realRandom } from '../../system/random.ts'
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
import { Bundles } from './bundles.ts'
import { Claims } from './claims.ts'
import { Commits } from './commits.ts'
import { type Connect, Connection, connectWithPg, type Row } from './connection.ts'
import { annotationsOf, eventsByCorrelation, eventsByType, eventsOfJob } from './events.ts'
import { feedAfter, feedEnd, placeEntries, tallies } from './feed.ts'
import { find } from './find.ts'
import { Heartbeats } from './heartbeats.ts'
import { Hints } from './hints.ts'
import { Inserts } from './insert.ts'
import { keep, purge } from './keeping.ts'
import { Kinds, type Run } from './kinds.ts'
import { type LoadParts, load, loadWithInputs, logOf, placed, whereabouts } from './load.ts'
import { prepareSchema } from './prepare.ts'
import { recordOf } from './records.ts'
import { queuesWritten, settings } from './settings.ts'
import { Standing } from './standing.ts'
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
  readonly random?: Random
  /** How long what passes by itself (a lost connection, a deadlock) is tried again. */
  readonly retryForMs?: number
}

const RETRY_FOR_MS = 30_000

export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const schema = options.schema ?? 'pawl'
  await prepareSchema(options.directUrl ?? options.url, schema, options.migrate ?? false)
  return new PostgresStore(options, schema)
}

const FEED_KEPT_MS = 3 * 86_400_000
const TIDY_EVERY_MS = 1_000
const TIDY_ROUNDS = 5
const TRIM_EVERY_MS = 60_000

class PostgresStore implements Store {
  readonly claimsStand = true
  readonly #connections: readonly Connection[]
  readonly #load: LoadParts
  readonly #inserts: Inserts
  readonly #claims: Claims
  readonly #commits: Commits
  readonly #heartbeats: Heartbeats
  readonly #ticks: Run
  readonly #hints: Hints
  readonly #clock: Clock
  #now: Time = 0
  #tidyAt = 0
  #trimAt = 0

  constructor(options: PostgresOptions, schema: string) {
    const { url, connect = connectWithPg, clock = realClock, timers = realTimers, retryForMs = RETRY_FOR_MS } = options
    const statements = statementsIn(schema)
    const opened: Connection[] = []
    const connection = () => {
      const one = new Connection({ url, connect, clock, timers, retryForMs })
      opened.push(one)
      return one
    }
    const run = on(connection())
    const owners = connection()
    const kinds = new Kinds(run, statements)
    const sawClock = (now: number) => this.#sawClock(now)
    this.#connections = opened
    this.#clock = clock
    this.#load = { run, kinds, statements }
    const standing = new Standing({ clock, sawClock, tell: (queue) => this.#hints.given(queue) })
    const listenUrl = options.directUrl ?? url
    this.#hints = new Hints({
      url: listenUrl,
      schema,
      run,
      statements,
      clock,
      timers,
      random: options.random ?? realRandom,
      heard: (payload) => standing.heard(payload),
    })
    this.#inserts = new Inserts({
      plain: [connection(), connection()],
      keyed: connection(),
      kinds,
      statements,
      sawClock,
      hints: this.#hints,
      load: (ids) => loadWithInputs(this.#load, ids),
    })
    const beforeClaim = (id: number, attempt: number) => this.#beforeClaim(id, attempt)
    const bundles = new Bundles()
    const ownChannel = () => this.#hints.ownChannel
    this.#claims = new Claims({
      connection: connection(),
      kinds,
      statements,
      clock,
      standing,
      bundles,
      ownChannel,
      deaf: () => this.#hints.deaf(),
      sawClock,
      beforeClaim,
    })
    this.#commits = new Commits({
      connections: [owners, connection()],
      kinds,
      statements,
      bundles,
      sawClock,
      keep: (change, ask) => keep({ ...this.#load, run: (text, values) => ask(text, () => values) }, change),
      purge: (jobs, ask) => purge({ ...this.#load, run: (text, values) => ask(text, () => values) }, jobs),
    })
    this.#heartbeats = new Heartbeats({ connection: owners, statements, sawClock })
    this.#ticks = run
  }

  async insert(items: readonly NewJob[], tx?: Transaction): Promise<InsertAnswer> {
    if (tx !== undefined) {
      const run = within(tx)
      const inside: LoadParts = { ...this.#load, run }
      return { items: await this.#inserts.insertIn(items, run, (ids) => loadWithInputs(inside, ids)), now: this.#now }
    }
    const answers = await this.#inserts.insert(items)
    return { items: answers, now: items.length === 0 ? await this.#readClock() : this.#now }
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    const found = await load(this.#load, items)
    return { now: await this.#readClock(), items: found }
  }

  claim(grant: Grant): Promise<ClaimAnswer> {
    return this.#claims.claim(grant)
  }

  async commit(changes: readonly Change[], tx?: Transaction): Promise<CommitAnswer> {
    if (tx !== undefined) {
      const run = within(tx)
      const verdicts = await this.#commits.commitIn(changes, (text, values) => run(text, values(false)))
      return { verdicts, now: this.#now }
    }
    const verdicts = await this.#commits.commit(changes)
    for (let i = 0; i < changes.length; i += 1) {
      const change = changes[i] as Change
      if (change.kind !== 'move' || verdicts[i]?.status !== 'applied') continue
      const { before, after, notAfter, spawn } = change
      if (isNews(before, after, notAfter !== undefined)) this.#hints.job(idNumber(after.id) ?? 0)
      this.#announce(after)
      if (spawn !== undefined) this.#announce(spawn.job)
    }
    return { verdicts, now: changes.length === 0 ? await this.#readClock() : this.#now }
  }

  async heartbeat(beats: readonly Beat[]): Promise<BeatAnswer> {
    const { items, now } = await this.#heartbeats.heartbeat(beats)
    return { items, now: now ?? (await this.#readClock()) }
  }

  async due(limit: number): Promise<DueAnswer> {
    const { kinds, statements } = this.#load
    const rows = limit <= 0 ? [] : await this.#ticks(statements.due, [limit])
    const found = await placed(kinds, rows)
    await this.#tidy()
    return { now: await this.#readClock(), jobs: [...found.values()].map(recordOf) }
  }

  async find(query: JobQuery): Promise<JobPage> {
    const page = await find(this.#load, query)
    return { now: await this.#readClock(), ...page }
  }

  async events(query: EventQuery): Promise<EventPage> {
    const page = await this.#events(query)
    const { now, purged } = await feedEnd(this.#load)
    return { ...NO_EVENTS, purged, ...page, now: this.#sawClock(now) }
  }

  async settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    const { run, statements } = this.#load
    const answers = await settings(run, statements, operations, (now) => this.#sawClock(now))
    for (const [tenant, queue] of queuesWritten(operations)) this.#hints.work([{ tenant, queue }], 1)
    return answers
  }

  subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    return this.#hints.subscribe(wake)
  }

  async close(): Promise<void> {
    for (const connection of this.#connections) connection.leave()
    await Promise.all([this.#inserts.close(), this.#commits.close(), this.#heartbeats.close(), this.#hints.close()])
    await Promise.all(this.#connections.map((connection) => connection.close()))
  }

  async #events(query: EventQuery): Promise<Partial<EventPage>> {
    const parts = this.#load
    switch (query.by) {
      case 'job':
        return eventsOfJob(parts, query.id, query.afterRev, query.limit)
      case 'annotation':
        return { annotations: await annotationsOf(parts, query.id) }
      case 'type':
        return eventsByType(parts, query)
      case 'correlation':
        return eventsByCorrelation(parts, query)
      case 'feed':
        await placeEntries(parts)
        return query.after === undefined
          ? { cursor: (await feedEnd(parts)).cursor }
          : feedAfter(parts, query.after, query.limit)
      case 'tally': {
        await placeEntries(parts, { patient: true })
        const { cursor } = await feedEnd(parts)
        return { tally: await tallies(parts), cursor }
      }
      default:
        return unreachable(query)
    }
  }

  /** What may be claimed some day is work for its queue. Inserts tell themselves. */
  #announce(job: Job): void {
    if (job.readyAt !== undefined) this.#hints.work([job.spec.kind], 1)
  }

  /** Whoever ticks also keeps the feed's end near and its beginning short. */
  async #tidy(): Promise<void> {
    const nowMs = this.#clock.monotonicMs()
    if (nowMs < this.#tidyAt) return
    this.#tidyAt = nowMs + TIDY_EVERY_MS
    await placeEntries(this.#load, { rounds: TIDY_ROUNDS })
    if (nowMs < this.#trimAt) return
    this.#trimAt = nowMs + TRIM_EVERY_MS
    await this.#load.run(this.#load.statements.trimFeed, [this.#now - FEED_KEPT_MS, 10_000])
  }

  async #readClock(): Promise<Time> {
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

const NO_EVENTS = { events: [], annotations: [], feed: [], tally: [], cursor: undefined }

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
