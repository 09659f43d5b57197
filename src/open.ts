/** The composition root: from a URL to everything that belongs together, and back again when it is closed. */
import type { BodyCodec } from './engine/body-codec.ts'
import { children } from './engine/children.ts'
import type { Engine } from './engine/engine.ts'
import { LocalEngine } from './engine/local.ts'
import type { Metrics } from './engine/metrics.ts'
import { observer, type Tracing } from './engine/observer.ts'
import { type RetentionOptions, retention } from './engine/retention.ts'
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
import type { Transactions } from './transactions.ts'
import type { KeeperAddress } from './worker/keeper-thread.ts'
import type { Surroundings } from './worker/worker.ts'

export interface OpenOptions {
  /** Postgres: bring pawl's schema up to date first. Otherwise an outdated one is refused, with the command to run. */
  readonly migrate?: boolean | undefined
  /** Postgres: pawl's own schema; `pawl` unless given. */
  readonly schema?: string | undefined
  /** Postgres: for hints, where the URL leads through a transaction pooler. */
  readonly directUrl?: string | undefined
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
  const store = await openStore(url, options)
  const transactions = isPostgres(url) ? await transactionsOn(options.directUrl ?? url) : undefined
  return assemble(store, options, { url, transactions })
}

/** Ticker and retention are the gateway's own business; so are the leases' clocks. */
async function remote(url: string, options: OpenOptions): Promise<Pawl> {
  const { HttpEngine } = await import('./client/client.ts')
  const { clock = realClock, random = realRandom, timers = realTimers, token } = options
  const { EncodedEngine } = await import('./client/encoded.ts')
  const plain = new HttpEngine({ url, token, clock, random, timers, log: options.log })
  const engine = options.codec === undefined ? plain : new EncodedEngine(plain, options.codec, random)
  return new Pawl({ ...shared(engine, options), surroundings: { clock, cell: sibling('cell') } })
}

/** What every Pawl has, wherever its engine is. */
function shared(engine: Engine, options: OpenOptions) {
  const { random = realRandom, timers = realTimers, tenant, actor, telemetry } = options
  const log = harmless(options.log ?? silentLog)
  return { engine: telemetry?.engine(engine) ?? engine, timers, ids: realIds(random), log, tenant, actor, telemetry }
}

/** What a store that was opened by its URL can do besides. */
export interface Origin {
  /** Opens the same store from another thread. */
  readonly url?: string | undefined
  readonly transactions?: Transactions | undefined
}

/** Everything on top of a store, which is closed with it. */
export function assemble(store: Store, options: OpenOptions = {}, { url, transactions }: Origin = {}): Pawl {
  const { clock = realClock, random = realRandom, timers = realTimers } = options
  const log = harmless(options.log ?? silentLog)
  const { metrics, tracing, codec } = options
  const watching = observer({ log: options.log, metrics, tracing })
  const engine = new LocalEngine({ store, clock, random, timers, observer: watching, codec, log })
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
    transaction: transactions && ((work) => transactions.run(work)),
  }
  const closing = transactions === undefined ? services : [...services, transactions]
  return new Pawl({ ...shared(engine, options), surroundings, services: closing })
}

/** A store that lives in this process's memory cannot be opened a second time. */
const isMemory = (url: string): boolean => url.startsWith('memory:')
const isHttp = (url: string): boolean => /^https?:/i.test(url)
const isPostgres = (url: string): boolean => /^postgres(ql)?:/i.test(url)

/** The driver is loaded only where it is needed. */
async function transactionsOn(url: string): Promise<Transactions | undefined> {
  const { transactionsOf } = await import('./transactions.ts')
  return transactionsOf(url)
}

const keeperThread = (url: string, { schema }: OpenOptions): KeeperAddress => ({
  entry: sibling('keeper'),
  store: { url, schema },
})

/** A module beside this one that a thread or a process starts with. */
const sibling = (name: string): URL =>
  new URL(`./${name}${import.meta.url.endsWith('.ts') ? '.ts' : '.js'}`, import.meta.url)

export async function openStore(url: string, options: OpenOptions = {}): Promise<Store> {
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url)?.[1]?.toLowerCase()
  switch (scheme) {
    case 'memory': {
      const { openMemoryStore } = await import('./store/memory/memory.ts')
      return openMemoryStore({ clock: options.clock ?? realClock })
    }
    case 'postgres':
    case 'postgresql': {
      const { openPostgresStore } = await import('./store/postgres/postgres.ts')
      const { migrate = false, schema, directUrl } = options
      return openPostgresStore({
        url,
        migrate,
        ...(schema === undefined ? {} : { schema }),
        ...(directUrl === undefined ? {} : { directUrl }),
      })
    }
    case undefined:
    case 'file': {
      const { openSqliteStore } = await import('./store/sqlite/sqlite.ts')
      return openSqliteStore({ path: scheme === undefined ? url : new URL(url).pathname })
    }
    default:
      throw new Error(`pawl: no store is known for ${scheme}: – memory:, a file path, postgres://… or http://… are`)
  }
}
