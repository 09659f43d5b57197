/** The composition root: from a URL to everything that belongs together, and back again when it is closed. */
import type { BodyCodec } from './engine/body-codec.ts'
import { LocalEngine } from './engine/local.ts'
import type { Metrics } from './engine/metrics.ts'
import { observer, type Tracing } from './engine/observer.ts'
import { type RetentionOptions, retention } from './engine/retention.ts'
import { type TickerOptions, ticker } from './engine/ticker.ts'
import { Pawl } from './pawl.ts'
import type { Store } from './store/store.ts'
import { type Clock, realClock } from './system/clock.ts'
import { realIds } from './system/ids.ts'
import { type Log, silentLog } from './system/log.ts'
import { type Random, realRandom } from './system/random.ts'
import { realTimers, type Timers } from './system/timers.ts'

export interface OpenOptions {
  /** Postgres: bring pawl's schema up to date first. Otherwise an outdated one is refused, with the command to run. */
  readonly migrate?: boolean | undefined
  /** Postgres: pawl's own schema; `pawl` unless given. */
  readonly schema?: string | undefined
  /** Postgres: for hints, where the URL leads through a transaction pooler. */
  readonly directUrl?: string | undefined
  readonly tenant?: string | undefined
  /** Who gives commands, unless a call says otherwise. */
  readonly actor?: string | undefined
  readonly log?: Log | undefined
  readonly metrics?: Metrics | undefined
  readonly tracing?: Tracing | undefined
  readonly codec?: BodyCodec | undefined
  /** False where another process does it. Without any ticker nobody notices an expired lease. */
  readonly ticker?: TickerOptions | false | undefined
  readonly retention?: RetentionOptions | false | undefined
  /** Time, randomness and waiting; tests bring their own. */
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
  readonly timers?: Timers | undefined
}

export const DEFAULT_URL = '.pawl/jobs.db'

/** `memory:`, a file, `postgres://…`. */
export async function open(url: string = DEFAULT_URL, options: OpenOptions = {}): Promise<Pawl> {
  return assemble(await openStore(url, options), options)
}

/** Everything on top of a store, which is closed with it. */
export function assemble(store: Store, options: OpenOptions = {}): Pawl {
  const { clock = realClock, random = realRandom, timers = realTimers, log = silentLog } = options
  const { metrics, tracing, codec, tenant, actor } = options
  const watching = observer({ log: options.log, metrics, tracing })
  const engine = new LocalEngine({ store, clock, random, timers, observer: watching, codec })
  const services = [
    options.ticker === false ? [] : ticker({ tick: (limit) => engine.tick(limit), timers, log }, options.ticker),
    options.retention === false ? [] : retention({ store, now: () => engine.now(), timers, log }, options.retention),
  ].flat()
  for (const each of services) each.start()
  return new Pawl({ engine, timers, ids: realIds(random), log, tenant, actor, services })
}

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
      throw new Error(`pawl: no store is known for ${scheme}: – memory:, a file path or postgres://… are`)
  }
}
