/** From `redis://…` to a store, and what comes with it. */
import type { Manners } from './manners.ts'
import type { Opened } from './open.ts'
import type { OpenOptions } from './open-options.ts'
import type { Ledger } from './store/ledger/ledger-port.ts'

export async function openRedis(url: string, options: OpenOptions, manners: Manners): Promise<Opened> {
  const { ANSWER_WITHIN_MS, openRedisStore } = await import('./store/redis/redis.ts')
  const { redisPlace, sameRedis } = await import('./store/redis/connection/address.ts')
  const place = redisPlace(url, options)
  const { schema, answerWithin } = options
  const ledger = place.ledger === undefined ? undefined : await ledgerAt(place.ledger, options, manners)
  const store = await openRedisStore({ ...place, ...manners, ledger, meter: options.metrics })
  const address = { url: sameRedis(place), schema, answerWithin }
  const { durability, ledger: desk } = store
  const silentMs = manners.answerWithinMs ?? ANSWER_WITHIN_MS
  return { store, address, silentMs, durability, ledger: desk, lastDue: () => store.lastDue() }
}

async function ledgerAt(url: string, { schema, migrate }: OpenOptions, manners: Manners): Promise<Ledger> {
  const { openPostgresLedger } = await import('./store/postgres/ledger/postgres-ledger.ts')
  return openPostgresLedger({ url, schema, migrate, ...manners })
}
