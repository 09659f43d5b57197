/** Several workers on one queue that know different types, as in every rolling deployment. */
import { describe, expect, it } from 'vitest'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import { openAt, PLACES, STORES } from '../engine/opened.ts'
import { eventually } from '../support/eventually.ts'
import { definition, openWorkerFixture } from './worker-fixture.ts'

const OLD = definition(() => 'old', {}, { type: 'old' })
const NEW = definition(() => 'new', {}, { type: 'new' })

describe('a worker that does not know a type', () => {
  it('hands the job back once, for a worker that does and begins at once', async () => {
    await using fixture = openWorkerFixture()
    fixture.work([OLD], { id: 'w-old' })
    fixture.work([NEW], { id: 'w-new' })
    await fixture.time.advance(100)
    const ids = []
    for (let n = 0; n < 40; n += 1) ids.push(await fixture.enqueue(n % 2 === 0 ? OLD : NEW))
    await fixture.time.advance(100)
    for (const id of ids) {
      const job = await fixture.load(id)
      expect(job.state).toBe('succeeded')
      expect(job.attempt).toBeLessThanOrEqual(2)
    }
  })

  it('is not given a job that it could not hand back: 002 knows no release, and a deployment ends no job', async () => {
    await using fixture = openWorkerFixture()
    const strict = definition(() => 'strict', { dialect: '002', lease: '60s' }, { type: 'strict' })
    fixture.work([OLD], { id: 'w-old' })
    await fixture.time.advance(100)
    const id = await fixture.enqueue(strict)
    await fixture.settle(id, { type: 'admit', rule: 'all', policyHash: 'p1' })
    await fixture.time.advance(600_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'queued', attempt: 0 })
    fixture.work([strict], { id: 'w-new' })
    await fixture.time.advance(100)
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 1 })
  })

  it('is not given it again, and a worker that comes later is', async () => {
    await using fixture = openWorkerFixture()
    const { worker } = fixture.work([OLD])
    const id = await fixture.enqueue(NEW)
    await fixture.time.advance(120_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'queued', attempt: 1, needs: 'new' })
    expect(worker.held).toBe(0)
    fixture.work([NEW])
    await fixture.time.advance(100)
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 2 })
  })

  it('says once that nobody knows it, and again only after somebody did', async () => {
    await using fixture = openWorkerFixture()
    fixture.work([OLD], { id: 'w-old' })
    const warnings = () =>
      fixture.lines.filter(({ level }) => level === 'warn').map(({ message, fields }) => [message, fields])
    const nobody = [
      expect.stringContaining('no worker that is there knows'),
      { type: 'new', queue: 'default', worker_id: 'w-old' },
    ]
    for (let n = 0; n < 5; n += 1) {
      await fixture.enqueue(NEW)
      await fixture.time.advance(61_000)
    }
    expect(warnings()).toEqual([nobody])
    const { worker } = fixture.work([NEW], { id: 'w-new', concurrency: 1, prefetch: 0 })
    await fixture.time.advance(61_000)
    for (let n = 0; n < 20; n += 1) await fixture.enqueue(NEW)
    await fixture.time.advance(61_000)
    for (let n = 0; n < 20; n += 1) await fixture.enqueue(NEW)
    const stopping = worker.stop({ drain: 100 })
    await fixture.time.advance(61_000)
    await stopping
    expect(warnings()).toEqual([nobody])
    await fixture.enqueue(NEW)
    await fixture.time.advance(1_000)
    expect(warnings()).toEqual([nobody, nobody])
  })
})

interface World extends AsyncDisposable {
  /** Two processes, as far as a test can have them. */
  readonly pawls: readonly [Pawl, Pawl]
}

const twice = (name: keyof typeof PLACES) => async (): Promise<World> => {
  const stack = new AsyncDisposableStack()
  const place = stack.use(await PLACES[name]())
  const pawls = [stack.use(await openAt(place)), stack.use(await openAt(place))] as const
  return { pawls, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

const WORLDS: Readonly<Record<string, () => Promise<World>>> = {
  async memory() {
    const pawl = await openAt(await PLACES.memory())
    return { pawls: [pawl, pawl], [Symbol.asyncDispose]: () => pawl.close() }
  },
  sqlite: twice('sqlite'),
  postgres: twice('postgres'),
  ...(STORES.includes('redis') ? { redis: twice('redis') } : {}),
  async http() {
    const stack = new AsyncDisposableStack()
    const home = stack.use(await openAt(await PLACES.memory()))
    const { url } = stack.use(await startGateway({ engine: home.engine, auth: false, port: 0 }))
    const client = () => open(url, { log: 'silent' })
    const pawls = [stack.use(await client()), stack.use(await client())] as const
    return { pawls, [Symbol.asyncDispose]: () => stack.disposeAsync() }
  },
}

describe.each(Object.keys(WORLDS))('a rolling deployment on %s', (name) => {
  const old = defineJob({ type: 'old', queue: 'shared', run: () => 'old' })
  const fresh = defineJob({ type: 'new', queue: 'shared', run: () => 'new' })

  it('runs every job, each handed back once at most and put off by nobody', async () => {
    await using world = await (WORLDS[name] as (typeof WORLDS)[string])()
    const [one, two] = world.pawls
    await using _old = one.work([old])
    const first = await one.enqueue(fresh)
    await eventually('the first of a new type to be handed back', async () => (await first.job())?.needs === 'new')
    expect(await first.explain()).toMatchObject({
      way: 'queued',
      because: expect.stringMatching(/No worker that is there knows type new: 1 serve queue shared/),
    })
    await using _new = two.work([fresh])
    expect(await first.result({ timeout: '20s' })).toBe('new')
    const jobs = [first]
    for (let n = 0; n < 30; n += 1)
      jobs.push(await one.enqueue(n % 3 === 0 ? old : fresh, undefined, { priority: n % 2 }))
    for (const job of jobs) {
      await job.result({ timeout: '20s' })
      const released = (await job.events()).filter((event) => event.type === 'released')
      expect(released.length).toBeLessThanOrEqual(1)
      for (const { at, payload } of released) expect(payload.runAt).toBe(at)
    }
  })
})
