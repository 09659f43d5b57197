/** The log of a Redis with a ledger behind it: what calls write is in it, all of it goes to the ledger, and no more is kept than must be. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { BEGINNING, entriesAfter, type Head, headOf } from '../../../src/store/ledger/entry.ts'
import { commandsFor } from '../../../src/store/ledger/image.ts'
import type { Ledger, WrittenEntry } from '../../../src/store/ledger/ledger-port.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import type { Link } from '../../../src/store/redis/connection/link.ts'
import { pairs, words } from '../../../src/store/redis/connection/reply.ts'
import { ServerLog } from '../../../src/store/redis/ledger/server-log.ts'
import { ship } from '../../../src/store/redis/ledger/ship.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { type ScriptName, scriptTexts } from '../../../src/store/redis/script/scripts.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { runPrograms } from '../programs/run-programs.ts'
import { rawLink, WITH_DEBUG } from './raw.ts'
import { expectViews } from './views.ts'

const META = '{pawl:0}:meta'
const ENTRIES = '{pawl:0}:entries'
/** Whose turn it is to ship, to fold, and to have jobs leave: nothing that a call has changed. */
const TURNS = ['{pawl:0}:turn', '{pawl:0}:folds', '{pawl:0}:evicts']

/** Of meta: what a join says of the server, what is due, and how far the log is; none of it is what a call has changed. */
const OF_THE_SERVER = [
  'epoch',
  'incarnation',
  'layout',
  'copy',
  'joining',
  'dueAt',
  'dueBy',
  'logged',
  'loggedAs',
  'shipped',
  'loggedBytes',
  'shippedBytes',
  'evicted',
]

describeOnRedis('the log of a Redis with a ledger', () => {
  let server: RedisServer
  let link: Link
  let store: Store
  let database: FreshDatabase
  let ledger: Ledger
  let log: ServerLog

  beforeAll(async () => {
    server = await startRedis([...WITH_DEBUG, '--appendfsync', 'everysec'])
    link = await rawLink(server)
    database = await freshDatabase()
    ledger = await openPostgresLedger({ url: database.url, migrate: true })
    store = await opened(0)
    log = new ServerLog({ run })
  })

  afterAll(async () => {
    await store.close()
    await link.close()
    await server.stop()
    await ledger[Symbol.asyncDispose]()
    await database.drop()
  })

  const opened = async (evictAfterMs: number): Promise<Store> => {
    const behind = await openPostgresLedger({ url: database.url })
    return openRedisStore({ url: server.url, ledger: behind, ack: 'redis', evictAfterMs })
  }

  const run = (script: ScriptName, args: readonly string[]) =>
    link.send(['EVAL', scriptTexts()[script], '1', META, ...args])

  const fixtureOf = () => openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})

  it(
    'says all that calls have changed: done again, it makes the same of an empty server, and so does what it is folded into',
    async () => {
      expect(await runPrograms({ store, count: scaled(240, 2_000), seed: 2 })).toEqual([])
      // From here on no job leaves: what is compared stands still.
      await store.close()
      store = await opened(2 ** 40)
      expect(Number(await link.send(['SCARD', '{pawl:0}:evicted']))).toBeGreaterThan(50)
      expect(await ship({ log, ledger })).toMatchObject({ misfit: undefined })
      const entries = await loggedIn(ledger)
      expect(entriesAfter(BEGINNING, entries)).toEqual(entries)
      await link.send(['SELECT', '1'])
      const commands = entries.flatMap(({ text }) => JSON.parse(text) as string[][])
      await doneAgain(link, commands)
      await link.send(['SELECT', '0'])
      await imageInto(link, ledger, '2')
      const [hot, again, image] = [await contentOf(link, '0'), await contentOf(link, '1'), await contentOf(link, '2')]
      // What is due was handed out by putting off its tick.
      const without = (content: ReadonlyMap<string, string>) =>
        Object.fromEntries([...content].filter(([key]) => key !== '{pawl:0}:tick'))
      expect(without(again)).toEqual(without(hot))
      expect(without(image)).toEqual(without(hot))
      await expectViews(store, database.url)
    },
    scaled(120_000, 1_200_000),
  )

  it('is shipped by several at once, and what the ledger has had for a minute is trimmed', async () => {
    const fixture = await fixtureOf()
    const ships = Array.from({ length: 4 }, () => ship({ log, ledger }))
    for (let n = 0; n < 20; n += 1) {
      await fixture.insert({})
      ships.push(ship({ log, ledger }, await ledger.account()))
    }
    for (const { misfit } of await Promise.all(ships)) expect(misfit).toBeUndefined()
    const { account } = await ship({ log, ledger })
    const [head, shipped] = words(await link.send(['HMGET', META, 'logged', 'shipped']))
    expect([head, shipped]).toEqual([String(account.head.seq), String(account.head.seq)])
    expect(await link.send(['XLEN', ENTRIES])).toBeGreaterThan(20)
    await link.send(['EVAL', scriptTexts().shipped, '1', META, '1', String(account.head.seq + 1), '-1'])
    expect(await link.send(['XLEN', ENTRIES])).toBeLessThan(account.head.seq)
  })

  it('of a server that has gone back is not taken: it is to be joined first', async () => {
    const fixture = await fixtureOf()
    await fixture.insert({})
    const { account } = await ship({ log, ledger })
    // Somebody folds meanwhile.
    const unmoved = { epoch: account.epoch, head: account.head }
    await link.send(['HSET', META, 'logged', String(account.head.seq - 1), 'loggedAs', 'another'])
    expect(await ship({ log, ledger })).toMatchObject({ account: unmoved, misfit: 'behind' })
    await link.send(['HSET', META, 'logged', String(account.head.seq), 'loggedAs', 'another'])
    expect(await ship({ log, ledger }, account)).toMatchObject({ account: unmoved, misfit: 'forked' })
    await link.send(['HSET', META, 'loggedAs', account.head.name])
    expect(await ship({ log, ledger }, account)).toMatchObject({ account: unmoved, misfit: undefined })
  })

  it.each([
    ['entries', ['shipped', -100_010]],
    ['bytes', ['loggedBytes', 70 << 20]],
  ] as const)(
    'has a bound of %s, beyond which nothing new is taken on and what is under way is ended',
    async (_, [field, by]) => {
      const fixture = await fixtureOf()
      const job = await fixture.claimed()
      await eventually('all is shipped', async () => {
        const [head, shipped] = words(await link.send(['HMGET', META, 'logged', 'shipped']))
        return head === shipped
      })
      const before = Number(await link.send(['HGET', META, field]))
      await link.send(['HSET', META, field, String(before + by)])
      const refused = expect.objectContaining({ code: 'OVERLOADED' })
      await expect(fixture.insert({})).rejects.toThrow(refused)
      await expect(store.claim(fixture.grant())).rejects.toThrow(refused)
      const beat = { id: job.id, fence: job.lease?.fence ?? '', requestId: 'b' }
      expect((await store.heartbeat([beat])).items).toMatchObject([{ status: 'renewed' }])
      // With what was written since the rest has come to the ledger.
      await eventually('something new is taken on', () =>
        fixture.insert({}).then(
          () => true,
          () => false,
        ),
      )
    },
  )

  it('is read by nobody without its ledger, and no jobs that were kept without one are touched by it', async () => {
    const url = server.url
    await expect(openRedisStore({ url })).rejects.toThrow(/has a ledger/)
    const alone = await openRedisStore({ url, prefix: 'alone' })
    const fixture = await openStoreFixture({ store: alone, advance: async () => {}, close: async () => {} }, {})
    const { id } = await fixture.insertOne()
    const another = await openPostgresLedger({ url: database.url, partition: 1 })
    await expect(openRedisStore({ url, prefix: 'alone', ledger: another })).rejects.toThrow(/without a ledger/)
    await fixture.record(id)
    await alone.close()
  })

  it('is not given up for a ledger that has less than it was told', async () => {
    const another = await openPostgresLedger({ url: database.url, partition: 2 })
    const before = await contentOf(link, '0')
    await expect(openRedisStore({ url: server.url, ledger: another })).rejects.toThrow(/less than this Redis/)
    expect(await contentOf(link, '0')).toEqual(before)
  })
})

