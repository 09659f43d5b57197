/** From a place to the store there. */
import { logOf, mannersOf } from './manners.ts'
import type { Opened, Where } from './open.ts'
import type { OpenOptions } from './open-options.ts'
import { openPostgres } from './open-postgres.ts'
import { openRedis } from './open-redis.ts'
import { realClock } from './system/clock.ts'

/** Drivers are loaded only where they are needed. */
export async function openStore(where: Where, options: OpenOptions = {}): Promise<Opened> {
  if (typeof where !== 'string') return openPostgres(where, options, mannersOf(options, logOf(options)))
  const url = where
  const scheme = /^([a-z][a-z0-9+.-]+):/i.exec(url)?.[1]?.toLowerCase()
  switch (scheme) {
    case 'memory': {
      const { openMemoryStore } = await import('./store/memory/memory.ts')
      return { store: openMemoryStore({ clock: options.clock ?? realClock, timers: options.timers }) }
    }
    case 'postgres':
    case 'postgresql':
      return openPostgres(url, options, mannersOf(options, logOf(options)))
    case 'redis':
    case 'rediss':
      return openRedis(url, options, mannersOf(options, logOf(options)))
    case undefined:
    case 'file': {
      const { openSqliteStore } = await import('./store/sqlite/sqlite.ts')
      const store = await openSqliteStore({ path: scheme === undefined ? url : new URL(url).pathname })
      return { store, address: { url } }
    }
    default:
      throw new Error(
        `pawl: no store is known for ${scheme}: – memory:, a file path, postgres://…, redis://… or http://… are`,
      )
  }
}
