/** A server that lost what it had answered, or lets a user do less than all: what the store makes of it. */
import { expect, it } from 'vitest'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import type { Store } from '../../../src/store/store.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { digestOf, rawLink, WITH_DEBUG } from './raw.ts'

/** Keeps what it was told to save, and nothing since. */
const FORGETFUL = ['--appendonly', 'no', '--save', '3600 1'] as const

const fixtureOf = (store: Store) => openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})

async function asked(server: RedisServer, ...words: string[]): Promise<unknown> {
  const link = await rawLink(server)
  const answer = await link.send(words)
  await link.close()
  return answer
}

describeOnRedis('a server that came back with less', () => {
  it('does not take the word of a job’s first owner for that of its second', async () => {
    await using server = await startRedis(FORGETFUL)
    const [store, other] = [await openRedisStore({ url: server.url }), await openRedisStore({ url: server.url })]
    const [mine, theirs] = [await fixtureOf(store), await fixtureOf(other)]
    const { id } = await mine.insertOne()
    await asked(server, 'SAVE')

    await mine.claim({ nonce: '0000000000000001' })
    const first = await mine.say(await mine.record(id), { type: 'start', fence: '0.1.0000000000000001' })
    await server.kill()
    await server.restart()
    await theirs.claim({ nonce: '0000000000000002', lanes: mine.grant().lanes })
    const second = await theirs.say(await theirs.record(id), { type: 'start', fence: '0.1.0000000000000002' })
    expect([first.rev, first.attempt]).toEqual([second.rev, second.attempt])

    const late = mine.change(first, { type: 'complete', fence: '0.1.0000000000000001' }, mine.begin)
    expect(await mine.commit(late)).toEqual([{ status: 'conflict' }])
    await theirs.say(second, { type: 'complete', fence: '0.1.0000000000000002' })
    await Promise.all([store.close(), other.close()])
  })

  it('with nothing at all makes every process forget what its numbers of kinds meant', async () => {
    await using server = await startRedis(FORGETFUL)
    const [store, other] = [await openRedisStore({ url: server.url }), await openRedisStore({ url: server.url })]
    const [mine, theirs] = [await fixtureOf(store), await fixtureOf(other)]
    await mine.insertOne({ type: 'alpha', queue: 'a' })
    await server.kill()
    await server.restart()
    const beta = await theirs.insertOne({ type: 'beta', queue: 'b' })
    const alpha = await mine.insertOne({ type: 'alpha', queue: 'a' })
    await theirs.expectRecord(alpha, 'it is what it was made')
    await mine.expectRecord(beta, 'and so is the other')
    await Promise.all([store.close(), other.close()])
  })
})

describeOnRedis('a user who may not publish', () => {
  it('is told so, and nothing was written', async () => {
    await using server = await startRedis(WITH_DEBUG)
    await (await openRedisStore({ url: server.url })).close()
    await asked(server, 'ACL', 'SETUSER', 'mute', 'on', '>secret', '~*', '+@all', 'resetchannels')
    const url = server.url.replace('redis://', 'redis://mute:secret@')
    const store = await openRedisStore({ url })
    const fixture = await fixtureOf(store)
    await fixture.insertOne({ runAt: fixture.begin + 1 }).catch(() => {})
    const link = await rawLink(server)
    const before = await digestOf(link)
    await expect(fixture.insertOne()).rejects.toThrow(/channel/)
    expect(await digestOf(link)).toBe(before)
    await link.close()
    await store.close()
  })
})

describeOnRedis('a server whose memory is full', () => {
  it('lets finished jobs be removed, which makes room', async () => {
    await using server = await startRedis()
    const store = await openRedisStore({ url: server.url })
    const fixture = await fixtureOf(store)
    const jobs = await fixture.insert(
      ...Array.from({ length: 20 }, () => ({ input: JSON.stringify('y'.repeat(4_000)) })),
    )
    const ended = []
    for (const job of jobs) ended.push(await fixture.say(job, { type: 'cancel', mode: 'hard' }))
    await asked(server, 'CONFIG', 'SET', 'maxmemory', '1mb')
    await expect(fixture.insertOne()).rejects.toThrow(expect.objectContaining({ code: 'OVERLOADED' }))
    const purged = await fixture.commit(...ended.map((before) => ({ kind: 'purge', before }) as const))
    expect(new Set(purged.map(({ status }) => status))).toEqual(new Set(['applied']))
    await store.close()
  })

  it('does not say that nothing was written where some of it was', async () => {
    await using server = await startRedis()
    const store = await openRedisStore({ url: server.url, retryForMs: 500 })
    const fixture = await fixtureOf(store)
    await fixture.insertOne()
    const used = /used_memory:(\d+)/.exec(String(await asked(server, 'INFO', 'memory')))?.[1]
    await asked(server, 'CONFIG', 'SET', 'maxmemory', String(Number(used) + (8 << 20)))
    const input = JSON.stringify('z'.repeat(600_000))
    const drafts = Array.from({ length: 40 }, () => fixture.draft({ input }))
    await expect(store.insert(drafts)).rejects.toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }))
    const { items } = await store.load(drafts.map(({ job }) => ({ id: job.id })))
    expect(items.filter((item) => item !== undefined).length).toBeGreaterThan(0)
    await asked(server, 'CONFIG', 'SET', 'maxmemory', '0')
    const again = await store.insert(drafts)
    expect(new Set(again.items.map(({ status }) => status))).toEqual(new Set(['inserted', 'exists']))
    await store.close()
  })
})