async function loggedIn(ledger: Ledger): Promise<readonly WrittenEntry[]> {
  const all: WrittenEntry[] = []
  for (let head: Head = BEGINNING; ; head = headOf(all.at(-1) ?? head)) {
    const { entries = [] } = await ledger.after(head)
    if (entries.length === 0) return all
    all.push(...entries)
  }
}

/** What each key of a database holds, without what the log does not tell. */
async function contentOf(link: Link, db: string): Promise<ReadonlyMap<string, string>> {
  await link.send(['SELECT', db])
  const keys = words(await link.send(['KEYS', '*'])).filter((key) => ![ENTRIES, META, ...TURNS].includes(key))
  const digests = await Promise.all(keys.map((key) => link.send(['DEBUG', 'DIGEST-VALUE', key])))
  const fields = pairs(words(await link.send(['HGETALL', META]))).filter(([field]) => !OF_THE_SERVER.includes(field))
  const content = new Map(keys.map((key, n) => [key, String(digests[n])]))
  content.set(META, fields.toSorted().join())
  await link.send(['SELECT', '0'])
  return content
}

/** The image as it is when all is folded. */
async function imageInto(link: Link, ledger: Ledger, db: string): Promise<void> {
  await eventually('all is folded', async () => {
    const { folded, head } = await ledger.account()
    return folded === head.seq
  })
  await link.send(['SELECT', db])
  for (let cursor: string | undefined; ; ) {
    const page = await ledger.imageAfter(cursor)
    await doneAgain(link, commandsFor(page.pieces))
    cursor = page.cursor
    if (cursor === undefined) break
  }
  await link.send(['SELECT', '0'])
}

/** Not all at once: what waits for longer than a call may is given up. */
async function doneAgain(link: Link, commands: readonly (readonly string[])[]): Promise<void> {
  for (let from = 0; from < commands.length; from += 1_000) {
    const some = commands.slice(from, from + 1_000)
    await Promise.all(
      some.map(([command = '', ...rest]) =>
        link.send([command === 'EVICT' ? 'UNLINK' : command, ...keyed(command, rest)]),
      ),
    )
  }
}

/** The words of a command, with keys as the server has them. */
const keyed = (command: string, rest: readonly string[]): readonly string[] =>
  rest.map((word, i) =>
    i === 0 || command === 'UNLINK' || command === 'EVICT' || (command === 'MSET' && i % 2 === 0)
      ? `{pawl:0}:${word}`
      : word,
  )
