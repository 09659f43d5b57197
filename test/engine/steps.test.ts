import { describe, expect, it } from 'vitest'
import { merged, Steps } from '../../src/engine/steps.ts'
import { verify } from '../../src/engine/verify.ts'
import { openMemoryStore } from '../../src/store/memory/memory.ts'
import { linesTo, silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { Between } from './between.ts'
import { EngineFixture } from './engine-fixture.ts'
import { VirtualClock } from './virtual-clock.ts'

const MINUTE = 60_000

describe('a store’s clock that is set forward', () => {
  it('ends no lease whose owner heartbeats, or speaks', async () => {
    const fixture = new EngineFixture()
    const one = await fixture.running()
    const two = await fixture.running()
    fixture.clock.advance(20_000)
    fixture.clock.set(10 * MINUTE)
    const [beaten] = await fixture.engine.heartbeat([{ id: one.job.id, fence: one.fence, requestId: 'b1' }])
    expect(beaten).toMatchObject({ ok: true })
    await fixture.must(two.job.id, { type: 'complete', fence: two.fence })
    fixture.clock.advance(30_000)
    await fixture.engine.tick(10)
    const [again] = await fixture.engine.heartbeat([{ id: one.job.id, fence: one.fence, requestId: 'b2' }])
    expect(again).toMatchObject({ ok: true })
    await fixture.must(one.job.id, { type: 'complete', fence: one.fence })
    expect((await verify(fixture.engine)).discrepancies).toEqual([])
  })

  it('ends no lease that was renewed just before, after the clock was set back and put right', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    fixture.clock.set(-10 * MINUTE)
    for (let n = 0; n < 4; n += 1) {
      fixture.clock.advance(1_000)
      await fixture.engine.tick(10)
    }
    // What it has lost meanwhile it gains at once: too little to be a step, but no time that nobody was told.
    fixture.clock.set(10 * MINUTE)
    const [renewed] = await fixture.engine.heartbeat([{ id: job.id, fence, requestId: 'b1' }])
    expect(renewed).toMatchObject({ ok: true })
    fixture.clock.set(10 * MINUTE)
    expect(await fixture.engine.tick(10)).toEqual({ due: 1, moved: 0, more: false })
    await fixture.must(job.id, { type: 'complete', fence })
  })

  it('makes no ticker take a job from its owner, whether or not it was there when it was set', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    const watching = fixture.another()
    await watching.tick(10)
    fixture.clock.advance(10_000)
    fixture.clock.set(10 * MINUTE)
    expect(await watching.tick(10)).toEqual({ due: 1, moved: 0, more: false })
    fixture.clock.advance(6_000)
    // Somebody who has never known another time asks those who have.
    expect(await fixture.another().tick(10)).toEqual({ due: 1, moved: 0, more: false })
    await fixture.must(job.id, { type: 'complete', fence })
  })

  it('ends no lease by the word of somebody who came between the step and the first to notice it', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    fixture.clock.advance(10_000)
    fixture.clock.set(10 * MINUTE)
    const stranger = fixture.another()
    expect(await stranger.tick(10)).toEqual({ due: 1, moved: 0, more: false })
    fixture.clock.advance(1_000)
    // The owner's process looks once a second: it notices, and tells the others.
    await fixture.engine.tick(10)
    fixture.clock.advance(1_000)
    expect(await stranger.tick(10)).toMatchObject({ moved: 0 })
    await fixture.must(job.id, { type: 'complete', fence })
  })

  it('is no reason to tell an owner that its lease has ended, said by somebody who came before anybody had noticed', async () => {
    const fixture = new EngineFixture()
    const [one, two] = [await fixture.running(), await fixture.running()]
    fixture.clock.advance(10_000)
    fixture.clock.set(10 * MINUTE)
    let sleeps = 0
    const sleep = async (ms: number) => {
      sleeps += 1
      // Meanwhile the process that was there before looks, as it does once a second.
      fixture.clock.advance(ms / 2)
      await fixture.engine.tick(10)
      fixture.clock.advance(ms / 2)
    }
    const gateway = fixture.another({ timers: { ...realTimers, sleep } })
    expect(await fixture.say(one.job.id, { type: 'complete', fence: one.fence }, gateway)).toMatchObject({ ok: true })
    const beat = { id: two.job.id, fence: two.fence, requestId: 'b1' }
    expect(await gateway.heartbeat([beat])).toMatchObject([{ ok: true }])
    expect(sleeps).toBe(1)
  })

  it('keeps nobody waiting for long who has lost its lease indeed', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    fixture.clock.advance(60_000)
    let sleptMs = 0
    const sleep = async (ms: number) => {
      sleptMs += ms
      fixture.clock.advance(ms)
    }
    const gateway = fixture.another({ timers: { ...realTimers, sleep } })
    for (let n = 0; n < 2; n += 1) {
      const answer = await fixture.say(job.id, { type: 'complete', fence }, gateway)
      expect(answer).toMatchObject({ ok: false, refusal: { code: 'LEASE_EXPIRED' } })
    }
    expect(sleptMs).toBeLessThanOrEqual(2_000)
  })

  it('keeps nobody who is alone for long from what a dead process has left', async () => {
    const fixture = new EngineFixture()
    const { job } = await fixture.running()
    fixture.clock.advance(60_000)
    const restarted = fixture.another()
    expect(await restarted.tick(10)).toEqual({ due: 1, moved: 0, more: false })
    fixture.clock.advance(1_000)
    expect(await restarted.tick(10)).toMatchObject({ moved: 0 })
    fixture.clock.advance(1_000)
    expect(await restarted.tick(10)).toMatchObject({ moved: 1 })
    expect(await fixture.job(job.id)).toMatchObject({ state: 'queued', stalls: 1 })
  })

  it('gives nobody who has died more than its lease had left', async () => {
    const fixture = new EngineFixture()
    const { job } = await fixture.running()
    fixture.clock.advance(10_000)
    fixture.clock.set(10 * MINUTE)
    await fixture.engine.tick(10)
    fixture.clock.advance(22_000)
    expect(await fixture.engine.tick(10)).toEqual({ due: 1, moved: 1, more: false })
    expect(await fixture.job(job.id)).toMatchObject({ state: 'queued', stalls: 1 })
  })

  it('is told to whoever speaks for an owner and knows nothing of it, before the owner hears that its lease has ended', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    fixture.clock.set(10 * MINUTE)
    await fixture.engine.load([])
    const gateway = fixture.another()
    expect(await fixture.say(job.id, { type: 'complete', fence }, gateway)).toMatchObject({ ok: true })
  })

  it('is said aloud once, and so is one that is set back', async () => {
    const lines: Record<string, unknown>[] = []
    const log = linesTo(
      (line) => lines.push(JSON.parse(line)),
      () => 0,
    )
    const fixture = new EngineFixture({ log })
    await fixture.engine.tick(10)
    fixture.clock.set(10 * MINUTE)
    await fixture.engine.tick(10)
    await fixture.engine.tick(10)
    fixture.clock.set(-5 * MINUTE)
    await fixture.engine.tick(10)
    await fixture.engine.tick(10)
    expect(lines).toMatchObject([
      { level: 'warn', message: 'the store’s clock was set forward; leases go on', by_ms: 600_000 },
      { level: 'warn', message: 'the store’s clock was set back; its time goes on', by_ms: 300_000 },
    ])
  })
})

