import fc from 'fast-check'
import { expect } from 'vitest'
import type { Job, JobId } from '../../../src/core/job.ts'
import { claims, ends, limit, look, pause, viewOf } from '../../../src/store/conformance/flows.ts'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import type { Link } from '../../../src/store/redis/connection/link.ts'
import { openRedisStore } from '../../../src/store/redis/redis.ts'
import { scriptTexts } from '../../../src/store/redis/script/scripts.ts'
import type { Store } from '../../../src/store/store.ts'
import { silentLog } from '../../../src/system/log.ts'
import { startRedis } from '../../support/redis.ts'
import { scaled } from '../../support/scale.ts'
import { itOnRedis } from '../../support/with-redis.ts'
import { rawLink } from './raw.ts'
import { watched } from './watched.ts'

/** What is wanted; `n` chooses among whatever there is to choose from. */
interface Intent {
  readonly verb: 'insert' | 'claim' | 'end' | 'spend' | 'release' | 'cancel' | 'limit' | 'pause' | 'resume'
  readonly n: number
}

const QUEUES = ['left', 'right'] as const
const LIMITS = {
  a: { concurrency: 2 },
  b: { concurrency: 1, budget: { amount: 4, perMs: 200 } },
  c: { rate: { most: 3, perMs: 30 } },
} as const
type Name = keyof typeof LIMITS
const FLOWS = [['a'], ['b', 'a'], ['a', 'b'], ['c', 'a'], ['c'], []] as const satisfies readonly (readonly Name[])[]

const program = fc.array(
  fc.record({
    verb: fc.constantFrom<Intent['verb']>(
      ...(['insert', 'insert', 'insert', 'claim', 'claim', 'end', 'end', 'spend'] as const),
      ...(['release', 'cancel', 'limit', 'pause', 'resume'] as const),
    ),
    n: fc.nat(999),
  }),
  { minLength: 40, maxLength: 40, size: 'max' },
)

itOnRedis(
  'whatever is done to jobs with limits, by whichever process: nothing is above its limit, slots are those of jobs, and nothing is left behind',
  async () => {
    await using server = await startRedis(['--appendfsync', 'no'])
    const failures: string[] = []
    const open = () =>
      openRedisStore({
        url: server.url,
        scripts: watched(scriptTexts()),
        log: { ...silentLog, warn: (message, fields) => void failures.push(`${message} ${fields?.['reason']}`) },
      })
    const stores = [await open(), await open()] as const
    const link = await rawLink(server)
    try {
      for (const intents of fc.sample(program, { numRuns: scaled(2, 1_000), seed: 18 })) {
        await performed(stores, intents)
        expect(failures).toEqual([])
        expect(await leftBehind(link)).toEqual([])
      }
    } finally {
      await link.close()
      for (const store of stores) await store.close()
    }
  },
  scaled(120_000, 3_600_000),
)

async function performed(stores: readonly [Store, Store], intents: readonly Intent[]): Promise<void> {
  const [store, other] = stores
  const run = new Run(await openStoreFixture(setupOf(store), {}), other)
  for (const { verb, n } of intents) await run.step(verb, n)
  await run.drained()
}

const setupOf = (store: Store) => ({ store, advance: async () => {}, close: async () => {} })

class Run {
  readonly #fixture: StoreFixture
  readonly #other: Store
  readonly #live = new Set<JobId>()
  readonly #limits = new Map<Name, number>()
  /** The largest limit there was since slots were last counted: what was let in by it and is owned stays. */
  readonly #largest = new Map<Name, number>()
  readonly #taken = new Map<Name, number>()

  constructor(fixture: StoreFixture, other: Store) {
    this.#fixture = fixture
    this.#other = other
  }

  async step(verb: Intent['verb'], n: number): Promise<void> {
    await this.#do(verb, n)
    if (n % 3 > 0) return
    for (const name of ['a', 'b'] as const) await this.#expectWithin(name)
  }

