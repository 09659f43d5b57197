import { setTimeout as pause } from 'node:timers/promises'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { expectTold, live, toldNothing } from './told.ts'

const KILLS = scaled(6, 200)

itOnRedis(
  'what a server answered that syncs every write is there although it was killed, and nothing is owned twice',
  async () => {
    await using server = await startRedis()
    const store = await openRedisStore({ url: server.url })
    const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
    const told = toldNothing()
    const over = new AbortController()
    const lives = Array.from({ length: 4 }, () => live(fixture, told, over.signal))
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = told.ended.size
      while (told.ended.size < before + 20) await pause(2)
      await server.kill()
      await server.restart()
    }
    over.abort()
    await Promise.all(lives)
    await expectTold(fixture, told)
    await store.close()
  },
  scaled(60_000, 1_800_000),
)
