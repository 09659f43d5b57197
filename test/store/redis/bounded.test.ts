import { createConnection } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { luaFiles } from '../../../src/store/redis/script/files.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { describeOnRedis } from '../../support/with-redis.ts'

/** Commands that walk over all there is. */
const UNBOUNDED = /'(?:KEYS|SCAN|SSCAN|HSCAN|ZSCAN|SORT|LRANGE|FLUSHALL|FLUSHDB)'|'ZRANGE',[^)\n]*\b0,\s*-1/

/** What may be read whole, and why that is little. */
const WHOLE: Readonly<Record<string, string>> = {
  "HGETALL', base .. 'tally'": 'a line for each kind and state',
  "HKEYS', key": 'the bodies of one job, of which a family is asked for',
  "HVALS', base .. 'notes:'": 'the late words about one job, one for each attempt and word',
  "SMEMBERS', base .. 'tied:'": 'the keys and marks of one job',
  "SMEMBERS', key": 'lanes and needs, counted first',
}

it('no script walks over all there is', () => {
  for (const [place, text] of luaFiles()) {
    expect(text, place).not.toMatch(UNBOUNDED)
    for (const [whole] of text.matchAll(/(?:HGETALL|HKEYS|HVALS|SMEMBERS)', (?:base \.\. '[a-z:]+'|key)/g))
      expect(Object.keys(WHOLE), `${place}: ${whole}`).toContain(whole)
    for (const [walk] of text.matchAll(/call\('Z?X?RANGE'[^\n]*/g))
      expect(walk, place).toMatch(/LIMIT|COUNT|rev \.\. '-0'|ARGV\[i\] \.\. '-0'|, 0, 0,|'asked:'/)
  }
})

describeOnRedis('beside many finished, delayed and parked jobs', () => {
  let server: RedisServer
  let store: Store

  beforeAll(async () => {
    server = await startRedis(['--appendfsync', 'no'])
    store = await openRedisStore({ url: server.url })
  })

  afterAll(async () => {
    await store.close()
    await server.stop()
  })

  /** The server tells of nothing but the claim: of a million inserts that would be more than fits. */
  const watched = async (fixture: StoreFixture): Promise<readonly string[]> => {
    await using watch = await monitor(server)
    return await claimed(fixture, watch)
  }

  it(
    'a claim touches as many keys as without them',
    async () => {
      const fixture = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
      await grow(fixture, AT_ONCE)
      const few = await watched(fixture)
      for (let n = 0; n < MANY; n += ONE_BLOCK) {
        const another = await openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
        await grow(another, Math.min(ONE_BLOCK, MANY - n), fixture.tenant)
      }
      expect(await watched(fixture)).toEqual(few)
      expect(few.length).toBeLessThan(40)
    },
    scaled(60_000, 1_800_000),
  )
})

/** The commands of one claim, by name and how many words they have. */
async function claimed(fixture: StoreFixture, watch: Monitor): Promise<readonly string[]> {
  await fixture.insert({ queue: 'watched' }, { queue: 'watched' })
  const begin = await marked(fixture, watch)
  const { jobs } = await fixture.claim({ queue: 'watched', limit: 2 })
  expect(jobs).toHaveLength(2)
  const end = await marked(fixture, watch)
  return watch.lines
    .slice(begin, end)
    .filter((line) => line.includes(' lua] '))
    .map((line) => {
      const words = line.slice(line.indexOf('] ') + 2).split('" "')
      return `${words[0]?.slice(1)} ${words.length}`
    })
}

/** Where the server's account has come to. */
async function marked(fixture: StoreFixture, watch: Monitor): Promise<number> {
  const marker = fixture.requestId()
  await fixture.store.load([{ id: marker, tenant: fixture.tenant }])
  return eventually('the server has told so far', () => {
    const place = watch.lines.findLastIndex((line) => line.includes(' lua] ') && line.includes(marker))
    return place > 0 && place
  })
}

const AT_ONCE = 500
/** Of each: finished, delayed and parked; and so many as one fixture has ids for. */
const MANY = scaled(3_000, 340_000)
const ONE_BLOCK = 20_000

/** So many of each. */
async function grow(fixture: StoreFixture, count: number, tenant = fixture.tenant): Promise<void> {
  for (let n = 0; n < count; n += AT_ONCE) {
    await fixture.insert(
      ...Array.from({ length: AT_ONCE }, () => ({ tenant, queue: 'watched', runAt: fixture.begin + 1e9 })),
    )
    const done = await fixture.insert(...Array.from({ length: AT_ONCE }, () => ({ tenant, queue: 'watched' })))
    const ends = done.map((job) => fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin))
    await fixture.commit(...ends)
    const pending = { tenant, queue: 'watched', policy: { admission: true } } as const
    await fixture.insert(...Array.from({ length: AT_ONCE }, () => pending))
  }
}

interface Monitor extends AsyncDisposable {
  readonly lines: string[]
}

/** Every command that the server executes, those of scripts too. */
async function monitor({ port }: RedisServer): Promise<Monitor> {
  const lines: string[] = []
  const socket = createConnection({ port, host: '127.0.0.1' })
  let rest = ''
  socket.on('data', (data) => {
    const parts = (rest + data.toString()).split('\r\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
  })
  socket.write('MONITOR\r\n')
  await eventually('the server tells', () => lines.includes('+OK'))
  return {
    lines,
    async [Symbol.asyncDispose]() {
      socket.destroy()
    },
  }
}
