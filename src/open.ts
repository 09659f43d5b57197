/** The composition root: from a URL to everything that belongs together, and back again when it is closed. */
import { hostname } from 'node:os'
import type { Duration } from './core/duration.ts'
import type { Job } from './core/job.ts'
import { admission, forgotten, type Judge } from './engine/admission.ts'
import { AuditLog } from './engine/audit.ts'
import type { BodyCodec } from './engine/body-codec.ts'
import { children } from './engine/children.ts'
import { Duty, type Notch } from './engine/duty.ts'
import type { Engine } from './engine/engine.ts'
import { LocalEngine } from './engine/local.ts'
import { mended } from './engine/mend.ts'
import type { Metrics } from './engine/metrics.ts'
import { observer, observers, type Tracing } from './engine/observer.ts'
import { purged } from './engine/purge.ts'
import { retention } from './engine/retention.ts'
import { demandRetention, type RetentionOptions } from './engine/retention-options.ts'
import { scheduler } from './engine/scheduler.ts'
import { SealedEngine } from './engine/sealed-engine.ts'
import { TICKER_DEFAULTS, type TickerOptions, ticker } from './engine/ticker.ts'
import { Upkeep } from './engine/upkeep.ts'
import { inTime } from './library/call.ts'
import { linksTo } from './library/dashboard-link.ts'
import { CallTimedOut } from './library/errors.ts'
import { type Hooks, harmlessHook, hookObserver } from './library/hooks.ts'
import { Pawl } from './library/pawl.ts'
import type { PawlParts } from './library/pawl-parts.ts'
import type { Telemetry } from './library/telemetry.ts'
import { logOf } from './manners.ts'
import { judgeIn } from './open-policy.ts'
import { openStore } from './open-store.ts'
import { demandKnown, demandSound } from './open-words.ts'
import type { PostgresConnection, PostgresPool } from './store/postgres/connection/address.ts'
import type { Store, Transaction } from './store/store.ts'
import { type Clock, realClock } from './system/clock.ts'
import type { Durability } from './system/durability.ts'
import { Bundled, entry } from './system/entry.ts'
import { realIds } from './system/ids.ts'
import type { Log } from './system/log.ts'
import type { LedgerDesk } from './system/meter.ts'
import { demandNode } from './system/node-version.ts'
import { type Random, realRandom } from './system/random.ts'
import type { Service } from './system/service.ts'
import { realTimers, type Timers } from './system/timers.ts'
import type { KeeperAddress } from './worker/keeper-thread.ts'
import type { Surroundings } from './worker/worker.ts'

/** What holds wherever the jobs are. */
export interface OpenOnOptions extends Hooks {
  /**
   * Postgres: connections at most, those that listen and keep leases included; not less than 8. Transactions of handlers (`ctx.tx`)
   * come besides.
   * @default 8
   */
  readonly connections?: number | undefined
  /**
   * Postgres: connections that stay open although nobody has used them for some seconds. A worker that waits for work uses 3.
   * @default 3
   */
  readonly idleConnections?: number | undefined
  /**
   * Whose jobs these are: new ones belong to it, and no call sees any other. Over HTTP the token says so.
   * @default `default` for new jobs; every tenant's are seen
   */
  readonly tenant?: string | undefined
  /**
   * Who enqueues and gives commands, unless a call says otherwise. Over HTTP the token says so.
   * @default `producer` for new jobs, `operator` for commands
   */
  readonly actor?: string | undefined
  /**
   * Where people see these jobs: `https://ops.example/jobs`. What hooks are told, and the warning of an attempt that failed, then
   * have a `link` to the job.
   * @default no links
   */
  readonly dashboardUrl?: string | undefined
  /**
   * Where lines go: warnings, errors, and one line per transition where the store is at hand; or `silent`.
   * @default warnings and errors on standard error, as JSON lines
   */
  readonly log?: Log | 'silent' | undefined
  /**
   * Numbers for whoever collects them. Over HTTP the gateway's process has them.
   * @default nobody counts
   */
  readonly metrics?: Metrics | undefined
  /**
   * Told of every transition that this process makes. Over HTTP the gateway's process makes them.
   * @default nobody is told
   */
  readonly tracing?: Tracing | undefined
  /**
   * What becomes of bodies on their way to the store and back: `aesGcm` encrypts them.
   * @default they are kept as they are
   */
  readonly codec?: BodyCodec | undefined
  /**
   * Spans and measures; `pawl/otel` has those of OpenTelemetry.
   * @default none
   */
  readonly telemetry?: Telemetry | undefined
  /**
   * Notices expired leases, passed deadlines and schedules that are due; `false` where another process does. Over HTTP the
   * gateway's process does.
   * @default runs in this process, looking once a second unless another does
   */
  readonly ticker?: TickerOptions | false | undefined
  /**
   * Removes what ended long ago; `false` where another process does, or nobody should. Over HTTP the gateway's process does.
   * @default runs in this process: succeeded jobs are kept for 7 days, others for 30
   */
  readonly retention?: RetentionOptions | false | undefined
  /**
   * What time it is; tests bring their own.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
  /**
   * Unguessable bits; tests bring their own.
   * @default the machine's generator
   */
  readonly random?: Random | undefined
  /**
   * Waiting; tests bring their own.
   * @default the machine's timers
   */
  readonly timers?: Timers | undefined
}

