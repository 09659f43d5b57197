/** From `redis://…` to a store, and what comes with it. */
import type { Opened, OpenOptions } from './open.ts'
import type { Log } from './system/log.ts'

/** How long is waited for the server, in milliseconds, and where lines go. */
export interface Manners {
  readonly retryForMs: number | undefined
  readonly answerWithinMs: number | undefined
  readonly log: Log
}

export async function openRedis(url: string, options: OpenOptions, manners: Manners): Promise<Opened> {
  const { openRedisStore } = await import('./store/redis/redis.ts').catch(withoutDriver)
  const { redisPlace, sameRedis } = await import('./store/redis/connection/address.ts')
  const place = redisPlace(url, options)
  const store = await openRedisStore({ ...place, ...manners })
  const address = { url: sameRedis(place), answerWithin: options.answerWithin }
  return { store, address, durability: store.durability }
}

/** The driver is an optional peer: only those who say `redis://` need it. */
function withoutDriver(error: unknown): never {
  if (!(error instanceof Error && error.message.includes('@redis/client'))) throw error
  throw new Error('pawl: redis:// needs its driver beside pawl: npm install @redis/client', { cause: error })
}
