import { describe, expect, it } from 'vitest'
import { definition, openWorkerFixture } from './worker-fixture.ts'

describe('a job', () => {
  it('runs once and ends with what its handler answered', async () => {
    await using fixture = openWorkerFixture()
    const inputs: unknown[] = []
    const add = definition((input: { a: number; b: number }) => {
      inputs.push(input)
      return input.a + input.b
    })
    const id = await fixture.enqueue(add, { a: 1, b: 2 })
    fixture.work([add])
    await fixture.time.settle()
    const job = await fixture.load(id)
    expect(job.state).toBe('succeeded')
    expect(await fixture.body(id, 'output')).toBe(3)
    expect(inputs).toEqual([{ a: 1, b: 2 }])
  })

  it('is found by a hint, without any time passing', async () => {
    await using fixture = openWorkerFixture()
    const quick = definition(() => {})
    fixture.work([quick])
    await fixture.time.settle()
    const id = await fixture.enqueue(quick)
    await fixture.time.settle()
    expect((await fixture.load(id)).state).toBe('succeeded')
  })

  it('is found by polling when its time has come, and not before', async () => {
    await using fixture = openWorkerFixture()
    const quick = definition(() => {})
    fixture.work([quick])
    const id = await fixture.enqueue(quick, undefined, { delayMs: 60_000 })
    await fixture.time.advance(59_000)
    expect((await fixture.load(id)).state).toBe('queued')
    await fixture.time.advance(3_000)
    expect((await fixture.load(id)).state).toBe('succeeded')
  })

  it('is seen running when its handler takes longer than a moment, with the real time of its start', async () => {
    await using fixture = openWorkerFixture()
    const slow = definition(() => fixture.time.sleep(5_000))
    fixture.work([slow])
    const id = await fixture.enqueue(slow)
    await fixture.time.settle()
    const claimed = await fixture.load(id)
    expect(claimed.state).toBe('claimed')
    await fixture.time.advance(200)
    expect((await fixture.load(id)).state).toBe('running')
    await fixture.time.advance(6_000)
    const job = await fixture.load(id)
    expect(job).toMatchObject({ state: 'succeeded', attempt: 1, stalls: 0, failures: 0, executionMs: 5_000 })
  })

  it('never runs more handlers at a time than asked', async () => {
    await using fixture = openWorkerFixture()
    let now = 0
    let most = 0
    const slow = definition(async () => {
      now += 1
      most = Math.max(most, now)
      await fixture.time.sleep(50)
      now -= 1
    })
    for (let i = 0; i < 40; i += 1) await fixture.enqueue(slow)
    fixture.work([slow], { concurrency: 3 })
    await fixture.time.advance(2_000)
    const { tally } = await fixture.engine.events({ by: 'tally' })
    expect(tally).toMatchObject([{ state: 'succeeded', count: 40 }])
    expect(most).toBe(3)
  })
})
