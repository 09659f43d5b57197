import { describe, expect, it } from 'vitest'
import type { Job } from '../../src/core/job.ts'
import type { ClaimRequest } from '../../src/engine/engine.ts'
import { definition, openWorkerFixture, type WorkerFixture } from './worker-fixture.ts'

const statesOf = async (fixture: WorkerFixture): Promise<Record<string, number>> => {
  const { tally } = await fixture.engine.events({ by: 'tally' })
  const states: Record<string, number> = {}
  for (const { state, count } of tally) if (count > 0) states[state] = (states[state] ?? 0) + count
  return states
}

const enqueueMany = async (
  fixture: WorkerFixture,
  job: Parameters<WorkerFixture['enqueue']>[0],
  count: number,
  priority = 5,
) => {
  for (let i = 0; i < count; i += 1) await fixture.enqueue(job, i, { priority })
}

describe('prefetching', () => {
  it('holds short jobs ready, claimed and not started', async () => {
    await using fixture = openWorkerFixture()
    let most = 0
    const short = definition(() => fixture.time.sleep(10), { lease: '60s' })
    await enqueueMany(fixture, short, 400)
    const { worker } = fixture.work([short], { concurrency: 8 })
    for (let i = 0; i < 400 && ((await statesOf(fixture))['succeeded'] ?? 0) < 400; i += 1) {
      await fixture.time.advance(10)
      const { claimed = 0, running = 0 } = await statesOf(fixture)
      expect(running).toBe(0)
      most = Math.max(most, claimed)
    }
    expect(worker.held).toBe(0)
    expect(most).toBeGreaterThan(50)
  })

  it('is not for limited jobs: no more of them are claimed than handlers are free, and unlimited ones are held beside them', async () => {
    await using fixture = openWorkerFixture()
    let [owned, most, inStock] = [0, 0, 0]
    const free = definition(() => fixture.time.sleep(10), { lease: '60s' }, { type: 'free' })
    const limited = definition(
      async () => {
        await fixture.time.sleep(10)
        owned -= 1
      },
      { lease: '60s' },
      { type: 'limited' },
    )
    const claim = fixture.engine.claim.bind(fixture.engine)
    fixture.engine.claim = async (request: ClaimRequest) => {
      const assignments = await claim(request)
      owned += assignments.filter(({ job }) => job.spec.kind.type === 'limited').length
      most = Math.max(most, owned)
      return assignments
    }
    await enqueueMany(fixture, free, 100)
    for (let i = 0; i < 100; i += 1) await fixture.enqueue(limited, i, { keys: ['host'] })
    const { worker } = fixture.work([free, limited], { concurrency: 4, prefetch: 50 })
    for (let i = 0; i < 400 && ((await statesOf(fixture))['succeeded'] ?? 0) < 200; i += 1) {
      await fixture.time.advance(5)
      inStock = Math.max(inStock, worker.held)
    }
    expect(await statesOf(fixture)).toEqual({ succeeded: 200 })
    expect(inStock).toBeGreaterThan(10)
    expect(most).toBe(4)
  })

  it('leaves long jobs to others', async () => {
    await using fixture = openWorkerFixture()
    const long = definition(() => fixture.time.sleep(5_000), { lease: '2s' })
    await enqueueMany(fixture, long, 50)
    fixture.work([long], { concurrency: 2 })
    for (let i = 0; i < 20; i += 1) {
      await fixture.time.advance(1_000)
      const { claimed = 0, running = 0, stalled = 0 } = await statesOf(fixture)
      expect(claimed + running).toBeLessThanOrEqual(3)
      expect(stalled).toBe(0)
    }
  })

  it('hands back what it cannot start in time, and burns nothing', async () => {
    await using fixture = openWorkerFixture()
    let slow = false
    const fickle = definition(() => (slow ? fixture.time.sleep(8_000) : fixture.time.sleep(1)), { lease: '4s' })
    await enqueueMany(fixture, fickle, 300)
    fixture.work([fickle], { concurrency: 2 })
    await fixture.time.advance(50)
    slow = true
    await fixture.time.advance(3_000)
    const { claimed = 0, queued = 0 } = await statesOf(fixture)
    expect(claimed).toBeLessThanOrEqual(2)
    expect(queued).toBeGreaterThan(100)
    slow = false
    await fixture.time.advance(60_000)
    expect(await statesOf(fixture)).toEqual({ succeeded: 300 })
    const { jobs } = await fixture.engine.find({ order: 'oldest', limit: 500 })
    expect(jobs.every((job: Job) => job.stalls === 0 && job.failures === 0)).toBe(true)
  })
})