  /** Everybody is let in and ends. */
  async drained(): Promise<void> {
    for (const queue of QUEUES) await pause(this.#fixture, false, queue)
    for (const name of Object.keys(LIMITS) as Name[])
      if (await this.#isKnown(name)) await limit(this.#fixture, name, {})
    for (let round = 0; this.#live.size > 0; round += 1) {
      expect(round, `${[...this.#live]} come to an end`).toBeLessThan(100)
      for (const id of this.#live) {
        const job = await this.#fixture.record(id)
        if (job.lease !== undefined) await this.#ended(id)
      }
      for (const queue of QUEUES)
        for (const { before } of await claims(this.#fixture, { queue })) await this.#ended(before.id)
    }
    await look(this.#fixture)
  }

  async #do(verb: Intent['verb'], n: number): Promise<void> {
    const fixture = this.#fixture
    const queue = QUEUES[n % 2] ?? 'left'
    switch (verb) {
      case 'insert': {
        const keys = Object.fromEntries((FLOWS[n % FLOWS.length] ?? []).map((name) => [name, LIMITS[name]]))
        const [job] = await fixture.insert({ queue, priority: 4 + (n % 3), flow: { keys, fair: `customer ${n % 2}` } })
        if (job !== undefined) this.#live.add(job.id)
        return
      }
      case 'claim':
        await Promise.all([
          fixture.claim({ queue, limit: 1 + (n % 3) }),
          this.#other.claim(fixture.grant({ queue, limit: 1 })),
          this.#other.due(100),
        ])
        return
      case 'limit':
        return this.#limit(n % 2 === 0 ? 'a' : 'b', 1 + (n % 3))
      case 'pause':
      case 'resume':
        return pause(fixture, verb === 'pause', queue)
      default:
        return this.#say(verb, n)
    }
  }

  async #say(verb: 'end' | 'spend' | 'release' | 'cancel', n: number): Promise<void> {
    const jobs = await Promise.all([...this.#live].map((id) => this.#fixture.record(id)))
    const some = verb === 'cancel' ? jobs : jobs.filter(({ lease }) => lease !== undefined)
    const job = some[n % Math.max(1, some.length)]
    if (job === undefined) return
    const fence = job.lease?.fence ?? ''
    if (verb === 'end') return this.#ended(job.id)
    if (verb === 'cancel') {
      await this.#fixture.say(job, { type: 'cancel', mode: 'hard' }, job.updatedAt)
      this.#live.delete(job.id)
    } else if (verb === 'release')
      await this.#fixture.say(job, { type: 'release', fence, reason: 'shutdown' }, job.updatedAt)
    else await this.#spend(job, fence)
  }

  async #spend(job: Job, fence: string): Promise<void> {
    if (job.startedAt === undefined) return void (await this.#fixture.say(job, { type: 'start', fence }, job.updatedAt))
    const saying = { type: 'progress', fence, counters: { spent: 1 } } as const
    await this.#fixture.apply(this.#fixture.change(job, saying, job.updatedAt, { spent: [{ amount: 2 }] }))
  }

  async #ended(id: JobId): Promise<void> {
    await ends(this.#fixture, id)
    this.#live.delete(id)
  }

  async #limit(name: 'a' | 'b', concurrency: number): Promise<void> {
    if (!(await this.#isKnown(name))) return
    expect(await limit(this.#fixture, name, { ...LIMITS[name], concurrency })).toEqual({ status: 'applied' })
    this.#largest.set(name, Math.max(this.#largestOf(name), concurrency))
    this.#limits.set(name, concurrency)
  }

  #largestOf(name: 'a' | 'b'): number {
    return this.#largest.get(name) ?? this.#limits.get(name) ?? LIMITS[name].concurrency
  }

  async #isKnown(name: Name): Promise<boolean> {
    const { keys } = await this.#fixture.store.events({
      by: 'keys',
      tenant: this.#fixture.tenant,
      names: [name],
      limit: 1,
    })
    return keys?.length === 1
  }

  /** F1, F3. */
  async #expectWithin(name: 'a' | 'b'): Promise<void> {
    if (!(await this.#isKnown(name))) return
    const { taken } = (await viewOf(this.#fixture, name)).count
    const most = Math.max(this.#largestOf(name), this.#taken.get(name) ?? 0)
    expect(taken, `slots of ${name}`).toBeLessThanOrEqual(most)
    this.#taken.set(name, taken)
    this.#largest.delete(name)
  }
}

/** What only jobs with limits bring along, and should be gone with them. */
async function leftBehind(link: Link): Promise<readonly string[]> {
  const keys = (await link.send(['KEYS', '*'])) as readonly string[]
  const own = keys.map((key) => key.slice(key.indexOf(':', key.indexOf('}')) + 1))
  return own.filter((key) =>
    /^(?:held|spot|slots|claims|standing|ring|let-lane|flows-of):|^(?:arrivals|nexts|stood|waited|hungry)$/.test(key),
  )
}
