import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { startLives } from './lives-together.ts'

/** One that syncs once a second may not even have written what it answered last, while a sync is under way: see `everysec.test.ts`. */
const KILLS = scaled(5, 200)

itOnRedis(
  'what a server answered that syncs every write is there although it was killed, and nothing is owned twice',
  async () => {
    await using server = await startRedis(['--appendfsync', 'always'])
    const store = await openRedisStore({ url: server.url })
    const lives = startLives([store], 4)
    for (let kill = 0; kill < KILLS; kill += 1) {
      await lives.worked(20)
      await server.kill()
      await server.restart()
    }
    await lives.over()
    await lives.expectTold()
    await store.close()
  },
  scaled(60_000, 1_800_000),
)
