import { expect } from 'vitest'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { freshDatabase } from '../../support/postgres.ts'
import { startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { runPrograms } from './run-programs.ts'

/** Of what so few programs come across nothing is asked. */
const COUNT = scaled(8, 5_000)

itOnRedis(
  'what programs do to a Redis store with a ledger is what core says they do',
  async () => {
    await using server = await startRedis()
    await using database = await freshDatabase()
    const ledger = await openPostgresLedger({ url: database.url, migrate: true })
    const store = await openRedisStore({ url: server.url, ledger, evictAfterMs: 0 })
    try {
      const missing = await runPrograms({ store, count: COUNT, seed: 1 })
      if (COUNT > 1_000) expect(missing).toEqual([])
    } finally {
      await store.close()
    }
  },
  scaled(120_000, 3_600_000),
)
