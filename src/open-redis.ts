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
  const { openRedisStore } = await import('./store/redis/redis.ts')
  const { redisPlace, sameRedis } = await import('./store/redis/connection/address.ts')
  const place = redisPlace(url, options)
  const store = await openRedisStore({ ...place, ...manners })
  const address = { url: sameRedis(place), answerWithin: options.answerWithin }
  return { store, address, durability: store.durability, lastDue: () => store.lastDue() }
}