describe('what is known of steps', () => {
  const store = () => openMemoryStore({ clock: new VirtualClock() })

  it('is what any process has noticed, each step once', async () => {
    const shared = store()
    const [a, b, c] = [1, 2, 3].map(() => new Steps({ store: shared, log: silentLog }))
    a?.noticed({ at: 1_000, byMs: 600_000 })
    b?.noticed({ at: 1_700, byMs: 600_300 })
    b?.noticed({ at: 700_000, byMs: 5_000 })
    for (const steps of [a, b, c, a]) await steps?.ask()
    const known = [
      { at: 1_700, byMs: 600_300 },
      { at: 700_000, byMs: 5_000 },
    ]
    expect([a, b, c].map((steps) => steps?.known)).toEqual([known, known, known])
  })

  it('survives that many tell at once, and that the store was away', async () => {
    const between = new Between()
    const shared = between.wrap(store())
    let away = true
    const flaky = {
      settings: (operations: Parameters<typeof shared.settings>[0]) =>
        away ? Promise.reject(new Error('away')) : shared.settings(operations),
    }
    const all = Array.from({ length: 10 }, () => new Steps({ store: flaky, log: silentLog }))
    for (const [n, steps] of all.entries()) steps.noticed({ at: n * 100_000, byMs: 1_000 })
    await expect(all[0]?.ask()).rejects.toThrow('away')
    away = false
    await Promise.all(all.map((steps) => steps.ask()))
    const fresh = new Steps({ store: shared, log: silentLog })
    await fresh.ask()
    expect(fresh.known).toHaveLength(10)
  })

  it('is bounded: the latest are kept', () => {
    const many = Array.from({ length: 150 }, (_, n) => ({ at: n * 100_000, byMs: 1_000 }))
    expect(merged([], many)).toEqual(many.slice(-100))
    expect(merged(many.slice(0, 100), many.slice(100))).toEqual(many.slice(-100))
    expect(merged(many.slice(0, 3), [])).toEqual(many.slice(0, 3))
  })

  it('is counted twice where the clock was set twice by as much, one right after the other, and once where one noticed it late', () => {
    const first = { at: 0, byMs: 10 * MINUTE + 3_000 }
    const second = { at: 10 * MINUTE + 2_000, byMs: 10 * MINUTE }
    expect(merged([first], [second])).toEqual([first, second])
    const late = { at: 8 * MINUTE, byMs: 10 * MINUTE + 500 }
    expect(merged([first], [late])).toEqual([{ at: late.at, byMs: first.byMs }])
  })

  it('is nothing where somebody wrote something else', async () => {
    const shared = store()
    await shared.settings([{ op: 'put', collection: 'clock', key: 'steps', text: '{"steps":"none"}', rev: 0 }])
    const steps = new Steps({ store: shared, log: silentLog })
    await steps.ask()
    expect(steps.known).toEqual([])
    steps.noticed({ at: 1, byMs: 1_000 })
    await steps.ask()
    const [read] = await shared.settings([{ op: 'get', collection: 'clock', key: 'steps' }])
    expect(read?.settings[0]?.text).toBe('{"steps":[{"at":1,"byMs":1000}]}')
  })
})
