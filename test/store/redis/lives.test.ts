import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openRedisStore, type RedisStore } from '../../../src/store/redis/redis.ts'
import type { Hint, Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { rawLink } from './raw.ts'

const fixtureOf = (store: Store) => openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})

const counter = async (store: Store): Promise<number> => {
  const [there] = await store.settings([{ op: 'get', collection: 'ids', key: 'next' }])
  return (JSON.parse(there?.settings[0]?.text ?? '{}') as { next: number }).next
}

describeOnRedis('a store whose server', () => {
  let server: RedisServer
  let store: RedisStore
  let other: RedisStore

  beforeAll(async () => {
    server = await startRedis()
    store = await openRedisStore({ url: server.url, answerWithinMs: 1_000 })
    other = await openRedisStore({ url: server.url, answerWithinMs: 1_000 })
  })

  afterAll(async () => {
    await Promise.all([store.close(), other.close()])
    await server.stop()
  })

  it('is asked what is due knows who asked last, and when', async () => {
    const { now } = await store.due(1)
    expect(await store.lastDue()).toMatchObject({ at: now, isOwn: true })
    expect(await other.lastDue()).toMatchObject({ at: now, isOwn: false })
  })

  it('has forgotten the scripts brings them again', async () => {
    const fixture = await fixtureOf(store)
    const link = await rawLink(server)
    await link.send(['SCRIPT', 'FLUSH'])
    await link.close()
    const job = await fixture.insertOne()
    expect((await fixture.claim()).jobs[0]?.before.id).toBe(job.id)
  })

  it('was killed and came back goes on with all that it had answered, and leaves out numbers that may be lost', async () => {
    const fixture = await fixtureOf(store)
    const jobs = await fixture.insert({ input: '1' }, { input: '2' })
    const before = await counter(store)
    await server.kill()
    const waiting = store.load(jobs.map(({ id }) => ({ id, bodies: ['input'] })))
    await server.restart()
    expect((await waiting).items.map((item) => item?.bodies['input'])).toEqual(['1', '2'])
    expect((await counter(store)) - before).toBeGreaterThanOrEqual(2 ** 24)
    expect(await counter(other)).toBe(await counter(store))
  })

  it('was emptied begins anew, in every process that has it open', async () => {
    const [mine, theirs] = [await fixtureOf(store), await fixtureOf(other)]
    const lost = await mine.insertOne({ queue: 'a' })
    await theirs.insertOne({ queue: 'b', type: 'other' })
    const link = await rawLink(server)
    await link.send(['FLUSHALL'])
    await link.close()
    // Numbers of kinds have another meaning now: whoever remembers them mixes them up.
    const born = await theirs.insertOne({ queue: 'c', type: 'third' })
    await mine.insertOne({ queue: 'a' })
    await mine.expectGone(lost.id, 'it was lost')
    await mine.expectRecord(born, 'and what came since is as it was made')
    await theirs.expectRecord(born, 'for everybody')
  })

  it('stands still is asked again once it goes on', async () => {
    const fixture = await fixtureOf(store)
    const job = await fixture.insertOne()
    process.kill(server.pid, 'SIGSTOP')
    const loaded = store.load([{ id: job.id }])
    // Longer than it may be silent.
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    process.kill(server.pid, 'SIGCONT')
    expect((await loaded).items[0]?.job.id).toBe(job.id)
  })

  it('is gone says so in time, and what is heard again is told to whoever listens', async () => {
    const impatient = await openRedisStore({ url: server.url, retryForMs: 200 })
    const heard: Hint[] = []
    const subscription = await store.subscribe((hint) => heard.push(hint))
    await server.kill()
    await expect(impatient.load([])).rejects.toThrow(expect.objectContaining({ code: 'UNAVAILABLE' }))
    await impatient.close()
    await server.restart()
    await eventually('something may have been missed', () => heard.some(({ about }) => about === 'anything'))
    await subscription[Symbol.asyncDispose]()
    await store.load([])
  })
})
