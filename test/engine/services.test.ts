import { describe, expect, it } from 'vitest'
import { bodyRef } from '../../src/core/body.ts'
import { derive } from '../../src/core/evolve.ts'
import type { Job } from '../../src/core/job.ts'
import { retention } from '../../src/engine/retention.ts'
import { RETENTION_DEFAULTS } from '../../src/engine/retention-options.ts'
import { ticker } from '../../src/engine/ticker.ts'
import { verify } from '../../src/engine/verify.ts'
import { linesTo, silentLog } from '../../src/system/log.ts'
import type { Service } from '../../src/system/service.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { EngineFixture, kindOf } from './engine-fixture.ts'

const DAY = 24 * 60 * 60 * 1_000

const tickerOf = (fixture: EngineFixture, batch?: number): Service =>
  ticker({ tick: (limit) => fixture.engine.tick(limit), timers: realTimers, log: silentLog }, { batch, everyMs: 5 })

const retentionOf = (fixture: EngineFixture, options = {}, log = silentLog): Service =>
  retention({ store: fixture.store, engine: fixture.engine, timers: realTimers, log }, options)

const all = async (fixture: EngineFixture): Promise<readonly Job[]> =>
  (await fixture.store.find({ order: 'oldest', limit: 1_000 })).jobs

describe('the ticker', () => {
  it('finds orphans and gives them back to the queue, stall and requeue in one commit', async () => {
    const fixture = new EngineFixture()
    const { job, leaseExpiresAt } = await fixture.running()
    await tickerOf(fixture).runOnce()
    expect((await fixture.job(job.id)).state).toBe('running')
    fixture.clock.advance(leaseExpiresAt - fixture.clock.now())
    await tickerOf(fixture).runOnce()
    const record = await fixture.job(job.id)
    expect(record).toMatchObject({ state: 'queued', stalls: 1, attempt: 1 })
    expect((await fixture.log(job.id)).map(({ type }) => type)).toEqual([
      'enqueued',
      'claimed',
      'started',
      'stalled',
      'requeued',
    ])
    const [again] = await fixture.claim()
    expect(again?.job).toMatchObject({ id: job.id, attempt: 2 })
  })

  it('ends what has run out of time, and frees its dedupe key in the same commit', async () => {
    const fixture = new EngineFixture()
    const kind = kindOf({ deadline: '10s' })
    const job = await fixture.enqueue({ kind, dedupeKey: 'k' })
    fixture.clock.advance(10_000)
    await tickerOf(fixture).runOnce()
    expect(await fixture.job(job.id)).toMatchObject({ state: 'timed_out', error: { code: 'E_TIMEOUT' } })
    expect(await fixture.tryEnqueue({ kind, dedupeKey: 'k' })).toMatchObject({ ok: true, deduped: false })
  })

  it('works through more than a batch in one round', async () => {
    const fixture = new EngineFixture()
    for (let n = 0; n < 25; n += 1) await fixture.enqueue({ kind: kindOf({ deadline: '10s' }) })
    fixture.clock.advance(10_000)
    await tickerOf(fixture, 10).runOnce()
    expect((await all(fixture)).every(({ state }) => state === 'timed_out')).toBe(true)
  })

  it('loses nothing when another ticker, or the owner, was faster', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    fixture.clock.advance(29_000)
    const { jobs } = await fixture.store.due(10)
    expect(jobs).toHaveLength(0)
    fixture.clock.advance(2_000)
    const [one, two] = [fixture.engine.tick(10), fixture.another().tick(10)]
    expect((await one).moved + (await two).moved).toBe(1)
    expect(await fixture.say(job.id, { type: 'complete', fence })).toMatchObject({ refusal: { code: 'STALE_FENCE' } })
  })

  it('resumes a wait that timed out, with a memo that says so', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    await fixture.must(job.id, { type: 'wait', fence, name: 'go', timeoutMs: 5_000, memo: 'go#1' })
    fixture.clock.advance(5_000)
    await tickerOf(fixture).runOnce()
    const [loaded] = (await fixture.store.load([{ id: job.id, bodies: ['step/'] }])).items
    expect(loaded).toMatchObject({ job: { state: 'queued' }, bodies: { 'step/go#1': '{"timedOut":true}' } })
  })

  it('runs by itself, and stops when told', async () => {
    const fixture = new EngineFixture()
    const service = tickerOf(fixture)
    await fixture.enqueue({ kind: kindOf({ deadline: '10s' }) })
    fixture.clock.advance(10_000)
    service.start()
    await eventually('the job to time out', async () => (await all(fixture))[0]?.state === 'timed_out')
    await service.stop()
    const late = await fixture.enqueue({ kind: kindOf({ deadline: '10s' }) })
    fixture.clock.advance(10_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect((await fixture.job(late.id)).state).toBe('queued')
  })
})

