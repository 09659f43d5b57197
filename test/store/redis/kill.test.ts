import { setTimeout as pause } from 'node:timers/promises'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { expectTold, live, toldNothing } from './told.ts'

/** How a server syncs, and how often it is killed. What it has written without syncing outlives its process, not its machine. */
const KILLS = { always: scaled(5, 200), everysec: scaled(1, 50) } as const

async function expectKept(appendfsync: keyof typeof KILLS): Promise<void> {
  await using server = await startRedis(['--appendfsync', appendfsync])
  const store = await openRedisStore({ url: server.url })
  const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
  const told = toldNothing()
  const over = new AbortController()
  const lives = Array.from({ length: 4 }, () => live(fixture, told, over.signal))
  for (let kill = 0; kill < KILLS[appendfsync]; kill += 1) {
    const before = told.ended.size
    while (told.ended.size < before + 20) await pause(2)
    await server.kill()
    await server.restart()
  }
  over.abort()
  await Promise.all(lives)
  await expectTold(fixture, told)
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
