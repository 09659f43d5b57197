import { describe, expect, it } from 'vitest'
import type { ClaimRequest, Engine } from '../../src/engine/engine.ts'
import { definition, openStage, type Stage } from './stage.ts'

/** The stage's engine as one whose claims stand: whatever a test claims under a worker's request was given to it. */
function standing(stage: Stage) {
  const asked: ClaimRequest[] = []
  const claim = stage.engine.claim.bind(stage.engine)
  Object.defineProperty(stage.engine, 'claimsStand', { value: true })
  stage.engine.claim = async (request) => {
    asked.push(request)
    const assignments = await claim(request)
    if (assignments.length === 0) request.stand?.began()
    return assignments
  }
  const give: Engine['claim'] = (request) => claim({ ...request, limit: 1 })
  return { asked, give }
}

const idsOf = (asked: readonly ClaimRequest[]) => new Set(asked.map(({ requestId }) => requestId))

describe('a claim that found nothing', () => {
  it('stands until the worker would look again by itself, and a little longer', async () => {
    await using stage = openStage()
    const { asked } = standing(stage)
    stage.work([definition(() => undefined)], { poll: '800ms' })
    await stage.time.advance(5_000)
    expect(idsOf(asked).size).toBe(1)
    expect(asked.slice(0, 6).map(({ stand }) => stand?.ms)).toEqual([350, 450, 650, 1_050, 1_050, 1_050])
  })

  it('stands for a bounded time, however seldom the worker looks', async () => {
    await using stage = openStage()
    const { asked } = standing(stage)
    stage.work([definition(() => undefined)], { poll: '5s' })
    await stage.time.advance(120_000)
    expect(Math.max(...asked.map(({ stand }) => stand?.ms ?? 0))).toBe(1_250)
  })

  it('finds what it was given when it is asked again', async () => {
    await using stage = openStage()
    const { asked, give } = standing(stage)
    const job = definition(() => undefined)
    const { worker, mortal } = stage.work([job])
    await stage.time.advance(10)
    // No hint: whatever tells of it may be lost.
    mortal.deafen()
    const id = await stage.enqueue(job)
    await give(asked.at(-1) as ClaimRequest)
    await stage.time.advance(1_100)
    expect(await stage.load(id)).toMatchObject({ state: 'succeeded', attempt: 1 })
    expect(worker.held).toBe(0)
  })

  it('does not stand where claims cannot', async () => {
    await using stage = openStage()
    const asked: ClaimRequest[] = []
    const claim = stage.engine.claim.bind(stage.engine)
    stage.engine.claim = (request) => {
      asked.push(request)
      return claim(request)
    }
    stage.work([definition(() => undefined)])
    await stage.time.advance(2_000)
    expect(asked.length).toBeGreaterThan(2)
    expect(asked.every(({ stand }) => stand === undefined)).toBe(true)
  })
})

describe('which claims stand', () => {
  it('one of a worker at a time, whatever else it asks for', async () => {
    await using stage = openStage()
    const { asked } = standing(stage)
    const job = definition(() => undefined, { lease: '60s' })
    for (let i = 0; i < 3_000; i += 1) await stage.enqueue(job, i)
    let [underWay, most] = [0, 0]
    const claim = stage.engine.claim
    stage.engine.claim = async (request) => {
      if (request.stand !== undefined) underWay += 1
      most = Math.max(most, underWay)
      await stage.time.sleep(5)
      const assignments = await claim(request)
      if (request.stand !== undefined) underWay -= 1
      return assignments
    }
    stage.work([job], { concurrency: 4, prefetch: 1_000 })
    await stage.time.advance(3_000)
    expect(most).toBe(1)
    // All that stood and found nothing were asked for again.
    expect(asked.filter(({ requestId }) => requestId === asked.at(-1)?.requestId).length).toBeGreaterThan(1)
  })

  it('for as many jobs as could begin at once, and none where all handlers are busy', async () => {
    await using stage = openStage()
    const { asked } = standing(stage)
    const quick = definition(() => undefined)
    const slow = definition(() => stage.time.sleep(60_000), { lease: '120s' }, { type: 'slow' })
    stage.work([quick, slow], { concurrency: 2, prefetch: 100 })
    await stage.enqueue(quick)
    await stage.time.advance(10)
    expect(asked.at(-1)?.stand?.limit).toBe(2)
    await stage.enqueue(slow)
    await stage.time.advance(10)
    expect(asked.at(-1)?.stand?.limit).toBe(1)
    await stage.enqueue(slow)
    await stage.time.advance(3_000)
    expect(asked.at(-1)?.stand).toBe(undefined)
  })

  it('not one that only repeats what was given: it is asked for once, and the next has another id', async () => {
    await using stage = openStage()
    const { asked, give } = standing(stage)
    const job = definition(() => undefined)
    const { mortal } = stage.work([job])
    await stage.time.advance(10)
    mortal.deafen()
    // Given, and over before it was asked for: its lease is somebody else's.
    const id = await stage.enqueue(job)
    await give(asked.at(-1) as ClaimRequest)
    await stage.settle(id, { type: 'cancel', mode: 'hard', reason: 'no' })
    const spent = asked.at(-1)?.requestId
    const claim = stage.engine.claim
    stage.engine.claim = (request) => (request.requestId === spent ? Promise.resolve([]) : claim(request))
    await stage.time.advance(2_000)
    expect(asked.at(-1)?.requestId).not.toBe(spent)
  })
})

describe('who was given a few', () => {
  it('asks again at once, under another id, and stands again', async () => {
    await using stage = openStage()
    const { asked } = standing(stage)
    const job = definition(() => undefined)
    stage.work([job])
    await stage.time.advance(10)
    const before = asked.length
    await stage.enqueue(job)
    await stage.time.advance(1)
    expect(asked.length).toBe(before + 2)
    expect(asked.at(-2)?.requestId).toBe(asked[0]?.requestId)
    expect(asked.at(-1)?.requestId).not.toBe(asked[0]?.requestId)
  })
})

describe('a worker that stops', () => {
  it('brings in what was given to its standing claim, and hands it back', async () => {
    await using stage = openStage()
    const { asked, give } = standing(stage)
    let runs = 0
    const job = definition(() => {
      runs += 1
    })
    const { worker, mortal } = stage.work([job])
    await stage.time.advance(10)
    mortal.deafen()
    const id = await stage.enqueue(job)
    await give(asked.at(-1) as ClaimRequest)
    const stopped = worker.stop()
    await stage.time.advance(100)
    await stopped
    expect(asked.at(-1)).toMatchObject({ limit: 0, stand: undefined })
    expect(runs).toBe(0)
    expect(await stage.load(id)).toMatchObject({ state: 'queued', failures: 0, stalls: 0 })
  })

  it('goes although the store does not answer', async () => {
    await using stage = openStage()
    standing(stage)
    const { worker } = stage.work([definition(() => undefined)], { drain: '1s' })
    await stage.time.advance(10)
    stage.engine.claim = () => Promise.reject(new Error('connection lost'))
    const stopped = worker.stop()
    await stage.time.advance(2_000)
    await stopped
    expect(worker.held).toBe(0)
  })
})
