import { afterAll, beforeAll } from 'vitest'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { prove } from './prove.ts'
import { RealSetups } from './real-clock.ts'

describeOnRedis('redis+ledger on servers of its own', () => {
  let server: RedisServer
  let database: FreshDatabase
  let setBy = 0
  const setups = new RealSetups({
    open: async () => {
      const ledger = await openPostgresLedger({ url: database.url, migrate: true })
      return openRedisStore({ url: server.url, ledger, clockSetByMs: () => setBy, evictAfterMs: 0 })
    },
    setClock: async (byMs) => {
      setBy += byMs
    },
  })

  beforeAll(async () => {
    server = await startRedis()
    database = await freshDatabase()
  })

  afterAll(async () => {
    await setups[Symbol.asyncDispose]()
    await server.stop()
    await database.drop()
  })

  prove(
    {
      name: 'redis+ledger',
      cannot: {
        transaction:
          'the ledger takes what Redis did, and Redis is another server than the one that a caller’s transaction is on',
      },
      open: setups.open,
    },
    {
      cases: /^S(?!1 |9 |12 )/,
      because: 'the scripts are those of redis, and what is put around them is the same around each',
    },
  )
})
