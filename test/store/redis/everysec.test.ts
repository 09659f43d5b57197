/** A machine that stops takes along what its Redis has written and not synced yet: the end of its log, wherever that was torn. */

import { randomInt } from 'node:crypto'
import { statSync } from 'node:fs'
import { truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { infoOf } from '../../../src/store/redis/connection/info.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { asked } from './faults.ts'
import { startLives } from './lives-together.ts'

const CUTS = scaled(2, 50)

const logFile = ({ folder }: RedisServer): string => join(folder, 'appendonlydir', 'appendonly.aof.1.incr.aof')

const fixtureOf = (store: Store) => openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})

/** How long the log is that holds all that was answered until now. */
async function written(server: RedisServer): Promise<number> {
  await eventually('nothing is left to be written', async () => {
    const info = infoOf(await asked(server, 'INFO', 'persistence'))
    return info['aof_buffer_length'] === '0'
  })
  return statSync(logFile(server)).size
}

itOnRedis(
  'of a server that syncs once a second only what it answered last is lost, jobs still have one owner, and no id comes twice',
  async () => {
    // Each of its own: Redis leaves a torn transaction in its file, where it lives again after the next restart.
    for (let cut = 0; cut < CUTS; cut += 1) {
      await using server = await startRedis(['--appendfsync', 'everysec', '--auto-aof-rewrite-percentage', '0'])
      const [store, other] = [await openRedisStore({ url: server.url }), await openRedisStore({ url: server.url })]
      const lives = startLives([store], 4)
      await lives.worked(20)
      await lives.over()
      const mine = await fixtureOf(store)
      const job = await mine.insertOne()
      const kept = await written(server)

      // From here on nothing need be left.
      const fence = '0.1.0000000000000001'
      expect((await mine.claim({ nonce: '0000000000000001' })).jobs).toHaveLength(1)
      const mineNow = await mine.say(await mine.record(job.id), { type: 'start', fence })
      const lost = await fixtureOf(other)
      const brought = await lost.insertOne()
      const all = await written(server)
      expect(all).toBeGreaterThan(kept)
      await server.kill()
      await truncate(logFile(server), randomInt(kept, all))
      await server.restart()

      await lives.expectTold()
      const theirs = await fixtureOf(other)
      const there = await theirs.record(job.id)
      const lanes = mine.grant().lanes
      const { jobs } = await theirs.claim({ nonce: '0000000000000002', lanes })
      const late = mine.change(mineNow, { type: 'complete', fence }, mine.begin)
      if (there.state === 'queued') {
        expect(jobs.map(({ before }) => before.id)).toEqual([job.id])
        expect(await mine.commit(late)).toEqual([{ status: 'conflict' }])
        const beat = { id: job.id, fence, requestId: mine.requestId() }
        expect((await store.heartbeat([beat])).items).toEqual([{ status: 'lost' }])
        const again = await theirs.say(await theirs.record(job.id), { type: 'start', fence: '0.1.0000000000000002' })
        expect(await mine.commit(late)).toEqual([{ status: 'conflict' }])
        await theirs.say(again, { type: 'complete', fence: '0.1.0000000000000002' })
      } else {
        expect(jobs).toEqual([])
        expect(there.lease?.fence).toBe(fence)
      }
      const ids = [mine.id(), brought.id, theirs.id(), ...lives.told.blocks]
      expect(new Set(ids).size).toBe(ids.length)
      await Promise.all([store.close(), other.close()])
    }
  },
  scaled(60_000, 600_000),
)