describe('retention', () => {
  const ended = async (fixture: EngineFixture) => {
    const { job, fence } = await fixture.running({ dedupeKey: `k${fixture.requestId()}` })
    await fixture.must(job.id, { type: 'complete', fence })
    const other = await fixture.enqueue()
    await fixture.must(other.id, { type: 'cancel', mode: 'soft' })
    return [job.id, other.id] as const
  }

  it('removes successes after seven days and other endings after thirty, and counts them', async () => {
    const fixture = new EngineFixture()
    const live = await fixture.enqueue({ delayMs: 400 * DAY })
    const [, cancelled] = await ended(fixture)
    const service = retentionOf(fixture)
    fixture.clock.advance(RETENTION_DEFAULTS.succeededMs)
    await service.runOnce()
    expect(await all(fixture)).toHaveLength(3)
    fixture.clock.advance(1)
    await service.runOnce()
    expect((await all(fixture)).map(({ id }) => id)).toEqual([live.id, cancelled])
    fixture.clock.advance(RETENTION_DEFAULTS.endedMs - RETENTION_DEFAULTS.succeededMs)
    await service.runOnce()
    expect((await all(fixture)).map(({ id }) => id)).toEqual([live.id])
    expect((await fixture.store.events({ by: 'tally' })).purged).toBe(2)
    expect((await verify(fixture.engine)).discrepancies).toEqual([])
  })

  it('goes on batch by batch until nothing is old enough', async () => {
    const fixture = new EngineFixture()
    for (let n = 0; n < 12; n += 1) await ended(fixture)
    fixture.clock.advance(31 * DAY)
    const lines: string[] = []
    await retentionOf(
      fixture,
      { batch: 5 },
      linesTo(
        (line) => lines.push(line),
        () => 0,
      ),
    ).runOnce()
    expect(await all(fixture)).toEqual([])
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ message: 'retention', purged: 24 }])
  })

  it('shortens the logs of ended jobs: fewer events, the same fold', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    for (let n = 0; n < 20; n += 1) {
      await fixture.must(job.id, {
        type: 'progress',
        fence,
        progress: { done: n, total: 20, message: undefined, etaAt: undefined },
        counters: { n: 1 },
      })
    }
    await fixture.must(job.id, { type: 'record', fence, artifact: { name: 'a', ptr: 's3://a' } })
    const body = bodyRef('checkpoint', '1')
    await fixture.say(job.id, { type: 'checkpoint', fence, body }, fixture.engine, [{ name: 'checkpoint', text: '1' }])
    const service = retentionOf(fixture)
    await service.runOnce()
    expect(await fixture.log(job.id)).toHaveLength(25)
    await fixture.must(job.id, { type: 'complete', fence })
    const before = await fixture.job(job.id)
    fixture.clock.advance(60_000)
    await service.runOnce()
    const log = await fixture.log(job.id)
    expect(log.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'compacted', 'succeeded'])
    expect(derive(log)).toEqual(before)
    expect(await fixture.job(job.id)).toEqual(before)
    expect((await verify(fixture.engine)).discrepancies).toEqual([])
    await service.runOnce()
    expect(await fixture.log(job.id)).toEqual(log)
  })

  it('keeps what is verbose in a log for as long as was asked for, by job type', async () => {
    const fixture = new EngineFixture()
    const talk = async (type: string) => {
      const { job, fence } = await fixture.running({ kind: { ...kindOf(), type } })
      for (let n = 0; n < 30; n += 1) await fixture.must(job.id, { type: 'progress', fence, counters: { n: 1 } })
      await fixture.must(job.id, { type: 'complete', fence })
      return job.id
    }
    const ids = { soon: await talk('soon'), usual: await talk('usual'), late: await talk('late') }
    const kept = async () => {
      await service.runOnce()
      const lengths = await Promise.all(Object.values(ids).map(async (id) => (await fixture.log(id)).length))
      return lengths.map((length) => length > 5)
    }
    const service = retentionOf(fixture, { verboseMs: DAY, verboseMsByType: { soon: 60_000, late: 3 * DAY } })
    fixture.clock.advance(59_000)
    expect(await kept()).toEqual([true, true, true])
    fixture.clock.advance(2_000)
    expect(await kept()).toEqual([false, true, true])
    fixture.clock.advance(DAY)
    expect(await kept()).toEqual([false, false, true])
    fixture.clock.advance(2 * DAY)
    expect(await kept()).toEqual([false, false, false])
    expect((await verify(fixture.engine)).discrepancies).toEqual([])
  })

  it('can be told to leave logs alone', async () => {
    const fixture = new EngineFixture()
    const { job, fence } = await fixture.running()
    for (let n = 0; n < 30; n += 1) await fixture.must(job.id, { type: 'progress', fence, counters: { n: 1 } })
    await fixture.must(job.id, { type: 'complete', fence })
    fixture.clock.advance(60_000)
    await retentionOf(fixture, { compact: false }).runOnce()
    expect(await fixture.log(job.id)).toHaveLength(34)
  })
})