export interface OpenOptions extends OpenOnOptions {
  /**
   * How long opening may take, with everything that is waited for: a server that starts, another process that migrates. Then it rejects
   * with `CallTimedOut`.
   * @default no limit; a server that cannot be reached is an error within 10 s, a migration under way takes as long as it takes
   */
  readonly timeout?: Duration | undefined
  /**
   * Calls opening off: it rejects with the signal's reason. What was opened by then is closed.
   * @default nobody calls it off
   */
  readonly signal?: AbortSignal | undefined
  /**
   * Postgres, also as a ledger: bring pawl's schema up to date first. Otherwise an outdated one is refused, with the command to run.
   * @default false
   */
  readonly migrate?: boolean | undefined
  /**
   * Postgres, also as a ledger: pawl's own schema.
   * @default 'pawl'
   */
  readonly schema?: string | undefined
  /**
   * Postgres: a way to the server itself, for hints and for `ctx.tx`, where the URL leads through a transaction pooler.
   * @default the URL
   */
  readonly directUrl?: string | undefined
  /**
   * Redis: what the names of all keys begin with; another prefix is another installation. Also `?prefix=…` in the URL.
   * @default 'pawl'
   */
  readonly prefix?: string | undefined
  /**
   * Redis: `none` says that jobs may be lost. Otherwise a server that keeps nothing on disk, or evicts keys, is refused. Also
   * `?durability=none` in the URL.
   * @default what the server's own settings promise, which is said in the log, by `pawl doctor` and by `/readyz`
   */
  readonly durability?: 'none' | undefined
  /**
   * Redis: a ledger, `postgres://…`: all that Redis does is written through to it (docs/redis.md). Also `?ledger=…` in the URL.
   * @default none: what was answered is where Redis' own settings keep it
   */
  readonly ledger?: string | undefined
  /**
   * Redis with a ledger: whom an answer waits for. `redis`: the ledger follows (docs/redis.md). Also `?ack=…` in the URL.
   * @default 'ledger'
   */
  readonly ack?: 'ledger' | 'redis' | undefined
  /**
   * Postgres, Redis: how long a call is repeated while the server is away, before it fails as UNAVAILABLE.
   * @default '30s'
   */
  readonly retryFor?: Duration | undefined
  /**
   * Postgres: how long a statement may go unanswered before it is asked after, and its connections replaced where the
   * server is not at it. Redis: how long the server may be silent before the connection is replaced. Less than half of your
   * shortest lease.
   * @default '5s'
   */
  readonly answerWithin?: Duration | undefined
  /**
   * The folder of a policy (docs/policy.md): this process judges jobs that wait to be admitted, by it and by what their tenants have set
   * besides. One that is broken is refused. `settings:`: by what tenants have set alone. Over HTTP the gateway's process judges.
   * @default nobody judges here
   */
  readonly policy?: string | undefined
  /**
   * Beside a policy: the URL of a safety kernel (docs/policy.md), which is asked about every job that the rules would let in, and may
   * forbid it.
   * @default nobody else is asked
   */
  readonly kernel?: string | undefined
  /**
   * HTTP: the gateway's token.
   * @default none
   */
  readonly token?: string | undefined
}

export const DEFAULT_URL = '.pawl/jobs.db'

/**
 * Where the jobs are: `memory:`, a file, `postgres://…`, `redis://…`, with `?ledger=postgres://…` or without; `http://…`, a gateway that has one of these; or, in place of a
 * URL to Postgres, what `pg` takes to connect, or a `pg.Pool` that the application has.
 */
