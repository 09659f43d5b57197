/** Processes that are killed between Redis and its ledger: what they leave is nobody's, and is brought to its end by whoever is there. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { EVERY_PRIORITY } from '../../../src/core/job.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { Ledger } from '../../../src/store/ledger/ledger-port.ts'
import { openPostgresLedger } from '../../../src/store/postgres/ledger/postgres-ledger.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import type { Store } from '../../../src/store/store.ts'
import { eventually } from '../../support/eventually.ts'
import { type FreshDatabase, freshDatabase } from '../../support/postgres.ts'
import { type RedisServer, startRedis } from '../../support/redis.ts'
import { scaled, soaking } from '../../support/scale.ts'
import { describeOnRedis } from '../../support/with-redis.ts'
import { rawLink, WITH_DEBUG } from './raw.ts'
import { TENANT } from './told.ts'

const PROGRAM = fileURLToPath(new URL('./dying-process.ts', import.meta.url))
const META = '{pawl:0}:meta'
const TIMES = scaled(1, 10)
/** Of a process, on a machine that has much to do. */
const STARTED_WITHIN_MS = 60_000
const LANES = EVERY_PRIORITY.map((priority) => ({ tenant: TENANT, queue: 'main', priority }))

class Dying {
  readonly #process: ChildProcess
  #said = ''

  constructor(...args: readonly string[]) {
    this.#process = spawn(process.execPath, [PROGRAM, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#process.stdout?.on('data', (text: Buffer) => {
      this.#said += text.toString()
    })
  }

  /** The first of its words that fits. */
  said(what: RegExp): Promise<string> {
    return eventually(`the process to say ${what}`, () => what.exec(this.#said)?.[0], { withinMs: STARTED_WITHIN_MS })
  }

  begin(): void {
    this.#process.stdin?.write('go\n')
  }

  async die(): Promise<void> {
    if (this.#process.signalCode !== null) return
    const gone = new Promise((resolve) => this.#process.once('exit', resolve))
    this.#process.kill('SIGKILL')
    await gone
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.die()
  }
}

describeOnRedis('between Redis and its ledger', () => {
  let server: RedisServer
  let database: FreshDatabase
  let ledger: Ledger

  beforeAll(async () => {
    server = await startRedis([...WITH_DEBUG, '--appendonly', 'no'])
    database = await freshDatabase()
    ledger = await openPostgresLedger({ url: database.url, migrate: true })
  })

  afterAll(async () => {
    await ledger[Symbol.asyncDispose]()
    await server.stop()
    await database.drop()
  })

  const opened = async (ack: 'ledger' | 'redis'): Promise<Store> =>
    openRedisStore({ url: server.url, ledger: await openPostgresLedger({ url: database.url }), ack })
  const fixtureOf = (store: Store): Promise<StoreFixture> =>
    openStoreFixture({ store, advance: async () => {}, close: async () => {} }, {})
  const asked = async (...request: string[]): Promise<unknown> => {
    const link = await rawLink(server)
    const answer = await link.send(request)
    await link.close()
    return answer
  }
  const logged = async (): Promise<number> => Number(await asked('HGET', META, 'logged'))
  const shipped = async (): Promise<number> => (await ledger.account()).head.seq

  it('what a process leaves that dies after its script is shipped although nobody asks for anything', async () => {
    const store = await opened('redis')
    await using dying = new Dying(server.url, database.url, 'redis', 'append', 'insert')
    await dying.said(/pj_/)
    await eventually('all is shipped', async () => (await shipped()) === (await logged()))
    const before = await logged()
    dying.begin()
    await dying.said(/told/)
    await dying.said(/there/)
    await dying.die()
    const written = await logged()
    expect(written).toBeGreaterThan(before)
    await eventually('the ledger has it', async () => (await shipped()) >= written)
    await store.close()
  })

  it('a server that went back on open connections is brought to where the ledger is although nobody asks for anything', async () => {
    const store = await opened('redis')
    const fixture = await fixtureOf(store)
    await asked('SAVE')
    const { id } = await fixture.insertOne()
    const written = await logged()
    await eventually('the ledger has it', async () => (await shipped()) >= written)
    const connections = await asked('CLIENT', 'LIST', 'TYPE', 'normal')
    await asked('DEBUG', 'RELOAD', 'NOSAVE')
    await eventually('it is there again', async () => (await logged()) >= written)
    expect(String(await asked('CLIENT', 'LIST', 'TYPE', 'normal')).split('\n')).toHaveLength(
      String(connections).split('\n').length,
    )
    await fixture.record(id)
    await store.close()
  })

  /** Where it is stopped and killed; and whether what it was about is there then. A server that is joined has been emptied before. */
  const DEATHS = [
    ['is about to ship', 'append', 'there'],
    ['has shipped, and was not told yet', 'shipped', 'there'],
    ['is about to fold', 'fold', 'there'],
    ['is about to take an epoch', 'fence', 'never done'],
    ['has taken an epoch, and was not told yet', 'fenced', 'never done'],
    ['loads', 'load', 'never done'],
  ] as const
  const DONE = ['insert', 'claim'] as const
  const deaths = DEATHS.flatMap((death, n) =>
    DONE.filter((_, of) => soaking || of === n % DONE.length).map((what) => [what, ...death] as const),
  )

  it.each(deaths)(
    'of a process that dies in its %s, where it %s, all is there or nothing',
    async (...death) => {
      const [what, , where, fate] = death
      for (let time = 0; time < TIMES; time += 1) {
        const before = await opened('ledger')
        const mine = await fixtureOf(before)
        const early = await mine.insertOne({ tenant: TENANT, input: '1' })
        await before.close()
        await using dying = new Dying(server.url, database.url, 'ledger', where, what)
        const [born = ''] = [await dying.said(/pj_\w+/)]
        if (fate === 'never done') await asked('FLUSHALL')
        dying.begin()
        // What is folded first is of before.
        if (where === 'fold') await dying.said(/told/)
        await dying.said(/there/)
        await dying.die()

        const store = await opened('ledger')
        const record = async (id: string) => (await store.load([{ id }])).items[0]?.job
        const isDone = fate === 'there'
        if (what === 'insert') expect((await record(born)) !== undefined).toBe(isDone)
        else expect((await record(early.id))?.state).toBe(isDone ? 'claimed' : 'queued')
        const records = [await record(born), await record(early.id)]
        await asked('FLUSHALL')
        expect([await record(born), await record(early.id)]).toEqual(records)
        // Nobody meets anything of it afterwards.
        const { jobs } = await store.claim(mine.grant({ lanes: LANES, limit: 100 }))
        for (const { before: job, attempt } of jobs) {
          const fence = (await record(job.id))?.lease?.fence ?? ''
          expect(fence).toMatch(new RegExp(`^${job.generation}\\.${attempt}\\.`))
        }
        expect(jobs.map(({ before: job }) => job.id).includes(early.id)).toBe(what === 'insert' || !isDone)
        await store.close()
      }
    },
    scaled(120_000, 1_200_000),
  )
})
