/** When a worker waits for work, for how much of it, and what becomes of a wait that is called off. */
import { describe, expect, it } from 'vitest'
import type { Assignment, ClaimRequest } from '../../src/engine/engine.ts'
import { definition, openWorkerFixture, type WorkerFixture } from './worker-fixture.ts'

/** What the fixture's engine is asked for, and whether it was answered. */
function watched(fixture: WorkerFixture) {
  const asked: { readonly request: ClaimRequest; answered: readonly Assignment[] | undefined }[] = []
  const claim = fixture.engine.claim.bind(fixture.engine)
  fixture.engine.claim = async (request) => {
    const one = { request, answered: undefined as readonly Assignment[] | undefined }
    asked.push(one)
    const assignments = await claim(request)
    one.answered = assignments
    return assignments
  }
  const last = () => asked.at(-1)?.request
  return { asked, claim, last, waits: () => asked.filter(({ answered }) => answered === undefined).length }
}

describe('a worker that finds nothing', () => {
  it('looks once, then waits: one claim at a time, followed by the next when its time is over', async () => {
    await using fixture = openWorkerFixture()
    const { asked, waits } = watched(fixture)
    fixture.work([definition(() => undefined)], { poll: '800ms' })
    await fixture.time.advance(95_000)
    expect(asked.map(({ request }) => request.waitMs)).toEqual([undefined, 30_000, 30_000, 30_000, 30_000])
    expect(new Set(asked.map(({ request }) => request.pollMs))).toEqual(new Set([undefined, 800]))
    expect(new Set(asked.map(({ request }) => request.requestId)).size).toBe(5)
    expect(waits()).toBe(1)
  })

  it('waits for at least as long as it would not look by itself', async () => {
    await using fixture = openWorkerFixture()
    const { last } = watched(fixture)
    fixture.work([definition(() => undefined)], { poll: '10m' })
    await fixture.time.advance(10)
    expect(last()).toMatchObject({ waitMs: 600_000, pollMs: 600_000 })
  })

  it('is given what comes, whether or not it hears hints', async () => {
    await using fixture = openWorkerFixture()
    const { asked } = watched(fixture)
    const job = definition(() => undefined)
    const { worker, mortal } = fixture.work([job])
    await fixture.time.advance(10)
    mortal.deafen()
    const id = await fixture.enqueue(job)
    await fixture.time.advance(1)
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(worker.held).toBe(0)
    // The look, the wait that was answered, and the next.
    expect(asked.length).toBe(3)
  })

  it('looks at once when it is woken, although it waits', async () => {
    await using fixture = openWorkerFixture()
    const { asked } = watched(fixture)
    const { worker } = fixture.work([definition(() => undefined)])
    await fixture.time.advance(10)
    expect(asked.length).toBe(2)
    worker.wake()
    await fixture.time.advance(1)
    expect(asked[1]?.answered).toEqual([])
    expect(asked.length).toBeGreaterThan(2)
  })

  it('asks no more often than it would look by itself where it is not let wait', async () => {
    await using fixture = openWorkerFixture()
    const { asked, claim } = watched(fixture)
    fixture.engine.claim = async ({ waitMs: _, ...request }) => {
      asked.push({ request, answered: [] })
      return claim(request)
    }
    fixture.work([definition(() => undefined)], { poll: '1s' })
    await fixture.time.advance(10_000)
    expect(asked.length).toBeLessThan(20)
    expect(asked.length).toBeGreaterThan(8)
  })
})

