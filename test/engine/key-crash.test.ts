/**
 * A process that dies while a key changes. Every call of the store, by whoever changes a key or gives a slot back, is a place to die
 * at: before it, and behind it, when it has been done and nobody heard. Each is named, all are tried. Afterwards either the
 * job and its key have moved or neither has, the word said again counts once, and no slot is lost.
 */
import { describe, expect, it } from 'vitest'
import { decodeKey } from '../../src/core/flow/document.ts'
import { PATIENCE_MS } from '../../src/core/flow/hall.ts'
import { HEARD_MS } from '../../src/core/flow/numbers.ts'
import { QUIET_MS } from '../../src/core/flow/quiet.ts'
import type { Job } from '../../src/core/job.ts'
import type { Assignment, Engine, KeyWord, LimitStatus } from '../../src/engine/engine.ts'
import { Forgetting } from '../../src/engine/forgetting.ts'
import type { LocalEngine } from '../../src/engine/local.ts'
import { mended } from '../../src/engine/mend.ts'
import { type KeyView, queueKey, type Store } from '../../src/store/store.ts'
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

  /** Another that waits for a slot. */
  async more(priority = 5): Promise<void> {
    await this.fixture.enqueue({ kind: KIND, flow: { keys: ['host'], fair: undefined }, priority })
  }

  /** The first that runs from now on is one that stands. */
  async next(): Promise<void> {
    await this.fixture.engine.tick(100)
    const [assignment] = await this.fixture.claim(1)
    if (assignment === undefined) throw new Error('one stands')
    await this.fixture.must(assignment.job.id, { type: 'start', fence: assignment.fence })
    this.#running.unshift(assignment)
  }

  /** The last that was claimed is done; so that nobody's lease runs out while the clock is advanced. */
  async ends(which: 'first' | 'last', code?: string, retryAfterMs?: number): Promise<void> {
    const assignment = which === 'first' ? this.#running.shift() : this.#running.pop()
    if (assignment === undefined) throw new Error('one runs')
    const { job, fence } = assignment
    const fault = code === undefined ? undefined : { code, message: code, retryAfterMs }
    if (fault === undefined) await this.fixture.must(job.id, { type: 'complete', fence, stats: {}, executionMs: 0 })
    else await this.fixture.must(job.id, { type: 'fail', fence, fault, executionMs: 0 })
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
  /** What comes before it; nobody dies of that. */
  readonly prepare?: (world: World) => Promise<unknown>
  /** Said by a process that may die of it, and once more by another that knows nothing. */
  readonly say: (world: World, engine: LocalEngine) => Promise<unknown>
  /** What is true when it was never said to the end, and when it was. */
  readonly before: (world: World) => Promise<void>
  readonly after: (world: World) => Promise<void>
  /** Whether it was done, by the log of the job or of the key. */
  readonly isDone: (world: World) => Promise<boolean>
}

async function everyDeath({ prepare = async () => {}, say, before, after, isDone }: Trial): Promise<readonly string[]> {
  const calm = new World()
  await calm.begin()
  await prepare(calm)
  calm.mortal.isWatched = true
  await say(calm, calm.fixture.engine)
  calm.mortal.isWatched = false
  await after(calm)
  expect(calm.mortal.points.length).toBeGreaterThan(1)
  for (const doom of calm.mortal.points) {
    const world = new World()
    await world.begin()
    await prepare(world)
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

/** Broken as long as it was told, with nobody running, and some that wait. */
const breaking = async (world: World) => {
  await world.ends('last')
  await world.ends('first', 'E_429_RATE', 60_000)
  for (let n = 0; n < 3; n += 1) await world.more()
}

const probing = async (world: World) => {
  await breaking(world)
  world.fixture.clock.advance(70_000)
  await world.next()
}

const recovered = async (world: World) => {
  await probing(world)
  await world.ends('first')
  await world.next()
  world.fixture.clock.advance(11_000)
}

const raised = async (world: World) => {
  await recovered(world)
  await world.ends('first')
  await world.next()
  // As long as it takes to be calm after one episode, with a lease that is held.
  for (let n = 0; n < 2; n += 1) {
    world.fixture.clock.advance(16_000)
    const { job, fence } = world.first
    await world.fixture.must(job.id, { type: 'heartbeat', fence })
  }
}

const succeeds = saying(({ fence }) => ({ type: 'complete', fence, stats: {}, executionMs: 0 }))

const lastChange = async (world: World) => (await world.key()).log.at(-1)?.type

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
})

