/** The composition root: from a URL to everything that belongs together, and back again when it is closed. */
import type { Duration } from './core/duration.ts'
import { AuditLog } from './engine/audit.ts'
import type { BodyCodec } from './engine/body-codec.ts'
import { children } from './engine/children.ts'
import type { Engine } from './engine/engine.ts'
import { LocalEngine } from './engine/local.ts'
import type { Metrics } from './engine/metrics.ts'
import { observer, type Tracing } from './engine/observer.ts'
import { type RetentionOptions, retention } from './engine/retention.ts'
import { SealedEngine } from './engine/sealed-engine.ts'
import { type TickerOptions, ticker } from './engine/ticker.ts'
import { Pawl } from './pawl.ts'
import type { Store } from './store/store.ts'
import { type Clock, realClock } from './system/clock.ts'
import { realIds } from './system/ids.ts'
import { harmless, type Log, silentLog } from './system/log.ts'
import { withoutPretenuring } from './system/pretenuring.ts'
import { type Random, realRandom } from './system/random.ts'
import type { Service } from './system/service.ts'
import { realTimers, type Timers } from './system/timers.ts'
import type { Telemetry } from './telemetry.ts'
import type { KeeperAddress } from './worker/keeper-thread.ts'
import type { Surroundings } from './worker/worker.ts'
import { milliseconds } from './worker/worker-options.ts'

export interface OpenOptions {
  /** Postgres: bring pawl's schema up to date first. Otherwise an outdated one is refused, with the command to run. */
  readonly migrate?: boolean | undefined
  /** Postgres: pawl's own schema; `pawl` unless given. */
  readonly schema?: string | undefined
  /** Postgres: for hints, where the URL leads through a transaction pooler. */
  readonly directUrl?: string | undefined
  /** Postgres: how long a call is repeated while the server is away, before it fails as UNAVAILABLE; 30s unless given. */
  readonly retryFor?: Duration | undefined
  /**
   * Postgres: how long a statement may go unanswered before it is asked after, and its connections replaced where the
   * server is not at it; 5s unless given. Less than half of your shortest lease.
   */
  readonly answerWithin?: Duration | undefined
  readonly tenant?: string | undefined
  /** A gateway's token. */
  readonly token?: string | undefined
  /** Who gives commands, unless a call says otherwise. */
  readonly actor?: string | undefined
  readonly log?: Log | undefined
  readonly metrics?: Metrics | undefined
  readonly tracing?: Tracing | undefined
  readonly codec?: BodyCodec | undefined
  /** Spans and measures; `pawl/otel` has those of OpenTelemetry. */
  readonly telemetry?: Telemetry | undefined
  /** False where another process does it. Without any ticker nobody notices an expired lease. */
  readonly ticker?: TickerOptions | false | undefined
  readonly retention?: RetentionOptions | false | undefined
  /** `keep`: V8 goes on guessing which objects will live long, which it gets wrong for jobs (`system/pretenuring.ts`). */
  readonly pretenuring?: 'keep' | undefined
  /** Time, randomness and waiting; tests bring their own. */
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly timers?: Timers | undefined
}

export const DEFAULT_URL = '.pawl/jobs.db'

/** `memory:`, a file, `postgres://…`; or `http://…`, a gateway that has one of these. */
export async function open(url: string = DEFAULT_URL, options: OpenOptions = {}): Promise<Pawl> {
  if (options.pretenuring !== 'keep') withoutPretenuring()
  if (isHttp(url)) return remote(url, options)
  const { store, transaction } = await openStore(url, options)
  return assemble(store, options, { url, transaction })
}

/** Ticker and retention are the gateway's own business; so are the leases' clocks. */
async function remote(url: string, options: OpenOptions): Promise<Pawl> {
  const { HttpEngine } = await import('./client/client.ts')
  const { clock = realClock, random = realRandom, timers = realTimers, token } = options
  const engine = new HttpEngine({ url, token, clock, random, timers, log: options.log })
  return new Pawl(shared(engine, options, { clock, cell: sibling('cell') }))
}

