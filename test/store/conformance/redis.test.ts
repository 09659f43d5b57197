import { afterAll, beforeAll } from 'vitest'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { prove } from './prove.ts'
import { RealSetups } from './real-clock.ts'

describeOnRedis('redis on a server of its own', () => {
  let server: RedisServer
  let setBy = 0
  const setups = new RealSetups({
    open: () => openRedisStore({ url: server.url, clockSetByMs: () => setBy }),
    setClock: async (byMs) => {
      setBy += byMs
    },
  })

  beforeAll(async () => {
    server = await startRedis()
  })

  afterAll(async () => {
    await setups[Symbol.asyncDispose]()
    await server.stop()
  })

  prove({
    name: 'redis',
    cannot: {
      transaction: 'Redis is another server than the one that a caller’s transaction is on',
    },
    open: setups.open,
  })
})
