/** From `postgres://…`, or what stands for it, to a store, and what comes with it. */
import type { Manners } from './manners.ts'
import type { Abilities, Opened, Where } from './open.ts'
import type { OpenOptions } from './open-options.ts'

export async function openPostgres(where: Where, options: OpenOptions, manners: Manners): Promise<Opened> {
  const { openPostgresStore } = await import('./store/postgres/postgres.ts')
  const { ANSWER_WITHIN_MS } = await import('./store/postgres/connection/system.ts')
  const { migrate, schema, directUrl } = options
  const own = {
    ...addressOf(where),
    migrate,
    schema,
    directUrl,
    ...manners,
    ...roomOf(options),
  }
  const store = await openPostgresStore(own)
  return {
    store,
    address: reopenable(where, options),
    silentMs: manners.answerWithinMs ?? ANSWER_WITHIN_MS,
    transaction: (work) => store.transaction(work),
    lastDue: () => store.lastDue(),
  }
}

/** What another thread can open as well: a pool is this thread's, and so is a function that knows the password. */
function reopenable(where: Where, { schema, answerWithin }: OpenOptions): Abilities['address'] {
  if (typeof where === 'string') return { url: where, schema, answerWithin }
  if ('pool' in where) return undefined
  try {
    return { url: structuredClone(where), schema, answerWithin }
  } catch {
    return undefined
  }
}

/** Whoever calls from JavaScript may hand over the pool, or its options, as they are. */
function addressOf(where: Where) {
  if (typeof where === 'string') return { url: where }
  if ('pool' in where) return { url: {}, pool: where.pool }
  if ('connection' in where) return { url: where.connection }
  throw new TypeError('open: a URL, { connection } with what pg takes, or { pool } with a pg.Pool is expected')
}

/** One of them is for the thread that keeps leases, which has a store of its own. */
function roomOf({ connections, idleConnections }: OpenOptions) {
  if (connections !== undefined && !(Number.isInteger(connections) && connections >= CONNECTIONS_LEAST))
    throw new TypeError(
      `connections: a whole number, not less than ${CONNECTIONS_LEAST}: each kind of work has one of its own, and nothing waits behind something else; not ${String(connections)}`,
    )
  if (idleConnections !== undefined && !(Number.isInteger(idleConnections) && idleConnections >= 0))
    throw new TypeError(`idleConnections: a whole number, not ${String(idleConnections)}`)
  return { connections: connections === undefined ? undefined : connections - 1, idleConnections }
}

const CONNECTIONS_LEAST = 8
