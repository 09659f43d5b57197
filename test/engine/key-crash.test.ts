/**
 * A process that dies while a key changes. Every call of the store, by whoever changes a key or gives a slot back, is a place to die
 * at: before it, and behind it, when it has been done and nobody heard. Each is named, all are tried. Afterwards either the
 * job and its key have moved or neither has, the word said again counts once, and no slot is lost.
 */
import { describe, expect, it } from 'vitest'
import { decodeKey } from '../../src/core/flow/document.ts'
import type { Job } from '../../src/core/job.ts'
import type { Assignment, Engine, KeyWord, LimitStatus } from '../../src/engine/engine.ts'
import type { KeyView, Store } from '../../src/store/store.ts'
import { EngineFixture, kindOf, type Saying } from './engine-fixture.ts'

class Death extends Error {}

/** Calls of the store that can be died at. What only reads can as well. */
const CALLS = ['insert', 'load', 'claim', 'commit', 'heartbeat', 'due', 'find', 'events', 'settings'] as const

/** What one process makes of the store, until it dies. */
class Mortal {
  readonly points: string[] = []
  doom: string | undefined
  isWatched = false
  readonly #seen = new Map<string, number>()

  wrap(store: Store): Store {
    const wrapped = Object.fromEntries(
      CALLS.map((call) => [call, (...words: never[]) => this.#pass(call, () => (store[call] as Call)(...words))]),
    )
    return { ...wrapped, subscribe: (wake) => store.subscribe(wake), close: () => store.close() } as Store
  }

  async #pass(call: string, work: () => Promise<unknown>): Promise<unknown> {
    if (!this.isWatched) return work()
    const times = (this.#seen.get(call) ?? 0) + 1
    this.#seen.set(call, times)
    this.#point(`before ${call} ${times}`)
    const answer = await work()
    this.#point(`behind ${call} ${times}`)
    return answer
  }

  #point(name: string): void {
    this.points.push(name)
    if (name !== this.doom) return
    this.doom = undefined
    this.isWatched = false
    throw new Death(name)
  }
}

type Call = (...words: never[]) => Promise<unknown>

const plain = kindOf()
const KIND = {
  ...plain,
  policy: { ...plain.policy, limits: [{ concurrency: 2, budget: { amount: 100, perMs: 3_600_000 } }] },
}

/** Two run, one waits for a slot. */
class World {
  readonly mortal = new Mortal()
  readonly fixture = new EngineFixture({ between: (store) => this.mortal.wrap(store) })
  readonly #running: Assignment[] = []
  #waiting: Job | undefined

