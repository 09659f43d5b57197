/**
 * Operations that die. Every call an operation makes of the store, and every checkpoint, is a place to die at: before it,
 * behind it, and where it is about several jobs, between two of them. Each is named, all are tried, and whoever goes on after
 * the crash comes to the same report, with nothing done twice.
 */
import { describe, expect, it } from 'vitest'
import type { Job, JobId } from '../../src/core/job.ts'
import type { OperationReport, OperationSpec } from '../../src/core/operation.ts'
import { BEGINNING, type Course } from '../../src/engine/operations/course.ts'
import { type OperationContext, type RunParts, runOperation } from '../../src/engine/operations/run.ts'
import { purged } from '../../src/engine/purge.ts'
import { EngineFixture, kindOf } from './engine-fixture.ts'

class Death extends Error {}
class Snoozed extends Error {}

const SPEC: OperationSpec = {
  action: 'redrive',
  query: '',
  dryRun: false,
  by: 'operator:ann',
  queues: undefined,
  reason: undefined,
  canary: undefined,
  edit: undefined,
  mode: 'soft',
}
const LETTERS = 7

/** A store with letters in it, the operation's own job, and whatever an attempt has kept. */
class World {
  readonly fixture = new EngineFixture()
  readonly letters: JobId[] = []
  readonly points: string[] = []
  operation: Job | undefined
  kept: string | undefined
  /** The name of the point to die at. */
  doom: string | undefined
  #seen = new Map<string, number>()

  async fill(end: (id: JobId) => Promise<unknown>): Promise<void> {
    const { engine } = this.fixture
    for (let n = 0; n < LETTERS; n += 1) {
      const [made] = await engine.enqueue([{ actor: 'p', kind: kindOf(), priority: 5, input: `{"n":${n}}` }])
      if (made?.ok !== true) throw new Error('not enqueued')
      this.letters.push(made.job.id)
      await end(made.job.id)
    }
    const [own] = await engine.enqueue([{ actor: 'p', kind: kindOf({}, 'pawl.operations'), priority: 5, input: '{}' }])
    this.operation = own?.ok === true ? own.job : undefined
  }

  deadLetter = (id: JobId) => this.said(id, { type: 'deadLetter', reason: 'timeout', stage: 'exec' })

  async said(id: JobId, command: object): Promise<void> {
    const [answer] = await this.fixture.engine.settle([
      { id, command: { actor: 'a', requestId: this.fixture.requestId(), ...command } as never },
    ])
    if (answer?.ok !== true) throw new Error(JSON.stringify(answer))
  }

  async attempt(spec: OperationSpec): Promise<OperationReport> {
    this.#seen = new Map()
    return runOperation(this.#parts(), spec, this.#context())
  }

  async jobs(): Promise<readonly Job[]> {
    const { items } = await this.fixture.engine.load(this.letters.map((id) => ({ id })))
    return items.flatMap((item) => (item === undefined ? [] : [item.job]))
  }

  #parts(): RunParts {
    const { engine, store } = this.fixture
    return {
      engine: {
        now: () => engine.now(),
        events: (query) => this.#mortal('events', () => engine.events(query)),
        find: (query) => this.#mortal('find', () => engine.find(query)),
        load: (items) => this.#mortal('load', () => engine.load(items)),
        settings: (operations) => this.#mortal('settings', () => engine.settings(operations)),
        whatHolds: (jobs) => this.#mortal('load', () => engine.whatHolds(jobs)),
        settle: (words) => this.#many('settle', words, (some) => engine.settle(some)),
        enqueue: (requests) => this.#many('enqueue', requests, (some) => engine.enqueue(some)),
      },
      purge: (ids) => this.#many('purge', ids, (some) => purged(store, some)),
    }
  }

  #context(): OperationContext {
    const { operation } = this
    if (operation === undefined) throw new Error('it has a job')
    return {
      job: operation,
      signal: new AbortController().signal,
      checkpoint: (...value: readonly unknown[]): Promise<never> =>
        value.length === 0
          ? Promise.resolve((this.kept === undefined ? undefined : JSON.parse(this.kept)) as never)
          : (this.#mortal('checkpoint', async () => {
              this.kept = JSON.stringify(value[0])
            }) as Promise<never>),
      progress: () => {},
      snooze: (): never => {
        throw new Snoozed()
      },
    }
  }

  #pass(point: string): void {
    if (!this.points.includes(point)) this.points.push(point)
    if (this.doom === point) {
      this.doom = undefined
      throw new Death(point)
    }
  }

  #name(call: string): string {
    const { phase, canariesSince } = this.kept === undefined ? BEGINNING : (JSON.parse(this.kept) as Course)
    const name = `${canariesSince === undefined ? phase : 'following canaries'} ${call}`
    const times = (this.#seen.get(name) ?? 0) + 1
    this.#seen.set(name, times)
    return `${name} ${times}`
  }

  async #mortal<T>(call: string, work: () => Promise<T>): Promise<T> {
    const name = this.#name(call)
    this.#pass(`before ${name}`)
    const answer = await work()
    this.#pass(`behind ${name}`)
    return answer
  }

  /** Dies between two of them as well. */
  async #many<T, A>(call: string, items: readonly T[], work: (some: readonly T[]) => Promise<readonly A[]>) {
    const name = this.#name(call)
    this.#pass(`before ${name}`)
    if (items.length > 1 && this.doom === `within ${name}`) await work(items.slice(0, Math.ceil(items.length / 2)))
    if (items.length > 1) this.#pass(`within ${name}`)
    const answers = await work(items)
    this.#pass(`behind ${name}`)
    return answers
  }
}

