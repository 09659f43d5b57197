/** The Postgres store: opening it, and the port in terms of its parts. */

import { derive } from '../../core/evolve.ts'
import type { Job, Time } from '../../core/job.ts'
import type { Clock } from '../../system/clock.ts'
import type { Log } from '../../system/log.ts'
import type { Random } from '../../system/random.ts'
import type { Timers } from '../../system/timers.ts'
import { within } from '../../system/within.ts'
import type { Agenda } from '../agenda.ts'
import { EMPTY_PAGE } from '../empty-page.ts'
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
import { BundleEnds } from './bundle/bundle-ends.ts'
import { Bundles } from './bundle/bundles.ts'
import { Claims } from './claim/claims.ts'
import { KeptTime, type LastDue } from './clock/kept-time.ts'
import type { PostgresPool } from './connection/address.ts'
import { inCallers } from './connection/callers.ts'
import { CallersTransactions } from './connection/callers-transaction.ts'
import { Connection } from './connection/connection.ts'
import { Places } from './connection/places.ts'
import { statementsIn } from './connection/statements.ts'
import { type SystemOptions, systemOf } from './connection/system.ts'
import type { Address } from './connection/target.ts'
import { Transactions } from './connection/transactions.ts'
import { twoWays } from './connection/two-ways.ts'
import { type Ways, waysOf } from './connection/ways.ts'
import { Inserts } from './enqueue/insert.ts'
import type { Meeting } from './enqueue/insert-verdict.ts'
import { readySides } from './enqueue/ready-sides.ts'
import { feedEnd } from './feed/feed.ts'
import { Letting } from './flow/letting.ts'
import { keep, purge } from './keep/keeping.ts'
import { queuesWritten, settings } from './keep/settings.ts'
import { Tidying } from './keep/tidying.ts'
import { handedOut } from './lease/handed-out.ts'
import { Heartbeats } from './lease/heartbeats.ts'
import { Kinds, type Run } from './names/kinds.ts'
import { noticeRewinding } from './names/rewinding.ts'
import { Sides } from './names/sides.ts'
import { eventPage } from './read/event-page.ts'
import { find } from './read/find.ts'
import { type LoadParts, loadMet, whereabouts } from './read/load.ts'
import { Loads } from './read/loads.ts'
import { logOf } from './read/logs.ts'
import { prepareSchema } from './schema/prepare.ts'
import { STORE } from './schema/store.ts'
import { Commits } from './settle/commits.ts'
import { CallersCommits } from './waiting/callers-commits.ts'
import { Hints } from './waiting/hints.ts'
import { newsOf } from './waiting/news.ts'
import { Waiting } from './waiting/waiting.ts'

export interface PostgresOptions extends SystemOptions {
  readonly url: Address
  /** A pool of the application's, whose clients are borrowed instead of opening `url`. */
  readonly pool?: PostgresPool | undefined
  /** Pawl's own; `pawl` unless given. */
  readonly schema?: string | undefined
  /** Bring the schema up to date first. Otherwise an outdated one is refused, with the command to run. */
  readonly migrate?: boolean | undefined
  /** An address past a transaction pooler, for LISTEN. Without it a store behind one hears no hints from other processes. */
  readonly directUrl?: Address | undefined
  /** Connections at most, the one that listens included; 7 unless given, and not less. Transactions of handlers come besides. */
  readonly connections?: number | undefined
  /** Connections that stay open although they were not used for a while; 3 unless given. */
  readonly idleConnections?: number | undefined
}

/** The store, and transactions on it that a handler can take part in. */
export interface PostgresStore extends Store {
  lastDue(): Promise<LastDue>
  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T>
}

/** One for each kind of work, and one that listens. */
const CONNECTIONS = 7
const IDLE_CONNECTIONS = 3
/** Connections that nobody has used for so long are closed. A worker that waits uses two, besides the one that listens. */
const IDLE_MS = 5_000
/** How long a statement may take on which the server is seen at work; a search may take longer. */
const WORK_MS = 60_000
const READ_MS = 600_000
/** How long statements under way may take when the store is closed; then they are given up. */
const CLOSE_WITHIN_MS = 2_000

export async function openPostgresStore(options: PostgresOptions): Promise<PostgresStore> {
  const { schema = 'pawl', migrate = false } = options
  const system = systemOf(options)
  const ways = waysOf(options, system)
  try {
    await prepareSchema({ ...system, blueprint: STORE, route: ways.past, signal: options.signal }, schema, migrate)
  } catch (error) {
    await Promise.all([ways.route.close(), ways.past.close()])
    throw error
  }
  const { connections: most = CONNECTIONS, idleConnections: idle = IDLE_CONNECTIONS } = options
  return new Postgres({ ...system, ...ways, schema, most, idle })
}

interface PostgresParts extends Ways {
  readonly schema: string
  /** Connections, the one that listens included. */
  readonly most: number
  readonly idle: number
  readonly clock: Clock
  readonly timers: Timers
  readonly random: Random
  readonly log: Log
}