export type Where = string | { readonly connection: PostgresConnection } | { readonly pool: PostgresPool }

/** Opens the jobs at this place, with everything that belongs to them, until it is closed. */
export async function open(where: Where = DEFAULT_URL, options: OpenOptions = {}): Promise<Pawl> {
  demandNode()
  demandKnown(options)
  const { timers = realTimers } = options
  const came: Promise<Pawl>[] = []
  const opening = (signal: AbortSignal | undefined) => {
    const pawl = opened(where, { ...options, signal })
    came.push(pawl)
    return pawl
  }
  return inTime(timers, 'open', options, opening, notOpen).catch((error: unknown) => {
    // Should it open after all, nobody has it.
    for (const each of came) each.then((pawl) => pawl.close()).catch(() => {})
    throw error
  })
}

async function opened(where: Where, options: OpenOptions): Promise<Pawl> {
  if (typeof where === 'string' && isHttp(where)) return remote(where, options)
  if (options.kernel !== undefined && options.policy === undefined)
    throw new TypeError('kernel: a safety kernel is asked beside a policy, and none is named')
  demandRetention(options.retention)
  const judge = options.policy === undefined ? undefined : await judgeIn(options.policy, options, logOf(options))
  const { store, ...abilities } = await openStore(where, options)
  return openOn(store, options, { ...abilities, judge })
}

const notOpen = (waitedMs: number): Error =>
  new CallTimedOut('open', waitedMs, `pawl: it was not open after ${waitedMs} ms; the log says what was waited for.`)

/** Ticker and retention are the gateway's own business; so are the leases' clocks. */
async function remote(url: string, options: OpenOptions): Promise<Pawl> {
  const { HttpEngine } = await import('./client/client.ts')
  const { clock = realClock, random = realRandom, timers = realTimers, token } = options
  const engine = new HttpEngine({ url, token, clock, random, timers, log: logOf(options) })
  const { opened: _, ...parts } = shared(engine, options, { clock, cell: begun('cell') })
  return new Pawl({ ...parts, isRemote: true })
}

/** What every Pawl has, wherever its engine is. */
function shared(stored: Engine, options: OpenOnOptions, around: Surroundings) {
  const { random = realRandom, timers = realTimers, tenant, actor, telemetry, codec } = options
  const log = logOf(options)
  const sealed = codec && new SealedEngine(stored, codec, random)
  const engine = sealed ?? stored
  const surroundings: Surroundings = {
    ...around,
    // Whoever keeps leases for a worker has no key.
    heardCancel: sealed && ((job, cancel) => sealed.openedCancel(job, cancel)),
    onFailed: harmlessHook('onFailed', options.onFailed, log),
    sealed: codec !== undefined,
    linkTo: linksTo(options.dashboardUrl),
  }
  return {
    opened: (job: Job): Job => sealed?.openedJob(job) ?? job,
    engine: telemetry?.engine(engine) ?? engine,
    stored,
    surroundings,
    timers,
    ids: realIds(random),
    log,
    tenant,
    actor,
    telemetry,
  }
}

/** What a store can do besides what the port says. */
export interface Abilities {
  /**
   * Opens the same store from another thread, which then keeps the leases. Absent: the worker's own event loop does.
   * @internal
   */
  readonly address?: KeeperAddress['store'] | undefined
  /** Runs something in a transaction of its own that a handler can take part in. */
  readonly transaction?: (<T>(work: (tx: Transaction) => Promise<T>) => Promise<T>) | undefined
  /**
   * When `due` was last asked, by whichever process. Where it is present many processes may have the store: one of them does the upkeep.
   * @internal
   */
  readonly lastDue?: (() => Promise<Notch>) | undefined
  /**
   * What its server promises, where that is for its settings to say.
   * @internal
   */
  readonly durability?: Durability | undefined
  /** @internal Of a Redis with a ledger. */
  readonly ledger?: LedgerDesk | undefined
  /**
   * Says what becomes of jobs that wait to be admitted, by what is written in files and in this engine's settings.
   * @internal
   */
  readonly judge?: ((engine: Pick<Engine, 'settings'>) => Judge) | undefined
}

/** A store, and what comes with it. */
export interface Opened extends Abilities {
  readonly store: Store
}

/**
 * Opens the jobs in this store, which is closed with what is answered. For those who bring a store of their own: prove
 * it with `pawl/conformance` first.
 */
