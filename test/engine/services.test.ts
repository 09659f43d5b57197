import { describe, expect, it } from 'vitest'
import { bodyRef } from '../../src/core/body.ts'
import { derive } from '../../src/core/evolve.ts'
import type { Job } from '../../src/core/job.ts'
import { RETENTION_DEFAULTS, retention } from '../../src/engine/retention.ts'
import { ticker } from '../../src/engine/ticker.ts'
import { verify } from '../../src/engine/verify.ts'
import { linesTo, silentLog } from '../../src/system/log.ts'
import type { Service } from '../../src/system/service.ts'
import { realTimers } from '../../src/system/timers.ts'
import { eventually } from '../support/eventually.ts'
import { Bench, kindOf } from './bench.ts'

const DAY = 24 * 60 * 60 * 1_000

const tickerOf = (bench: Bench, batch?: number): Service =>
  ticker({ tick: (limit) => bench.engine.tick(limit), timers: realTimers, log: silentLog }, { batch, everyMs: 5 })

const retentionOf = (bench: Bench, options = {}, log = silentLog): Service =>
  retention({ store: bench.store, timers: realTimers, log }, options)

const all = async (bench: Bench): Promise<readonly Job[]> =>
  (await bench.store.find({ order: 'oldest', limit: 1_000 })).jobs

describe('the ticker', () => {
  it('finds orphans and gives them back to the queue, stall and requeue in one commit', async () => {
    const bench = new Bench()
    const { job, leaseExpiresAt } = await bench.running()
    await tickerOf(bench).runOnce()
    expect((await bench.job(job.id)).state).toBe('running')
    bench.clock.advance(leaseExpiresAt - bench.clock.now())
    await tickerOf(bench).runOnce()
    const record = await bench.job(job.id)
    expect(record).toMatchObject({ state: 'queued', stalls: 1, attempt: 1 })
    expect((await bench.log(job.id)).map(({ type }) => type)).toEqual([
      'enqueued',
      'claimed',
      'started',
      'stalled',
      'requeued',
    ])
    const [again] = await bench.claim()
    expect(again?.job).toMatchObject({ id: job.id, attempt: 2 })
  })

  it('ends what has run out of time, and frees its dedupe key in the same commit', async () => {
    const bench = new Bench()
    const kind = kindOf({ deadline: '10s' })
    const job = await bench.enqueue({ kind, dedupeKey: 'k' })
    bench.clock.advance(10_000)
    await tickerOf(bench).runOnce()
    expect(await bench.job(job.id)).toMatchObject({ state: 'timed_out', error: { code: 'E_TIMEOUT' } })
    expect(await bench.tryEnqueue({ kind, dedupeKey: 'k' })).toMatchObject({ ok: true, deduped: false })
  })

  it('works through more than a batch in one round', async () => {
    const bench = new Bench()
    for (let n = 0; n < 25; n += 1) await bench.enqueue({ kind: kindOf({ deadline: '10s' }) })
    bench.clock.advance(10_000)
    await tickerOf(bench, 10).runOnce()
    expect((await all(bench)).every(({ state }) => state === 'timed_out')).toBe(true)
  })

  it('loses nothing when another ticker, or the owner, was faster', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    bench.clock.advance(29_000)
    const { jobs } = await bench.store.due(10)
    expect(jobs).toHaveLength(0)
    bench.clock.advance(2_000)
    const [one, two] = [bench.engine.tick(10), bench.another().tick(10)]
    expect((await one).moved + (await two).moved).toBe(1)
    expect(await bench.say(job.id, { type: 'complete', fence })).toMatchObject({ refusal: { code: 'STALE_FENCE' } })
  })

  it('resumes a wait that timed out, with a memo that says so', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    await bench.must(job.id, { type: 'wait', fence, name: 'go', timeoutMs: 5_000, memo: 'go#1' })
    bench.clock.advance(5_000)
    await tickerOf(bench).runOnce()
    const [loaded] = (await bench.store.load([{ id: job.id, bodies: ['step/'] }])).items
    expect(loaded).toMatchObject({ job: { state: 'queued' }, bodies: { 'step/go#1': '{"timedOut":true}' } })
  })

  it('runs by itself, and stops when told', async () => {
    const bench = new Bench()
    const service = tickerOf(bench)
    await bench.enqueue({ kind: kindOf({ deadline: '10s' }) })
    bench.clock.advance(10_000)
    service.start()
    await eventually('the job to time out', async () => (await all(bench))[0]?.state === 'timed_out')
    await service.stop()
    const late = await bench.enqueue({ kind: kindOf({ deadline: '10s' }) })
    bench.clock.advance(10_000)
    await new Promise((resolve) => setImmediate(resolve))
    expect((await bench.job(late.id)).state).toBe('queued')
  })
})