class Postgres implements PostgresStore {
  readonly #connections: Connection[] = []
  readonly #places: Places
  readonly #load: LoadParts
  readonly #loads: Loads
  readonly #callers: CallersTransactions
  readonly #callersCommits: CallersCommits
  /** Reads that may take long have a connection of their own, so that no other call waits behind them. */
  readonly #reads: LoadParts
  readonly #inserts: Inserts
  readonly #claims: Claims
  readonly #waiting: Waiting
  readonly #commits: Commits
  readonly #heartbeats: Heartbeats
  readonly #tidying: Tidying
  readonly #keptTime: KeptTime
  readonly #hints: Hints
  readonly #letting: Letting
  readonly #transactions: Transactions
  readonly #routes: readonly Ways['route'][]
  readonly #timers: Timers
  #now: Time = 0

  constructor({ route, past, looks, schema, clock, timers, random, log, most, idle }: PostgresParts) {
    const statements = statementsIn(schema)
    // The one that listens is not among them.
    const places = new Places({ clock, timers, most: most - 1, idle: Math.max(0, idle - 1), idleMs: IDLE_MS })
    this.#places = places
    const connection = (name: string, { workMs = WORK_MS, way = route, isSpare = false } = {}) => {
      const one = new Connection({ route: way, role: { name, pipeline: true, workMs }, places, isSpare, clock, timers })
      this.#connections.push(one)
      return one
    }
    const first = connection('looks', { way: looks, workMs: READ_MS })
    const second = connection('reads', { workMs: READ_MS })
    // Out of a pool, what is looked up has a way of its own, and is not read on.
    const { look: run, read } = looks === route ? twoWays(first, second) : { look: on(first), read: on(second) }
    const owners = connection('settles')
    const kinds = new Kinds(run, statements)
    const sides: Sides = new Sides({ run, statements, kinds, clock, hears: () => this.#hints.ownChannel !== undefined })
    const letting = new Letting({ run, statements, kinds, sides, log, hints: () => this.#hints })
    this.#letting = letting
    const sawClock = (now: number) => this.#sawClock(now)
    this.#load = { run, kinds, statements }
    this.#loads = new Loads(this.#load)
    this.#reads = { ...this.#load, run: read }
    this.#timers = timers
    this.#routes = [route, past]
    this.#transactions = new Transactions({ route: past, clock, timers })
    noticeRewinding({ routes: new Set([route, past, looks]), kinds, sides, flows: letting.flows, log })
    const heard = (payload: string) => this.#waiting.heard(payload)
    this.#hints = new Hints({ route: past, schema, run, statements, clock, timers, random, heard, sides })
    this.#callers = new CallersTransactions(statements.isOpen)
    this.#callersCommits = new CallersCommits({ run, statements, clock, timers, letting, hints: this.#hints })
    this.#inserts = new Inserts({
      keyless: [connection('enqueues'), connection('enqueues', { isSpare: true })],
      keyed: [connection('enqueues with keys'), connection('enqueues with keys', { isSpare: true })],
      kinds,
      letting,
      statements,
      sawClock,
      hints: this.#hints,
      timers,
      load: (met) => loadMet(this.#load, met),
    })
    const bundles = new Bundles()
    this.#claims = new Claims({
      connection: connection('claims'),
      kinds,
      sides,
      statements,
      clock,
      bundles,
      sawClock,
      beforeClaim: (id, attempt) => this.#beforeClaim(id, attempt),
      letting,
    })
    this.#waiting = new Waiting({
      claims: this.#claims,
      clock,
      timers,
      random,
      sawClock,
      ownChannel: () => this.#hints.ownChannel,
      deaf: () => this.#hints.deaf(),
      subscribe: (wake) => this.subscribe(wake),
    })
    this.#commits = new Commits({
      connections: [owners, connection('settles', { isSpare: true })],
      kinds,
      letting,
      statements,
      bundles,
      bundleEnds: new BundleEnds({ bundles, kinds, statements, sawClock }),
      sawClock,
      keep: (change, ask) => keep({ ...this.#load, letting, run: (text, values) => ask(text, () => values) }, change),
      purge: (jobs, ask) => purge({ ...this.#load, run: (text, values) => ask(text, () => values) }, jobs),
    })
    this.#heartbeats = new Heartbeats({ connection: owners, statements, sawClock })
    this.#tidying = new Tidying(this.#load, clock)
    this.#keptTime = new KeptTime(run, statements)
  }

  async insert(items: readonly NewJob[], tx?: Transaction, together = false): Promise<InsertAnswer> {
    if (tx !== undefined) {
      await this.#callers.mustBeOpen(tx)
      const { run, transaction } = inCallers(tx, this.#load.statements)
      const inside: LoadParts = { ...this.#load, run }
      const load = (met: readonly Meeting[]) => loadMet(inside, met)
      const answers = await this.#inserts.insertIn(items, run, load, together)
      const born = items.filter((_, i) => answers[i]?.status === 'inserted')
      const places = this.#letting.arrivals(born.map(({ job }) => job))
      this.#callersCommits.remember(transaction(), tx, { queues: readySides(born), jobs: [], places })
      return { items: answers, now: this.#now }
    }
    const answers = await (together ? this.#inserts.insertTogether(items) : this.#inserts.insert(items))
    return { items: answers, now: items.length === 0 ? await this.#readClock() : this.#now }
  }

  async load(items: readonly LoadItem[]): Promise<LoadAnswer> {
    const { items: found, now } = await this.#loads.load(items)
    const answered = items.some(({ flow }) => flow === true) ? await this.#letting.withLobbies(items, found) : found
    return { now: now === undefined ? await this.#readClock() : this.#sawClock(now), items: answered }
  }

  claim(grant: Grant): Promise<ClaimAnswer> {
    return (grant.waitMs ?? 0) > 0 ? this.#waiting.claim(grant) : this.#claims.claim(grant)
  }

  async commit(changes: readonly Change[], tx?: Transaction): Promise<CommitAnswer> {
    if (tx !== undefined) {
      await this.#callers.mustBeOpen(tx)
      const { run, transaction } = inCallers(tx, this.#load.statements)
      const verdicts = await this.#commits.commitIn(changes, (text, values) => run(text, values(false)))
      const places = this.#letting.afterwards(changes, verdicts)
      this.#callersCommits.remember(transaction(), tx, newsOf(changes, verdicts, places))
      return { verdicts, now: this.#now }
    }
    const verdicts = await this.#commits.commit(changes)
    await this.#letting.committed(changes, verdicts)
    this.#hints.news(newsOf(changes, verdicts))
    return { verdicts, now: changes.length === 0 ? await this.#readClock() : this.#now }
  }

  async heartbeat(beats: readonly Beat[]): Promise<BeatAnswer> {
    const { items, now } = await this.#heartbeats.heartbeat(beats)
    return { items, now: now ?? (await this.#readClock()) }
  }

  async due(limit: number, agenda: Agenda = 'ticks'): Promise<DueAnswer> {
    const jobs = await handedOut(this.#load, agenda, limit)
    if (agenda === 'judgements') return { now: await this.#readClock(), jobs }
    await this.#tidying.round(this.#now)
    const { now, setBackMs } = await this.#keptTime.keep()
    const more = await this.#letting.tick()
    return { now: this.#sawClock(now), jobs, more, setBackMs }
  }

  async lastDue(): Promise<LastDue> {
    const last = await this.#keptTime.last()
    return { ...last, now: this.#sawClock(last.now) }
  }

  async find(query: JobQuery): Promise<JobPage> {
    return { ...(await find(this.#reads, query)), now: await this.#readClock() }
  }

  async events(query: EventQuery): Promise<EventPage> {
    const page = await eventPage(this.#reads, query)
    const { now, purged } = await feedEnd(this.#reads)
    return { ...EMPTY_PAGE, purged, ...page, now: this.#sawClock(now) }
  }

  async settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]> {
    const { run, statements } = this.#load
    const answers = await settings(run, statements, operations, (now) => this.#sawClock(now))
    const written = queuesWritten(operations)
    if (written.length > 0) await this.#letting.tick()
    for (const [tenant, queue] of written) this.#hints.workAbreast(tenant, queue)
    return answers
  }

  subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable> {
    return this.#hints.subscribe(wake)
  }

  transaction<T>(work: (tx: Transaction) => Promise<T>): Promise<T> {
    return this.#transactions.run(work)
  }

  /** Calls under way have two seconds to end; then they fail. */
  async close(): Promise<void> {
    this.#places.close()
    for (const connection of this.#connections) connection.leave()
    this.#transactions.close()
    const parts = [this.#waiting, this.#inserts, this.#commits, this.#heartbeats, this.#hints, this.#loads]
    // What callers have committed is told of: where letting in is to look, and who hears of those that it lets in.
    const told = this.#callersCommits.close().then(() => this.#letting.close())
    const ended = told.then(() => Promise.all(parts.map((each) => each.close())))
    await within(this.#timers, CLOSE_WITHIN_MS, ended)
    await Promise.all(this.#connections.map((connection) => connection.close()))
    await Promise.all(this.#routes.map((route) => route.close()))
    await ended
  }

  async #readClock(): Promise<Time> {
    const [row] = await this.#load.run(this.#load.statements.clock, [])
    return this.#sawClock(Number(row?.[0]))
  }

  /** Never backwards, not by the little that a server's clock may be set back without the store's standing still. */
  #sawClock(now: Time): Time {
    if (now > this.#now) this.#now = now
    return this.#now
  }

  /** The record an attempt's claim was made on, from the log. */
  async #beforeClaim(id: number, attempt: number): Promise<Job> {
    const row = (await whereabouts(this.#load, [id])).get(id)
    if (row === undefined) throw new Error(`pawl: job ${id} was purged while it was owned`)
    const log = await logOf(this.#load, row)
    const claimed = log.findIndex((event) => event.type === 'claimed' && event.attempt === attempt)
    return derive(log.slice(0, claimed))
  }
}

const on =
  (connection: Connection): Run =>
  (text, values) =>
    connection.run(text, () => values)