describe('a process that dies at any point of what becomes of a key later', () => {
  it.each([
    ['is found to work again', probing, 'recovering', { state: 'slow', allowed: 1, session: 1 }, 1],
    ['is allowed more', recovered, 'raised', { state: 'slow', allowed: 2 }, 2],
    ['is open again', raised, 'opened', { state: 'open', session: 1 }, 2],
  ] as const)(
    'which %s: with the end that says so, once, and others have its slots',
    async (_, prepare, type, key, taken) => {
      const points = await everyDeath({
        prepare,
        say: succeeds,
        isDone: hasMoved,
        async before(world) {
          expect(await lastChange(world)).not.toBe(type)
          expect((await world.slots())[0]).toBe((await world.slots())[1])
        },
        async after(world) {
          expect(await world.key()).toMatchObject(key)
          expect((await world.key()).log.filter((event) => event.type === type)).toHaveLength(1)
          expect(await world.slots()).toEqual([taken, taken])
        },
      })
      expect(points).toEqual(expect.arrayContaining(['before commit 1', 'behind commit 1']))
    },
  )

  it.each([
    ['resets', 'reset', breaking, { state: 'open', session: 1 }, 2],
    ['has tried', 'probe', breaking, { state: 'broken', session: 1 }, 0],
  ] as const)('which somebody %s: as it was, or as they said', async (_, type, prepare, key, taken) => {
    await everyDeath({
      prepare,
      say: operator({ type }),
      isDone: async (world) => (await world.key()).log.length > 1,
      async before(world) {
        expect(await lastChange(world)).toBe('broken')
        expect(await world.slots()).toEqual([0, 0])
      },
      async after(world) {
        expect(await world.key()).toMatchObject(key)
        expect(await world.slots()).toEqual([taken, taken])
      },
    })
  })

  it('whose numbers somebody takes back: those of code hold, and others are let in or nobody is', async () => {
    await everyDeath({
      prepare: async ({ fixture }) =>
        fixture.engine.sayToLimits([
          { tenant: 't', key: 'host', actor: 'o', requestId: 'low', ask: { type: 'set', limit: { concurrency: 1 } } },
        ]),
      say: operator({ type: 'unset' }),
      isDone: async (world) => (await world.key()).byHand === undefined,
      async before(world) {
        expect(await world.key()).toMatchObject({ limit: { concurrency: 1 } })
        expect(await world.slots()).toEqual([2, 2])
      },
      async after(world) {
        expect(await world.key()).toMatchObject({ limit: { concurrency: 2 } })
        expect(await world.slots()).toEqual([2, 2])
      },
    })
  })
})

describe('a process that dies at any point of what is done about a key besides', () => {
  it('which nobody has used for a day: it is there or forgotten, and born again whole', async () => {
    const known = async ({ fixture }: World) => (await fixture.engine.limits({ tenant: 't', limit: 9 })).limits.length
    await everyDeath({
      async prepare(world) {
        for (const which of ['first', 'last'] as const) await world.ends(which)
        await world.next()
        await world.ends('first')
        world.fixture.clock.advance(QUIET_MS + HEARD_MS)
      },
      say: ({ fixture }) => new Forgetting(fixture.store).round(fixture.clock.now()),
      isDone: async (world) => (await known(world)) === 0,
      before: async (world) => expect(await known(world)).toBe(1),
      async after(world) {
        expect(await known(world)).toBe(0)
        await world.more()
        await world.fixture.engine.tick(100)
        expect(await world.slots()).toEqual([1, 1])
        const [{ job, fence } = world.first] = await world.fixture.claim(1)
        await world.fixture.must(job.id, { type: 'complete', fence, stats: {}, executionMs: 0 })
        world.fixture.clock.advance(QUIET_MS + HEARD_MS)
        await new Forgetting(world.fixture.store).round(world.fixture.clock.now())
      },
    })
  })

  it('which is mended: what it counts is as it was or as logs have it, and it is mended again', async () => {
    const mends = { tenant: 't', keys: [], jobs: [], held: [], claims: [] }
    await everyDeath({
      prepare: ({ fixture }) => fixture.store.commit([{ kind: 'mend', ...mends, spent: [{ key: 'host', amount: 4 }] }]),
      say: ({ fixture }, engine) => mended(engine, fixture.store),
      isDone: async (world) => (await world.key()).spent === 0,
      before: async (world) => expect([(await world.key()).spent, ...(await world.slots())]).toEqual([4, 2, 2]),
      after: async (world) => expect([(await world.key()).spent, ...(await world.slots())]).toEqual([0, 2, 2]),
    })
  })

  it('whose queue is paused: what stands is taken back with it, all of it or nothing', async () => {
    const key = queueKey('t', 'q')
    const paused = async ({ fixture }: World) => {
      const [answer] = await fixture.store.settings([{ op: 'get', collection: 'queue', key }])
      return answer?.settings[0] !== undefined
    }
    await everyDeath({
      prepare: (world) => world.ends('last'),
      say: (_, engine) =>
        engine.settings([{ op: 'put', collection: 'queue', key, text: '{"paused":true}', rev: undefined }]),
      isDone: paused,
      before: async (world) => expect(await world.slots()).toEqual([2, 2]),
      after: async (world) => expect(await world.slots()).toEqual([1, 1]),
    })
  })

  it('under which one stands that nobody claims: it gives way with all its slots, or stands', async () => {
    const isHeld = async ({ fixture, waiting }: World) =>
      (await fixture.store.load([{ id: waiting, flow: true }])).items[0]?.flow?.held === true
    await everyDeath({
      async prepare(world) {
        await world.ends('last')
        await world.more(9)
        world.fixture.clock.advance(PATIENCE_MS)
      },
      say: (_, engine) => engine.tick(100),
      isDone: isHeld,
      before: async (world) => expect(await world.slots()).toEqual([2, 2]),
      async after(world) {
        expect(await isHeld(world)).toBe(true)
        expect(await world.slots()).toEqual([2, 2])
      },
    })
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