interface Trial {
  readonly spec: OperationSpec
  readonly fill: (world: World) => Promise<void>
  /** What happens to its jobs between the crash and the next attempt. */
  readonly meanwhile?: (world: World) => Promise<void>
  readonly check: (world: World) => Promise<void>
}

async function finished(world: World, { spec, meanwhile }: Trial): Promise<OperationReport> {
  for (let attempts = 0; attempts < 20; attempts += 1) {
    try {
      return await world.attempt(spec)
    } catch (error) {
      if (!(error instanceof Death || error instanceof Snoozed)) throw error
      await meanwhile?.(world)
    }
  }
  throw new Error('it never ends')
}

const opened = async (trial: Trial): Promise<World> => {
  const world = new World()
  await trial.fill(world)
  return world
}

async function everyDeath(trial: Trial): Promise<readonly string[]> {
  const calm = await opened(trial)
  const report = await finished(calm, trial)
  await trial.check(calm)
  expect(report).toMatchObject({ matched: LETTERS, done: LETTERS, refused: 0 })
  for (const doom of calm.points) {
    const world = await opened(trial)
    world.doom = doom
    const after = await finished(world, trial)
    expect(world.doom, doom).toBeUndefined()
    expect(after, doom).toEqual(report)
    await trial.check(world)
  }
  return calm.points
}

const dead = async (world: World) => world.fill(world.deadLetter)

/** What was redriven fails again at once: the worst that can happen to whoever forgets what was done. */
const failsAgain = async (world: World) => {
  for (const job of await world.jobs()) if (job.endedAt === undefined) await world.deadLetter(job.id)
}

const reopenedOnce = async (world: World) => {
  for (const { id, generation } of await world.jobs()) expect([id, generation]).toEqual([id, 1])
}

describe('an operation that dies at any point is gone on with, and nothing is done twice', () => {
  it('redrive', async () => {
    const points = await everyDeath({ spec: SPEC, fill: dead, meanwhile: failsAgain, check: reopenedOnce })
    expect(points).toEqual([
      'before looking find 1',
      'behind looking find 1',
      'before looking checkpoint 1',
      'behind looking checkpoint 1',
      'before acting find 1',
      'behind acting find 1',
      'before acting checkpoint 1',
      'behind acting checkpoint 1',
      'before acting load 1',
      'behind acting load 1',
      'before acting load 2',
      'behind acting load 2',
      'before acting settle 1',
      'within acting settle 1',
      'behind acting settle 1',
      'before acting enqueue 1',
      'behind acting enqueue 1',
      'before acting checkpoint 2',
      'behind acting checkpoint 2',
    ])
  })

  it('redrive with canaries, which succeed while it waits for them', async () => {
    const succeeds = async (world: World) => {
      const { engine } = world.fixture
      const lanes = [{ tenant: 't', queue: 'q', priority: 5 }]
      const requestId = world.fixture.requestId()
      for (const { job, fence } of await engine.claim({ requestId, workerId: 'w', lanes, limit: 100 })) {
        await world.said(job.id, { type: 'start', fence })
        await world.said(job.id, { type: 'complete', fence })
      }
    }
    const spec = { ...SPEC, canary: { first: 2, withinMs: 60_000 } }
    const points = await everyDeath({ spec, fill: dead, meanwhile: succeeds, check: reopenedOnce })
    for (const point of ['within acting settle 1', 'behind acting checkpoint 3', 'within following canaries settle 1'])
      expect(points).toContain(point)
  })

  it('redrive with an edited input: one new job for each, with the old one as parent', async () => {
    const check = async ({ fixture, letters }: World) => {
      for (const id of letters) {
        const { jobs } = await fixture.engine.find({ parentId: id, order: 'oldest', limit: 9 })
        expect(jobs.length).toBe(1)
        const { items } = await fixture.engine.load([{ id: jobs[0]?.id ?? '', bodies: ['input'] }])
        expect(items[0]?.bodies['input']).toBe(`{"n":${letters.indexOf(id)},"more":1}`)
      }
    }
    const points = await everyDeath({ spec: { ...SPEC, edit: { patch: '{"more":1}' } }, fill: dead, check })
    expect(points).toContain('within acting enqueue 1')
  })

  it('cancel', async () => {
    const check = async (world: World) => {
      for (const { id } of await world.jobs()) {
        const log = await world.fixture.engine.events({ by: 'job', id, afterRev: 0, limit: 100 })
        expect(log.events.filter(({ type }) => type === 'cancelled').map(({ actor }) => actor)).toEqual([
          'operator:ann',
        ])
      }
    }
    const spec = { ...SPEC, action: 'cancel', query: 'queue:q' } as const
    const points = await everyDeath({ spec, fill: (world) => world.fill(async () => {}), check })
    expect(points).toContain('within acting settle 1')
  })

  it('purge', async () => {
    const check = async (world: World) => expect(await world.jobs()).toEqual([])
    const spec = { ...SPEC, action: 'purge', query: 'state:dead_lettered' } as const
    const points = await everyDeath({ spec, fill: dead, check })
    expect(points).toContain('within acting purge 1')
  })
})
