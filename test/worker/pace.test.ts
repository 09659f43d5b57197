/** How much a worker holds, and in which order it starts what it holds. */
import { describe, expect, it } from 'vitest'
import { PRIORITIES } from '../../src/core/job.ts'
import { DIALECT_NAMES } from '../../src/core/policy.ts'
import type { JobDefinition } from '../../src/worker/definition.ts'
import { Pace } from '../../src/worker/pace.ts'
import { definition, openWorkerFixture, type WorkerFixture } from './worker-fixture.ts'

const TOOK_MS = 20

/** When jobs of each name were started; each takes as long as `tookMs` says. */
function timed(fixture: WorkerFixture, tookMs: () => number = () => TOOK_MS) {
  const started: { readonly name: string; readonly atMs: number }[] = []
  const job = (name: string, queue = 'default', dialect?: (typeof DIALECT_NAMES)[number]): JobDefinition =>
    definition(
      async () => {
        started.push({ name, atMs: fixture.time.monotonicMs() })
        await fixture.time.sleep(tookMs())
      },
      { lease: '60s', heartbeat: '20s', dialect },
      { type: name, queue },
    )
  const startOf = (name: string) => started.find((each) => each.name === name)?.atMs
  const countOf = (name: string, sinceMs = 0, untilMs = Number.POSITIVE_INFINITY) =>
    started.filter((each) => each.name === name && each.atMs >= sinceMs && each.atMs < untilMs).length
  return { started, job, startOf, countOf }
}

async function enqueueMany(
  fixture: WorkerFixture,
  { queue, type, policy }: JobDefinition,
  count: number,
  priority = 5,
) {
  const kind = { tenant: 'default', queue, type, policy }
  for (let left = count; left > 0; left -= 500) {
    const some = Array.from({ length: Math.min(left, 500) }, () => ({
      actor: 'test',
      kind,
      priority,
      input: undefined,
    }))
    const enqueued = await fixture.engine.enqueue(some)
    for (const answer of enqueued) expect(answer.ok).toBe(true)
    const pending = enqueued.flatMap((answer) => (answer.ok && answer.job.state === 'pending' ? [answer.job.id] : []))
    const admit = { type: 'admit', rule: 'all', policyHash: 'p1', actor: 'test', requestId: 'admitted' } as const
    for (const { ok } of await fixture.engine.settle(pending.map((id) => ({ id, command: admit }))))
      expect(ok).toBe(true)
  }
}

/** How many jobs each claim asked for. Claims are answered after `answerMs`. */
function watched(fixture: WorkerFixture, answerMs = 0) {
  const limits: number[] = []
  const claim = fixture.engine.claim.bind(fixture.engine)
  fixture.engine.claim = async (request) => {
    limits.push(request.limit)
    const assignments = await claim(request)
    if (answerMs > 0) await fixture.time.sleep(answerMs)
    return assignments
  }
  return limits
}