export function openOn(store: Store, options: OpenOnOptions = {}, abilities: Abilities = {}): Pawl {
  demandNode()
  demandSound(options)
  const { address, transaction, durability, lastDue, ledger } = abilities
  const { clock = realClock, random = realRandom, timers = realTimers } = options
  const { metrics, tracing } = options
  const log = logOf(options)
  // Each transition is a line in a log of one's own; standard error is only told what somebody should look at.
  const transitions = options.log === 'silent' ? undefined : options.log
  // The records that observers see are as they are stored; who reads them stands above the engine, which is yet to be made.
  let read: (job: Job) => Job = (job) => job
  const hooks = hookObserver(options, log, linksTo(options.dashboardUrl), (job) => read(job))
  const watching = observers(observer({ log: transitions, metrics, tracing }), hooks)
  const engine = new LocalEngine({ store, clock, random, timers, observer: watching, log })
  const services: Service[] = []
  const duty = lastDue && dutyOf(engine, lastDue, options)
  const upkeep = upkeepOf(engine, { clock, lastDue }, options)
  if (options.ticker !== false) {
    const tick = (limit: number) => engine.tick(limit)
    const looked = () => upkeep.looked()
    services.push(ticker({ tick, timers, log, duty, isOwner: () => engine.hasJobs, looked }, options.ticker))
    services.push(children({ engine, timers, log, duty }))
  }
  const judge = abilities.judge?.(engine)
  if (judge !== undefined) {
    services.push(admission({ admit: (by, limit) => engine.admit(by, limit), judge, timers, log }))
    const admitForgotten: LocalEngine['admitForgotten'] = (by, cursor) => engine.admitForgotten(by, cursor)
    services.push(forgotten({ admitForgotten, judge, timers, log }))
  }
  if (options.retention !== false) {
    services.push(retention({ store, engine, timers, log, random: lastDue && random }, options.retention))
  }
  const surroundings: Surroundings = {
    clock,
    cell: begun('cell'),
    keeperThread: address && keeperThread(address, log),
    transaction,
  }
  const { opened, ...parts } = shared(engine, options, surroundings)
  read = opened
  // Jobs of schedules are enqueued like any other, sealed where bodies are.
  if (options.ticker !== false) services.push(scheduler({ engine: parts.engine, timers, log, duty }))
  for (const each of services) each.start()
  const audit = new AuditLog(engine, { address: hostname(), agent: 'pawl' })
  const mend: PawlParts['mend'] = (...asked) => mended(engine, store, ...asked)
  return new Pawl({ ...parts, services, upkeep, durability, ledger, audit, mend, purge: (ids) => purged(store, ids) })
}

/** The ticker looks whether it is this process's; whoever belongs to it does as it says. */
function dutyOf(
  engine: LocalEngine,
  lastDue: () => Promise<Notch>,
  { ticker, random = realRandom }: OpenOnOptions,
): Duty {
  return new Duty({ lastNotch: () => engine.heard(lastDue), random, everyMs: paceOf(ticker) })
}

const paceOf = (ticker: OpenOnOptions['ticker']): number =>
  (ticker === false ? undefined : ticker?.everyMs) ?? TICKER_DEFAULTS.everyMs

const upkeepOf = (
  engine: LocalEngine,
  { clock, lastDue }: { readonly clock: Clock; readonly lastDue: Abilities['lastDue'] },
  { ticker }: OpenOnOptions,
): Upkeep =>
  new Upkeep({
    clock,
    everyMs: paceOf(ticker),
    lastNotch: lastDue && (() => engine.heard(lastDue)),
    hasTicker: ticker !== false,
  })

const isHttp = (url: string): boolean => /^https?:/i.test(url)

/** Where it has no module to begin with, the worker's own loop keeps leases. */
function keeperThread(store: KeeperAddress['store'], log: Log): KeeperAddress | undefined {
  const tell = (reason: string) =>
    log.warn('leases are kept by the event loop of the worker: what blocks it for long loses them', { reason })
  const module = begun('keeper', tell)
  return module && { entry: module, store }
}

/** A module that a thread or a process begins with; undefined where a bundler has left it behind. */
function begun(module: 'cell' | 'keeper', tell: (reason: string) => void = () => {}): URL | undefined {
  try {
    return entry(import.meta.url, 'open', module)
  } catch (error) {
    if (!(error instanceof Bundled)) throw error
    tell(error.message)
    return undefined
  }
}