describe('where work flows', () => {
  it('the next claim is on its way before the last is answered, and both are within what may be held', async () => {
    await using fixture = openWorkerFixture()
    let [underWay, most, held] = [0, 0, 0]
    const claim = fixture.engine.claim.bind(fixture.engine)
    fixture.engine.claim = async (request: ClaimRequest) => {
      underWay += 1
      most = Math.max(most, underWay)
      const assignments = await claim(request)
      await fixture.time.sleep(5)
      underWay -= 1
      return assignments
    }
    const quick = definition(() => undefined, { lease: '60s' })
    await enqueueMany(fixture, quick, 3_000)
    const { worker } = fixture.work([quick], { concurrency: 4, prefetch: 1_000 })
    for (let i = 0; i < 1_000 && ((await statesOf(fixture))['succeeded'] ?? 0) < 3_000; i += 1) {
      await fixture.time.advance(5)
      held = Math.max(held, worker.held)
    }
    expect(await statesOf(fixture)).toEqual({ succeeded: 3_000 })
    expect(most).toBe(2)
    expect(held).toBeLessThanOrEqual(1_004)
  })
})

describe('queues', () => {
  it('share a worker by their weights, and leave others alone', async () => {
    await using fixture = openWorkerFixture()
    const order: string[] = []
    const job = (queue: string) =>
      definition(
        async () => {
          order.push(queue)
          await fixture.time.sleep(100)
        },
        {},
        { queue, type: queue },
      )
    const [heavy, light, foreign] = [job('heavy'), job('light'), job('foreign')]
    for (const each of [heavy, light, foreign]) await enqueueMany(fixture, each, 60)
    fixture.work([heavy, light, foreign], { concurrency: 1, prefetch: 0, queues: { heavy: 3, light: 1 } })
    await fixture.time.advance(4_050)
    const count = (queue: string) => order.filter((each) => each === queue).length
    expect(order.length).toBeGreaterThan(30)
    expect(count('foreign')).toBe(0)
    expect(count('heavy') / count('light')).toBeGreaterThan(2)
    expect(count('heavy') / count('light')).toBeLessThan(4)
  })

  it('serve what is urgent first, and let nothing starve', async () => {
    await using fixture = openWorkerFixture()
    const order: number[] = []
    const job = definition(async (priority: number) => {
      order.push(priority)
      await fixture.time.sleep(100)
    })
    for (const priority of [7, 1]) {
      for (let i = 0; i < 40; i += 1) await fixture.enqueue(job, priority, { priority })
    }
    fixture.work([job], { concurrency: 1, prefetch: 0, ageing: '100ms' })
    await fixture.time.advance(3_000)
    expect(order[0]).toBe(1)
    expect(order.slice(0, 20)).toContain(7)
    expect(order.filter((each) => each === 1).length).toBeGreaterThan(order.filter((each) => each === 7).length)
  })
})

describe('a store that is away for a while', () => {
  it('costs nothing but time: claims and outcomes are repeated under their own ids', async () => {
    await using fixture = openWorkerFixture()
    const job = definition(() => fixture.time.sleep(300))
    const { engine } = fixture
    let away = false
    const asked: string[] = []
    const lossy = new Proxy(engine, {
      get(target, name: keyof typeof engine) {
        const call = target[name]
        if (typeof call !== 'function') return call
        if (name !== 'claim' && name !== 'settle') return call.bind(target)
        return async (request: ClaimRequest) => {
          if (name === 'claim') asked.push(request.requestId)
          const answer = await (call as (request: ClaimRequest) => Promise<unknown>).call(target, request)
          // It did what it was asked, and nobody heard.
          if (away) throw new Error('connection lost')
          return answer
        }
      },
    })
    await enqueueMany(fixture, job, 20)
    const { startWorker } = await import('../../src/worker/worker.ts')
    const { time } = fixture
    away = true
    const worker = startWorker(lossy, [job], { clock: time, timers: time, machineMs: () => time.monotonicMs() })
    await time.advance(500)
    expect(worker.held).toBe(0)
    expect(new Set(asked).size).toBe(1)
    away = false
    await time.advance(600)
    away = true
    await time.advance(700)
    away = false
    await time.advance(20_000)
    expect(await statesOf(fixture)).toEqual({ succeeded: 20 })
    const { jobs } = await engine.find({ order: 'oldest', limit: 500 })
    expect(jobs.map(({ attempt, stalls }) => [attempt, stalls])).toEqual(jobs.map(() => [1, 0]))
    await worker.stop()
  })
})