describe('how much a worker waits for', () => {
  it('as many jobs as could begin at once, and nothing where all handlers are busy', async () => {
    await using fixture = openWorkerFixture()
    const { last, waits } = watched(fixture)
    const quick = definition(() => undefined)
    const slow = definition(() => fixture.time.sleep(60_000), { lease: '120s' }, { type: 'slow' })
    fixture.work([quick, slow], { concurrency: 2, prefetch: 100 })
    await fixture.enqueue(quick)
    await fixture.time.advance(200)
    expect(last()).toMatchObject({ limit: 2, waitMs: 30_000 })
    await fixture.enqueue(slow)
    await fixture.time.advance(10)
    expect(last()).toMatchObject({ limit: 1, waitMs: 30_000 })
    await fixture.enqueue(slow)
    await fixture.time.advance(3_000)
    expect(waits()).toBe(0)
    expect(last()?.waitMs).toBe(undefined)
    await fixture.time.advance(60_000)
    expect(last()).toMatchObject({ waitMs: 30_000 })
  })

  it('waits with one claim at a time, whatever else it asks for', async () => {
    await using fixture = openWorkerFixture()
    const job = definition(() => undefined, { lease: '60s' })
    for (let i = 0; i < 3_000; i += 1) await fixture.enqueue(job, i)
    let [underWay, most] = [0, 0]
    const claim = fixture.engine.claim.bind(fixture.engine)
    fixture.engine.claim = async (request) => {
      if (request.waitMs !== undefined) underWay += 1
      most = Math.max(most, underWay)
      await fixture.time.sleep(5)
      const assignments = await claim(request)
      if (request.waitMs !== undefined) underWay -= 1
      return assignments
    }
    fixture.work([job], { concurrency: 4, prefetch: 1_000 })
    await fixture.time.advance(3_000)
    expect(most).toBe(1)
    expect(underWay).toBe(1)
  })
})

describe('the lease of a job that was waited for', () => {
  it('is counted from when it was found, not from when it was asked for', async () => {
    await using fixture = openWorkerFixture()
    const job = definition(() => fixture.time.sleep(1_500), { lease: '2s' })
    const { worker } = fixture.work([job])
    await fixture.time.advance(25_000)
    const id = await fixture.enqueue(job)
    await fixture.time.advance(1_000)
    expect(worker.running).toBe(1)
    await fixture.time.advance(1_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'succeeded', attempt: 1, stalls: 0 })
  })
})

describe('a worker that stops', () => {
  it('calls its wait off, and releases what that was given in between', async () => {
    await using fixture = openWorkerFixture()
    const { claim } = watched(fixture)
    let runs = 0
    const job = definition(() => {
      runs += 1
    })
    // Its answer is on its way when the worker stops.
    const answer = Promise.withResolvers<void>()
    fixture.engine.claim = async (request) => {
      const assignments = await claim(request)
      if (assignments.length > 0) await answer.promise
      return assignments
    }
    const { worker } = fixture.work([job])
    await fixture.time.advance(10)
    const id = await fixture.enqueue(job)
    await fixture.time.advance(1)
    expect((await fixture.load(id)).state).toBe('claimed')
    const stopped = worker.stop()
    await fixture.time.advance(1)
    answer.resolve()
    await fixture.time.advance(100)
    await stopped
    expect(runs).toBe(0)
    expect(await fixture.load(id)).toMatchObject({ state: 'queued', failures: 0, stalls: 0 })
  })

  it('leaves nobody behind who waits: what comes then is queued', async () => {
    await using fixture = openWorkerFixture()
    const job = definition(() => undefined)
    const { worker } = fixture.work([job])
    await fixture.time.advance(10)
    const stopped = worker.stop()
    await fixture.time.advance(100)
    await stopped
    const id = await fixture.enqueue(job)
    await fixture.time.advance(5_000)
    expect(await fixture.load(id)).toMatchObject({ state: 'queued', attempt: 0 })
  })

  it('brings in what was given to a claim whose answer was lost, and hands it back', async () => {
    await using fixture = openWorkerFixture()
    const { claim } = watched(fixture)
    const job = definition(() => undefined)
    let lost = false
    fixture.engine.claim = async (request) => {
      const assignments = await claim(request)
      if (assignments.length === 0 || lost) return assignments
      lost = true
      throw new Error('connection lost')
    }
    const { worker, mortal } = fixture.work([job], { poll: '1h' })
    await fixture.time.advance(10)
    mortal.deafen()
    const id = await fixture.enqueue(job)
    await fixture.time.advance(1)
    expect((await fixture.load(id)).state).toBe('claimed')
    const stopped = worker.stop()
    await fixture.time.advance(100)
    await stopped
    expect(await fixture.load(id)).toMatchObject({ state: 'queued', failures: 0, stalls: 0 })
  })

  it('goes although the store does not answer', async () => {
    await using fixture = openWorkerFixture()
    const { worker } = fixture.work([definition(() => undefined)], { drain: '1s' })
    await fixture.time.advance(10)
    fixture.engine.claim = () => Promise.reject(new Error('connection lost'))
    const stopped = worker.stop()
    await fixture.time.advance(2_000)
    await stopped
    expect(worker.held).toBe(0)
  })
})