describe('retention', () => {
  const ended = async (bench: Bench) => {
    const { job, fence } = await bench.running({ dedupeKey: `k${bench.requestId()}` })
    await bench.must(job.id, { type: 'complete', fence })
    const other = await bench.enqueue()
    await bench.must(other.id, { type: 'cancel', mode: 'soft' })
    return [job.id, other.id] as const
  }

  it('removes successes after seven days and other endings after thirty, and counts them', async () => {
    const bench = new Bench()
    const live = await bench.enqueue({ delayMs: 400 * DAY })
    const [, cancelled] = await ended(bench)
    const service = retentionOf(bench)
    bench.clock.advance(RETENTION_DEFAULTS.succeededMs)
    await service.runOnce()
    expect(await all(bench)).toHaveLength(3)
    bench.clock.advance(1)
    await service.runOnce()
    expect((await all(bench)).map(({ id }) => id)).toEqual([live.id, cancelled])
    bench.clock.advance(RETENTION_DEFAULTS.endedMs - RETENTION_DEFAULTS.succeededMs)
    await service.runOnce()
    expect((await all(bench)).map(({ id }) => id)).toEqual([live.id])
    expect((await bench.store.events({ by: 'tally' })).purged).toBe(2)
    expect((await verify(bench.engine)).discrepancies).toEqual([])
  })

  it('goes on batch by batch until nothing is old enough', async () => {
    const bench = new Bench()
    for (let n = 0; n < 12; n += 1) await ended(bench)
    bench.clock.advance(31 * DAY)
    const lines: string[] = []
    await retentionOf(
      bench,
      { batch: 5 },
      linesTo(
        (line) => lines.push(line),
        () => 0,
      ),
    ).runOnce()
    expect(await all(bench)).toEqual([])
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ message: 'retention', purged: 24 }])
  })

  it('shortens the logs of ended jobs: fewer events, the same fold', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    for (let n = 0; n < 20; n += 1) {
      await bench.must(job.id, {
        type: 'progress',
        fence,
        progress: { done: n, total: 20, message: undefined, etaAt: undefined },
        counters: { n: 1 },
      })
    }
    await bench.must(job.id, { type: 'record', fence, artifact: { name: 'a', ptr: 's3://a' } })
    const body = bodyRef('checkpoint', '1')
    await bench.say(job.id, { type: 'checkpoint', fence, body }, bench.engine, [{ name: 'checkpoint', text: '1' }])
    const service = retentionOf(bench)
    await service.runOnce()
    expect(await bench.log(job.id)).toHaveLength(25)
    await bench.must(job.id, { type: 'complete', fence })
    const before = await bench.job(job.id)
    bench.clock.advance(60_000)
    await service.runOnce()
    const log = await bench.log(job.id)
    expect(log.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'compacted', 'succeeded'])
    expect(derive(log)).toEqual(before)
    expect(await bench.job(job.id)).toEqual(before)
    expect((await verify(bench.engine)).discrepancies).toEqual([])
    await service.runOnce()
    expect(await bench.log(job.id)).toEqual(log)
  })

  it('keeps what is verbose in a log for as long as was asked for, by job type', async () => {
    const bench = new Bench()
    const talk = async (type: string) => {
      const { job, fence } = await bench.running({ kind: { ...kindOf(), type } })
      for (let n = 0; n < 30; n += 1) await bench.must(job.id, { type: 'progress', fence, counters: { n: 1 } })
      await bench.must(job.id, { type: 'complete', fence })
      return job.id
    }
    const ids = { soon: await talk('soon'), usual: await talk('usual'), late: await talk('late') }
    const kept = async () => {
      await service.runOnce()
      const lengths = await Promise.all(Object.values(ids).map(async (id) => (await bench.log(id)).length))
      return lengths.map((length) => length > 5)
    }
    const service = retentionOf(bench, { verboseMs: DAY, verboseMsByType: { soon: 60_000, late: 3 * DAY } })
    bench.clock.advance(59_000)
    expect(await kept()).toEqual([true, true, true])
    bench.clock.advance(2_000)
    expect(await kept()).toEqual([false, true, true])
    bench.clock.advance(DAY)
    expect(await kept()).toEqual([false, false, true])
    bench.clock.advance(2 * DAY)
    expect(await kept()).toEqual([false, false, false])
    expect((await verify(bench.engine)).discrepancies).toEqual([])
  })

  it('can be told to leave logs alone', async () => {
    const bench = new Bench()
    const { job, fence } = await bench.running()
    for (let n = 0; n < 30; n += 1) await bench.must(job.id, { type: 'progress', fence, counters: { n: 1 } })
    await bench.must(job.id, { type: 'complete', fence })
    bench.clock.advance(60_000)
    await retentionOf(bench, { compact: false }).runOnce()
    expect(await bench.log(job.id)).toHaveLength(34)
  })
})