describe('what is held', () => {
  it('is started within 100 ms, however much there is', async () => {
    await using fixture = openWorkerFixture()
    const { job } = timed(fixture)
    const short = job('short')
    await enqueueMany(fixture, short, 2_000)
    const { worker } = fixture.work([short], { concurrency: 4 })
    let most = 0
    for (let i = 0; i < 100; i += 1) {
      await fixture.time.advance(10)
      most = Math.max(most, worker.held - worker.running)
    }
    // Four at a time for 20 ms each are 20 in 100 ms.
    expect(most).toBeGreaterThan(10)
    expect(most).toBeLessThanOrEqual(20)
  })

  it('grows to what a claim can bring with the first handlers that end, where they are quick', async () => {
    await using fixture = openWorkerFixture()
    const limits = watched(fixture)
    const quick = definition(() => undefined, { lease: '60s' })
    await enqueueMany(fixture, quick, 3_000)
    fixture.work([quick])
    await fixture.time.advance(1)
    expect(limits.slice(0, 2)).toEqual([16, 500])
  })

  it('goes back where handlers have become slow: others could start it sooner', async () => {
    await using fixture = openWorkerFixture()
    let tookMs = 1
    const { job, started } = timed(fixture, () => tookMs)
    const fickle = job('fickle')
    await enqueueMany(fixture, fickle, 3_000)
    const { worker } = fixture.work([fickle], { concurrency: 4 })
    await fixture.time.advance(200)
    expect(worker.held - worker.running).toBeGreaterThan(150)
    tookMs = 500
    await fixture.time.advance(1_000)
    expect(worker.held - worker.running).toBeLessThanOrEqual(5)
    tookMs = 1
    await fixture.time.advance(10_000)
    expect(started.length).toBe(3_000)
    const { jobs } = await fixture.engine.find({ order: 'oldest', limit: 500 })
    expect(jobs.every(({ state, stalls, failures }) => state === 'succeeded' && stalls + failures === 0)).toBe(true)
  })

  it('stays where only some handlers are slow', async () => {
    await using fixture = openWorkerFixture()
    let runs = 0
    const { job, started } = timed(fixture, () => (++runs % 100 === 0 ? 1_000 : 1))
    const mixed = job('mixed')
    await enqueueMany(fixture, mixed, 5_000)
    fixture.work([mixed])
    await fixture.time.advance(20_000)
    expect(started.length).toBe(5_000)
    const { jobs } = await fixture.engine.find({ order: 'oldest', limit: 500 })
    expect(jobs.filter(({ attempt }) => attempt > 1)).toEqual([])
  })

  it('stays although handlers have become slow, where it could not be handed back', async () => {
    await using fixture = openWorkerFixture()
    const { job, started } = timed(fixture)
    const quick = definition(() => undefined, { lease: '60s' }, { type: 'quick' })
    const [unbound, before] = [job('report'), job('report', 'default', '004')]
    await enqueueMany(fixture, quick, 700, 1)
    await enqueueMany(fixture, before, 400)
    const { worker } = fixture.work([quick, unbound])
    await fixture.time.advance(1)
    expect(worker.held - worker.running).toBeGreaterThan(200)
    await fixture.time.advance(2_000)
    expect(started.length).toBe(400)
    expect(fixture.lines.filter(({ level }) => level !== 'info')).toEqual([])
  })

  it('is nothing of a type that could not be handed back', async () => {
    const held: Record<string, boolean> = {}
    for (const dialect of DIALECT_NAMES) {
      await using fixture = openWorkerFixture()
      const { job } = timed(fixture)
      const bound = job('bound', 'default', dialect)
      await enqueueMany(fixture, bound, 200)
      const { worker } = fixture.work([bound], { concurrency: 4 })
      held[dialect] = false
      for (let i = 0; i < 50; i += 1) {
        await fixture.time.advance(10)
        if (worker.held > worker.running) held[dialect] = true
      }
    }
    expect(held).toEqual({ '000A': true, '000B': true, '001': false, '002': false, '003': true, '004': false })
  })

  it('is nothing more, once a job has come that could not be handed back although its type could today', async () => {
    await using fixture = openWorkerFixture()
    const { job, countOf } = timed(fixture)
    const [unbound, before] = [job('report'), job('report', 'default', '004')]
    await enqueueMany(fixture, before, 40)
    await enqueueMany(fixture, unbound, 200)
    const { worker } = fixture.work([unbound], { concurrency: 4 })
    let held = 0
    for (let i = 0; i < 200; i += 1) {
      await fixture.time.advance(10)
      held = Math.max(held, worker.held - worker.running)
    }
    expect(countOf('report')).toBe(240)
    expect(held).toBe(0)
    expect(fixture.lines.filter(({ level }) => level !== 'info')).toEqual([])
  })
})

describe('what is more urgent', () => {
  it.each([
    ['a store that answers at once', 0],
    ['one that takes 10 ms', 10],
  ])('is started within 100 ms, and a job, behind ten thousand: %s', async (_, answerMs) => {
    await using fixture = openWorkerFixture()
    watched(fixture, answerMs)
    const { job, startOf } = timed(fixture)
    const [ordinary, urgent] = [job('ordinary'), job('urgent')]
    await enqueueMany(fixture, ordinary, 10_000)
    fixture.work([ordinary, urgent])
    for (const offsetMs of [505, 17]) await fixture.time.advance(offsetMs)
    const enqueuedMs = fixture.time.monotonicMs()
    await fixture.enqueue(urgent, undefined, { priority: PRIORITIES.critical })
    await fixture.time.advance(1_000)
    expect(startOf('urgent')).toBeGreaterThanOrEqual(enqueuedMs)
    expect(startOf('urgent')).toBeLessThanOrEqual(enqueuedMs + 100 + TOOK_MS)
  })

  it('is started within a quarter of a second, where what is held was claimed when handlers were quick', async () => {
    await using fixture = openWorkerFixture()
    const { job, startOf } = timed(fixture)
    const quick = definition(() => undefined, { lease: '60s' }, { type: 'quick' })
    const [ordinary, urgent] = [job('ordinary'), job('urgent')]
    await enqueueMany(fixture, quick, 3_000)
    await enqueueMany(fixture, ordinary, 3_000)
    const { worker } = fixture.work([quick, ordinary, urgent])
    await fixture.time.advance(50)
    expect(worker.held - worker.running).toBeGreaterThan(800)
    await fixture.enqueue(urgent, undefined, { priority: PRIORITIES.critical })
    await fixture.time.advance(1_000)
    expect(startOf('urgent')).toBeLessThanOrEqual(50 + 250)
  })

  it('overtakes what is held, and its like stay in order', async () => {
    await using fixture = openWorkerFixture()
    const { job, started } = timed(fixture)
    const [ordinary, urgent] = [job('ordinary'), job('urgent')]
    await enqueueMany(fixture, ordinary, 100)
    const { worker } = fixture.work([ordinary, urgent], { concurrency: 1 })
    await fixture.time.advance(110)
    await enqueueMany(fixture, urgent, 3, PRIORITIES.critical)
    await fixture.time.advance(90)
    const first = started.findIndex(({ name }) => name === 'urgent')
    expect(started.slice(first, first + 3).map(({ name }) => name)).toEqual(['urgent', 'urgent', 'urgent'])
    // What they overtook had been claimed before them.
    expect(worker.held - worker.running).toBeGreaterThan(0)
  })
})