/** What every Pawl has, wherever its engine is. */
function shared(stored: Engine, options: OpenOptions, around: Surroundings) {
  const { random = realRandom, timers = realTimers, tenant, actor, telemetry, codec } = options
  const sealed = codec && new SealedEngine(stored, codec, random)
  const engine = sealed ?? stored
  const surroundings: Surroundings = {
    ...around,
    // Whoever keeps leases for a worker has no key.
    heardCancel: sealed && ((job, cancel) => sealed.openedCancel(job, cancel)),
  }
  return {
    engine: telemetry?.engine(engine) ?? engine,
    stored,
    surroundings,
    timers,
    ids: realIds(random),
    log: harmless(options.log ?? silentLog),
    tenant,
    actor,
    telemetry,
  }
}

/** What a store that was opened by its URL can do besides. */
export interface Origin {
  /** Opens the same store from another thread. */
  readonly url?: string | undefined
  /** Runs something in a transaction of its own that a handler can take part in. */
  readonly transaction?: Surroundings['transaction']
}

/** Everything on top of a store, which is closed with it. */
export function assemble(store: Store, options: OpenOptions = {}, { url, transaction }: Origin = {}): Pawl {
  const { clock = realClock, random = realRandom, timers = realTimers } = options
  const log = harmless(options.log ?? silentLog)
  const { metrics, tracing } = options
  const watching = observer({ log: options.log, metrics, tracing })
  const engine = new LocalEngine({ store, clock, random, timers, observer: watching, log })
  const services: Service[] = []
  if (options.ticker !== false) {
    services.push(ticker({ tick: (limit) => engine.tick(limit), timers, log }, options.ticker))
    services.push(children({ engine, timers, log }))
  }
  if (options.retention !== false) {
    services.push(retention({ store, timers, log }, options.retention))
  }
  for (const each of services) each.start()
  const surroundings: Surroundings = {
    clock,
    cell: sibling('cell'),
    keeperThread: url === undefined || isMemory(url) ? undefined : keeperThread(url, options),
    transaction,
  }
  return new Pawl({ ...shared(engine, options, surroundings), services, audit: new AuditLog(engine) })
}

/** A store that lives in this process's memory cannot be opened a second time. */
const isMemory = (url: string): boolean => url.startsWith('memory:')
const isHttp = (url: string): boolean => /^https?:/i.test(url)

const keeperThread = (url: string, { schema, answerWithin }: OpenOptions): KeeperAddress => ({
  entry: sibling('keeper'),
  store: { url, schema, answerWithin },
})

/** A module beside this one that a thread or a process starts with. */
const sibling = (name: string): URL =>
  new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

/** A store, and what comes with it. */
export interface Opened extends Pick<Origin, 'transaction'> {
  readonly store: Store
}

/** Drivers are loaded only where they are needed. */
export async function openStore(url: string, options: OpenOptions = {}): Promise<Opened> {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url)?.[1]?.toLowerCase()
  switch (scheme) {
    case 'memory': {
      const { openMemoryStore } = await import('./store/memory/memory.ts')
      return { store: openMemoryStore({ clock: options.clock ?? realClock }) }
    }
    case 'postgres':
    case 'postgresql': {
      const { openPostgresStore } = await import('./store/postgres/postgres.ts')
      const { migrate, schema, directUrl } = options
      const log = options.log && harmless(options.log)
      const store = await openPostgresStore({ url, migrate, schema, directUrl, log, ...patienceOf(options) })
      return { store, transaction: (work) => store.transaction(work) }
    }
    case undefined:
    case 'file': {
      const { openSqliteStore } = await import('./store/sqlite/sqlite.ts')
      return { store: await openSqliteStore({ path: scheme === undefined ? url : new URL(url).pathname }) }
    }
    default:
      throw new Error(`pawl: no store is known for ${scheme}: – memory:, a file path, postgres://… or http://… are`)
  }
}

function patienceOf({ retryFor, answerWithin }: OpenOptions) {
  return {
    retryForMs: retryFor === undefined ? undefined : milliseconds('retryFor', retryFor),
    answerWithinMs: answerWithin === undefined ? undefined : milliseconds('answerWithin', answerWithin),
  }
}