  async begin(): Promise<void> {
    const { fixture } = this
    const flow = { keys: ['host'], fair: undefined }
    for (let n = 0; n < 3; n += 1) this.#waiting = await fixture.enqueue({ kind: KIND, flow })
    await fixture.engine.tick(100)
    this.#running.push(...(await fixture.claim(5)))
    for (const { job, fence } of this.#running) await fixture.must(job.id, { type: 'start', fence })
    expect(this.#running).toHaveLength(2)
  }

  get first(): Assignment {
    const [first] = this.#running
    if (first === undefined) throw new Error('two run')
    return first
  }

  get waiting(): string {
    return this.#waiting?.id ?? ''
  }

  async key(engine: Engine = this.fixture.engine): Promise<LimitStatus> {
    const { limits } = await engine.limits({ tenant: 't', names: ['host'], limit: 1 })
    const [status] = limits
    if (status === undefined) throw new Error('the key is known')
    return status
  }

  /** The store's own count, and the same from where its jobs are (F3). */
  async slots(): Promise<readonly (number | undefined)[]> {
    const { count, recount } = await this.#view()
    return [count.taken, recount]
  }

  async strikes(): Promise<number> {
    return decodeKey('host', (await this.#view()).text).record.strikes
  }

  async #view(): Promise<KeyView> {
    const asked = { by: 'keys', tenant: 't', names: ['host'], limit: 1, recount: true } as const
    const [view] = (await this.fixture.store.events(asked)).keys ?? []
    if (view === undefined) throw new Error('the key is known')
    return view
  }
}

interface Trial {
  /** Said by a process that may die of it, and once more by another that knows nothing. */
  readonly say: (world: World, engine: Engine) => Promise<unknown>
  /** What is true when it was never said to the end, and when it was. */
  readonly before: (world: World) => Promise<void>
  readonly after: (world: World) => Promise<void>
  /** Whether it was done, by the log of the job or of the key. */
  readonly isDone: (world: World) => Promise<boolean>
}

async function everyDeath({ say, before, after, isDone }: Trial): Promise<readonly string[]> {
  const calm = new World()
  await calm.begin()
  calm.mortal.isWatched = true
  await say(calm, calm.fixture.engine)
  calm.mortal.isWatched = false
  await after(calm)
  for (const doom of calm.mortal.points) {
    const world = new World()
    await world.begin()
    world.mortal.isWatched = true
    world.mortal.doom = doom
    await expect(say(world, world.fixture.engine), doom).rejects.toThrow(doom)
    await ((await isDone(world)) ? after(world) : before(world))
    await say(world, world.fixture.another())
    await after(world)
  }
  return calm.mortal.points
}

const requestId = 'said again'

const saying =
  (words: (assignment: Assignment) => Saying) =>
  async ({ fixture, first }: World, engine: Engine): Promise<void> => {
    const answer = await fixture.say(first.job.id, { ...words(first), requestId }, engine)
    expect(answer).toMatchObject({ ok: true })
  }

const fails = (code: string, retryAfterMs?: number) =>
  saying(({ fence }) => ({ type: 'fail', fence, fault: { code, message: code, retryAfterMs }, executionMs: 0 }))

const hasMoved = async ({ fixture, first }: World) => (await fixture.job(first.job.id)).state !== 'running'

const untouched = async (world: World) => {
  expect(await world.key()).toMatchObject({ state: 'open', session: 0, log: [] })
  expect(await world.slots()).toEqual([2, 2])
}

/** The one that waited has the slot of the one that ended, in the commit that ended it. */
const givenOn = async (world: World) => {
  expect(await world.slots()).toEqual([2, 2])
  const { items } = await world.fixture.store.load([{ id: world.waiting, flow: true }])
  expect(items[0]?.flow?.held).toBe(false)
}

const operator =
  (ask: KeyWord['ask']) =>
  (_: World, engine: Engine): Promise<unknown> =>
    engine.sayToLimits([{ tenant: 't', key: 'host', actor: 'operator:ann', requestId, ask }])

const POINTS = ['before events 1', 'behind events 1', 'before commit 1', 'behind commit 1']

describe('a process that dies at any point of what changes a key', () => {
  it.each([
    ['slowed', fails('captcha'), { state: 'slow', allowed: 1, session: 1 }, 1],
    ['broken, as long as it was told', fails('E_429_RATE', 60_000), { state: 'broken', session: 1 }, 1],
  ] as const)(
    'which is %s: its attempt has failed or the key is as it was, and once is once',
    async (_, say, key, taken) => {
      const points = await everyDeath({
        say,
        isDone: hasMoved,
        before: untouched,
        async after(world) {
          expect(await world.key()).toMatchObject({ ...key, log: [{}] })
          // One still runs; nobody else was let in.
          expect(await world.slots()).toEqual([taken, taken])
        },
      })
      expect(points).toEqual(POINTS)
    },
  )

  it('which counts a failure: it is counted once', async () => {
    const points = await everyDeath({
      say: fails('E_5XX_ORIGIN'),
      isDone: hasMoved,
      before: untouched,
      async after(world) {
        expect(await world.strikes()).toBe(1)
        await givenOn(world)
      },
    })
    expect(points).toEqual(POINTS)
  })

  it.each([
    ['succeeds', saying(({ fence }) => ({ type: 'complete', fence, stats: {}, executionMs: 0 }))],
    ['is cancelled', saying(() => ({ type: 'cancel', mode: 'hard' }))],
  ] as const)('which has a slot again, because its job %s: it is given on in the same commit, once', async (_, say) => {
    const points = await everyDeath({ say, isDone: hasMoved, before: untouched, after: givenOn })
    for (const point of ['before commit 1', 'behind commit 1']) expect(points).toContain(point)
  })

  it('which is spent from: it counts once', async () => {
    const spent = async (world: World) => (await world.key()).spent
    const points = await everyDeath({
      say: saying(({ fence }) => ({ type: 'record', fence, spend: { amount: 7 } })),
      isDone: async (world) => (await spent(world)) > 0,
      before: untouched,
      async after(world) {
        expect(await spent(world)).toBe(7)
        expect(await world.slots()).toEqual([2, 2])
      },
    })
    for (const point of ['before commit 1', 'behind commit 1']) expect(points).toContain(point)
  })

  it.each([
    ['sets', { type: 'set', limit: { concurrency: 3 } }, 3],
    ['lowers', { type: 'set', limit: { concurrency: 1 } }, 2],
  ] as const)('which somebody %s by hand: as it was, or as they said', async (_, ask, taken) => {
    const points = await everyDeath({
      say: operator(ask),
      isDone: async (world) => (await world.key()).byHand !== undefined,
      before: untouched,
      async after(world) {
        expect(await world.key()).toMatchObject({ limit: ask.limit, byHand: ask.limit })
        expect(await world.slots()).toEqual([taken, taken])
      },
    })
    for (const point of ['before commit 1', 'behind commit 1']) expect(points).toContain(point)
  })
})