describe('queues', () => {
  it('share what is held by their weights, also within a tenth of a second', async () => {
    await using fixture = openWorkerFixture()
    const { job, countOf } = timed(fixture)
    const [heavy, light] = [job('heavy', 'heavy'), job('light', 'light')]
    for (const each of [heavy, light]) await enqueueMany(fixture, each, 3_000)
    fixture.work([heavy, light], { concurrency: 4, queues: { heavy: 3, light: 1 } })
    await fixture.time.advance(2_000)
    for (let fromMs = 1_000; fromMs < 2_000; fromMs += 200) {
      const share = countOf('heavy', fromMs, fromMs + 200) / countOf('light', fromMs, fromMs + 200)
      expect(share).toBeGreaterThan(1.5)
      expect(share).toBeLessThan(6)
    }
    const share = countOf('heavy', 1_000) / countOf('light', 1_000)
    expect(share).toBeGreaterThan(2.6)
    expect(share).toBeLessThan(3.4)
  })

  it('that were empty are heard of soon, behind ten thousand jobs of another', async () => {
    await using fixture = openWorkerFixture()
    const { job, startOf } = timed(fixture)
    const [busy, calm] = [job('busy', 'busy'), job('calm', 'calm')]
    await enqueueMany(fixture, busy, 10_000)
    fixture.work([busy, calm])
    await fixture.time.advance(515)
    const enqueuedMs = fixture.time.monotonicMs()
    await fixture.enqueue(calm)
    await fixture.time.advance(1_000)
    expect((startOf('calm') ?? Number.POSITIVE_INFINITY) - enqueuedMs).toBeLessThanOrEqual(100 + TOOK_MS)
  })
})

describe('ageing', () => {
  it('brings the last priority before everything within 135 s, and the claim that took it starts it', async () => {
    await using fixture = openWorkerFixture()
    const { job, startOf, countOf } = timed(fixture, () => 50)
    const [flood, last] = [job('flood'), job('last')]
    await enqueueMany(fixture, flood, 6_000, 0)
    fixture.work([flood, last], { concurrency: 2 })
    await fixture.enqueue(last, undefined, { priority: 9 })
    await fixture.time.advance(130_000)
    expect(startOf('last')).toBeUndefined()
    await fixture.time.advance(5_000 + 150)
    expect(startOf('last')).toBeGreaterThan(134_000)
    expect(countOf('flood')).toBeGreaterThan(5_000)
  })
})

describe('pace', () => {
  it('is unknown at first', () => {
    expect(new Pace(4).startsWithin(100)).toBe(0)
  })

  it('is how often a place is free again, or how often the loop is, where handlers keep it to themselves', () => {
    const [late, atOnce] = [new Pace(4), new Pace(4)]
    late.ended(20, false)
    atOnce.ended(20, true)
    expect([late.startsWithin(100), atOnce.startsWithin(100)]).toEqual([20, 5])
  })

  it('falls while handlers run that do not end, and forgets the quick ones before them', () => {
    const pace = new Pace(2)
    for (let n = 0; n < 10_000; n += 1) pace.ended(0.01, false)
    expect(pace.startsWithin(100)).toBeGreaterThan(10_000)
    for (let ms = 100; ms <= 1_000; ms += 100) pace.look(ms, 2 * ms)
    expect(pace.startsWithin(100)).toBeLessThan(2)
  })

  it('remembers handlers that end seldom', () => {
    const pace = new Pace(1)
    for (let ms = 60; ms <= 6_000; ms += 60) {
      pace.ended(60, false)
      pace.look(ms, 0)
    }
    pace.look(6_050, 50)
    expect(Math.floor(pace.startsWithin(100))).toBe(1)
  })
})
