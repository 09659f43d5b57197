import { describe, expect, it } from 'vitest'
import { definition, openStage } from './stage.ts'

describe('a job', () => {
  it('runs once and ends with what its handler answered', async () => {
    await using stage = openStage()
    const inputs: unknown[] = []
    const add = definition((input: { a: number; b: number }) => {
      inputs.push(input)
      return input.a + input.b
    })
    const id = await stage.enqueue(add, { a: 1, b: 2 })
    stage.work([add])
    await stage.time.settle()
    const job = await stage.load(id)
    expect(job.state).toBe('succeeded')
    expect(await stage.body(id, 'output')).toBe(3)
    expect(inputs).toEqual([{ a: 1, b: 2 }])
  })

  it('is found by a hint, without any time passing', async () => {
    await using stage = openStage()
    const quick = definition(() => {})
    stage.work([quick])
    await stage.time.settle()
    const id = await stage.enqueue(quick)
    await stage.time.settle()
    expect((await stage.load(id)).state).toBe('succeeded')
  })

  it('is found by polling when its time has come, and not before', async () => {
    await using stage = openStage()
    const quick = definition(() => {})
    stage.work([quick])
    const id = await stage.enqueue(quick, undefined, { delayMs: 60_000 })
    await stage.time.advance(59_000)
    expect((await stage.load(id)).state).toBe('queued')
    await stage.time.advance(3_000)
    expect((await stage.load(id)).state).toBe('succeeded')
  })

  it('is seen running when its handler takes longer than a moment, with the real time of its start', async () => {
    await using stage = openStage()
    const slow = definition(() => stage.time.sleep(5_000))
    stage.work([slow])
    const id = await stage.enqueue(slow)
    await stage.time.settle()
    const claimed = await stage.load(id)
    expect(claimed.state).toBe('claimed')
    await stage.time.advance(200)
    expect((await stage.load(id)).state).toBe('running')
    await stage.time.advance(6_000)
    const job = await stage.load(id)
    expect(job).toMatchObject({ state: 'succeeded', attempt: 1, stalls: 0, failures: 0, executionMs: 5_000 })
  })

  it('never runs more handlers at a time than asked', async () => {
    await using stage = openStage()
    let now = 0
    let most = 0
    const slow = definition(async () => {
      now += 1
      most = Math.max(most, now)
      await stage.time.sleep(50)
      now -= 1
    })
    for (let i = 0; i < 40; i += 1) await stage.enqueue(slow)
    stage.work([slow], { concurrency: 3 })
    await stage.time.advance(2_000)
    const { tally } = await stage.engine.events({ by: 'tally' })
    expect(tally).toMatchObject([{ state: 'succeeded', count: 40 }])
    expect(most).toBe(3)
  })
})
