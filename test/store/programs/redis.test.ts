import { expect } from 'vitest'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { runPrograms } from './run-programs.ts'

itOnRedis(
  'what programs do to a Redis store is what core says they do',
  async () => {
    await using server = await startRedis()
    const store = await openRedisStore({ url: server.url })
    try {
      expect(await runPrograms({ store, count: scaled(400, 20_000), seed: 1 })).toEqual([])
    } finally {
      await store.close()
    }
  },
  scaled(120_000, 3_600_000),
)
