/** The composition root: from a URL to everything that belongs together, and back again when it is closed. */
import { hostname } from 'node:os'
import type { Job } from './core/job.ts'
import { admission, forgotten, type Judge } from './engine/admission.ts'
import { AuditLog } from './engine/audit.ts'
import { children } from './engine/children.ts'
import { Duty, type Notch } from './engine/duty.ts'
import type { Engine } from './engine/engine.ts'
import { LocalEngine } from './engine/local.ts'
import { mended } from './engine/mend.ts'
import { observer, observers } from './engine/observer.ts'
import { purged } from './engine/purge.ts'
import { retention } from './engine/retention.ts'
import { demandRetention } from './engine/retention-options.ts'
import { scheduler } from './engine/scheduler.ts'
import { SealedEngine } from './engine/sealed-engine.ts'
import { TICKER_DEFAULTS, ticker } from './engine/ticker.ts'
import { Upkeep } from './engine/upkeep.ts'
import { inTime } from './library/call.ts'
import { linksTo } from './library/dashboard-link.ts'
import { CallTimedOut } from './library/errors.ts'
import { harmlessHook, hookObserver } from './library/hooks.ts'
import { Pawl } from './library/pawl.ts'
import type { PawlParts } from './library/pawl-parts.ts'
import { logOf } from './manners.ts'
import type { OpenOnOptions, OpenOptions } from './open-options.ts'
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
import { realRandom } from './system/random.ts'
import type { Service } from './system/service.ts'
import { realTimers } from './system/timers.ts'
import type { KeeperAddress } from './worker/keeper-thread.ts'
import type { Surroundings } from './worker/worker.ts'

export type { OpenOnOptions, OpenOptions } from './open-options.ts'

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
  /** @internal How long its server may be silent before that is found out. */
  readonly silentMs?: number | undefined
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
  const { address, transaction, durability, lastDue, ledger, silentMs } = abilities
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
    silentMs,
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
