import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { startLives } from './lives-together.ts'

/** How a server syncs, and how often it is killed. What it has written without syncing outlives its process, not its machine. */
const KILLS = { always: scaled(5, 200), everysec: scaled(1, 50) } as const

async function expectKept(appendfsync: keyof typeof KILLS): Promise<void> {
  await using server = await startRedis(['--appendfsync', appendfsync])
  const store = await openRedisStore({ url: server.url })
  const lives = startLives([store], 4)
  for (let kill = 0; kill < KILLS[appendfsync]; kill += 1) {
    await lives.worked(20)
    await server.kill()
    await server.restart()
  }
  await lives.over()
  await lives.expectTold()
  await store.close()
}

itOnRedis(
  'what a server answered that syncs every write is there although it was killed, and nothing is owned twice',
  () => expectKept('always'),
  scaled(60_000, 1_800_000),
)

itOnRedis(
  'what a server answered that syncs once a second is there although its process was killed, and nothing is owned twice',
  () => expectKept('everysec'),
  scaled(60_000, 1_800_000),
)
