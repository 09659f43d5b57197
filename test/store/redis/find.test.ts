import { expect } from 'vitest'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { startRedis } from '../../support/redis.ts'
import { itOnRedis } from '../../support/with-redis.ts'

itOnRedis(
  'a job is found by the correlation that is its own id, with those that share it, in pages of any size',
  async () => {
    await using server = await startRedis(['--appendfsync', 'no'])
    const store = await openRedisStore({ url: server.url })
    const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
    const early = fixture.id()
    const id = fixture.id()
    await store.insert([
      fixture.draft({ correlationId: id }, early),
      fixture.draft({ correlationId: id }, id),
      fixture.draft({ correlationId: id }),
      fixture.draft(),
    ])
    for (const order of ['oldest', 'newest'] as const) {
      for (const limit of [1, 2, 9]) {
        const found: string[] = []
        for (let cursor: string | undefined, pages = 0; pages < 9; pages += 1) {
          const page = await store.find({ tenant: fixture.tenant, correlationId: id, order, limit, cursor })
          found.push(...page.jobs.map((job) => job.id))
          cursor = page.cursor
          if (cursor === undefined) break
        }
        expect(found).toHaveLength(3)
        expect(found[1]).toBe(id)
        expect(found[order === 'oldest' ? 0 : 2]).toBe(early)
      }
    }
    await store.close()
  },
)
