/** Document 004, crawl and ingestion: every rule but Redis and flow control, by its line. */
import { describe, expect, it } from 'vitest'
import { deriveDialect } from '../../src/core/dialects/derive.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { CODE_MEANS, DEFAULT_ERRORS } from '../../src/core/errors.ts'
import { leaseWindowMs } from '../../src/core/timers.ts'
import type { METRICS } from '../../src/engine/metrics.ts'
import { retention } from '../../src/engine/retention.ts'
import { prometheus } from '../../src/gateway/prometheus.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob, implementJob } from '../../src/library/define-job.ts'
import { silentLog } from '../../src/system/log.ts'
import { realTimers } from '../../src/system/timers.ts'
import { openTesting } from '../../src/testing/testing.ts'
import { Bench, kindOf } from '../engine/bench.ts'
import { house } from '../gateway/house.ts'
import { eventually } from '../support/eventually.ts'
import { Actor, fault, fresh } from './actor.ts'
import { disorder } from './order.ts'
import { onStores } from './stage.ts'

const strict = { dialect: '004' } as const
const SHORT = { leaseMs: 300, heartbeatMs: 30 }
const SOON = { base: 1, max: 1 } as const
const BEATS = { heartbeatMs: 1_000 }

const TRANSIENT = [
  ...['network_error', 'rate_limited', 'browser_crash', 'timeout_soft', 'qdrant_unavailable', 'neo4j_write_lock'],
]
const PERMANENT = ['invalid_url', 'robots_disallowed', 'parse_error_strict', 'unsupported_mime', 'bad_request']
const ANTI_BOT = ['captcha', '403_waf', '503_shield']
const COUNTERS = {
  urls_total: 10,
  urls_enqueued: 9,
  urls_processed: 8,
  documents_emitted: 7,
  chunks_indexed: 6,
  tokens_estimated: 5,
}

onStores('004', {}, (stage) => {
  const actor = (policy: object = {}, shortened: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)

  const failedWith = async (each: Actor, code: string, more: object = {}) => {
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault(code, more) })
    return job.id
  }

  const STATES: Readonly<Record<string, (each: Actor) => Promise<string>>> = {
    queued: async (each) => (await each.enqueue()).id,
    running: async (each) => (await each.running()).job.id,
    retry_pending: (each) => failedWith(each, 'network_error'),
    async succeeded(each) {
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'complete', fence, stats: COUNTERS, executionMs: 1_500 })
      return job.id
    },
    failed: (each) => failedWith(each, 'invalid_url'),
    async canceled(each) {
      const { job } = await each.running()
      await each.must(job.id, { type: 'cancel', mode: 'hard' })
      return job.id
    },
  }
  const at = (state: string, each: Actor) => STATES[state]?.(each) ?? Promise.reject(new Error(state))

  describe('states and events', () => {
    it.each([
      ['004:14', 'queued'],
      ['004:15', 'running'],
      ['004:16', 'retry_pending'],
      ['004:17', 'succeeded'],
      ['004:18', 'failed'],
      ['004:19', 'canceled'],
    ] as const)('%s %s is what its job shows', async (_, state) => {
      const each = actor()
      const id = await at(state, each)
      expect(await each.view(id)).toMatchObject({ job_id: id, state, type: each.spec.type })
      expect(deriveDialect('004', await each.log(id))).toMatchObject({ status: state, violations: [] })
    })

    it('004:8–11 the diagram is the table that bound jobs are judged by', () => {
      const edges = DIALECTS['004'].table.filter(({ from, to }) => from !== to).map(({ from, to }) => `${from} → ${to}`)
      expect(edges.sort()).toEqual(
        [
          ...['none → queued', 'queued → running', 'running → succeeded', 'running → failed', 'running → canceled'],
          ...['running → retry_pending', 'retry_pending → running', 'queued → canceled'],
        ].sort(),
      )
    })

    it('004:23 accept(job) → queued; 004:24 start(worker_id) → running', async () => {
      const each = actor()
      const { id } = await each.enqueue()
      expect(await each.view(id)).toMatchObject({ state: 'queued' })
      await each.begin(await each.claimed('crawler-3'))
      expect(await each.view(id)).toMatchObject({ state: 'running', worker_id: 'crawler-3', attempt: 1 })
      expect((await each.log(id)).map(({ event }) => event)).toEqual(['accept', 'start'])
    })

    it('004:25 heartbeat(t) refreshes updated_at', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'heartbeat', fence })
      const beaten = await each.job(job.id)
      expect(beaten.updatedAt).toBeGreaterThanOrEqual(job.updatedAt)
      expect(beaten.lease?.expiresAt).toBeGreaterThanOrEqual(job.lease?.expiresAt ?? 0)
      const beat = (await each.events(job.id)).at(-1)
      expect(await each.view(job.id)).toMatchObject({ updated_at: new Date(beat?.at ?? 0).toISOString() })
    })

    it('004:26 progress(n) updates counters and ETA', async () => {
      const each = actor({}, BEATS)
      let finish = () => {}
      const gate = new Promise<void>((resolve) => {
        finish = resolve
      })
      const job = implementJob(each.spec, async (_, ctx) => {
        ctx.count('urls_processed', 3)
        ctx.progress({ done: 0, total: 12 })
        ctx.progress({ done: 3, total: 12, message: 'crawling' })
        await gate
      })
      await using _ = each.pawl.work([job])
      const { id } = await each.enqueue()
      const told = await eventually('progress', async () => {
        const { progress, counters } = await each.job(id)
        return progress !== undefined && { progress, counters }
      })
      const shown = await each.view(id)
      finish()
      expect(shown).toMatchObject({ progress: 3, eta: new Date(told.progress.etaAt ?? 0).toISOString() })
      expect(told.progress).toMatchObject({ done: 3, total: 12, message: 'crawling', etaAt: expect.any(Number) })
      expect(told.counters).toEqual({ urls_processed: 3 })
      await each.until(id, 'succeeded')
    })

    it('004:27 complete(stats) → succeeded', async () => {
      const each = actor()
      const id = await at('succeeded', each)
      expect(await each.view(id)).toMatchObject({ state: 'succeeded', ...COUNTERS, duration_seconds: 1.5 })
    })

    it('004:28 error(code) is classified, and leads to retry_pending or failed', async () => {
      const each = actor()
      expect((await each.view(await failedWith(each, 'network_error')))['state']).toBe('retry_pending')
      const other = actor()
      expect((await other.view(await failedWith(other, 'bad_request')))['state']).toBe('failed')
    })

    it('004:29 cancel() is a best-effort stop; canceled', async () => {
      const each = actor({}, BEATS)
      const job = implementJob(each.spec, async (_, ctx) => {
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        ctx.signal.throwIfAborted()
      })
      await using _ = each.pawl.work([job])
      const { id } = await each.enqueue()
      await each.until(id, 'running')
      await each.pawl.cancel(id)
      await each.until(id, 'cancelled')
      expect(await each.view(id)).toMatchObject({ state: 'canceled', canceled_at: expect.any(String) })
    })
  })

  describe('idempotency', () => {
    it('004:33 the same Idempotency-Key returns the original job, in whatever state', async () => {
      const each = actor()
      const idempotencyKey = fresh('key')
      const first = await each.pawl.enqueue(each.spec, { url: 'u' }, { idempotencyKey })
      expect(await each.pawl.enqueue(each.spec, { url: 'u' }, { idempotencyKey })).toMatchObject({ id: first.id })
      await each.must(first.id, { type: 'cancel', mode: 'hard' })
      expect(await each.pawl.enqueue(each.spec, { url: 'u' }, { idempotencyKey })).toMatchObject({ id: first.id })
      expect((await each.pawl.find({ queues: [each.queue] })).jobs).toHaveLength(1)
    })

    it('004:33 creation endpoints take it as a header', async () => {
      const { pawl } = stage()
      await using gateway = await startGateway({ engine: pawl.engine, port: 0, auth: false, tenant: 'default' })
      const body = JSON.stringify({ type: fresh('type'), queue: fresh('queue'), policy: strict, input: { url: 'u' } })
      const post = async () => {
        const headers = { 'content-type': 'application/json', 'idempotency-key': '"crawl-1"' }
        const response = await fetch(`${gateway.url}/v1/jobs`, { method: 'POST', body, headers })
        return { status: response.status, id: ((await response.json()) as { id: string }).id }
      }
      const first = await post()
      expect(first.status).toBe(201)
      expect(await post()).toEqual({ status: 200, id: first.id })
    })

    it('004:34 a step that was done is not done again by a retry', async () => {
      const each = actor({ retry: { attempts: 3, ...SOON } })
      const upserts: string[] = []
      const job = implementJob(each.spec, async (_, ctx) => {
        await ctx.step('upsert doc-1', () => void upserts.push(`doc-1 in ${ctx.attempt}`))
        if (ctx.attempt === 1) throw new Error('after the write')
        await ctx.step('upsert chunk-1', () => void upserts.push(`chunk-1 in ${ctx.attempt}`))
      })
      await using _ = each.pawl.work([job], { poll: 20 })
      const { id } = await each.enqueue()
      await each.until(id, 'succeeded')
      expect(upserts).toEqual(['doc-1 in 1', 'chunk-1 in 2'])
    })
  })

  describe('retry and backoff', () => {
    it.each(TRANSIENT)('004:38 %s is transient: retry_pending', async (code) => {
      const each = actor()
      const id = await failedWith(each, code)
      expect(await each.view(id)).toMatchObject({ state: 'retry_pending', error_code: code })
      expect((await each.job(id)).lastFailure?.class).toBe('transient')
    })

    it('004:40 base 2 s, factor 2, jitter, 7 attempts are the defaults of the document', async () => {
      const each = actor()
      expect(each.spec.policy).toMatchObject({ maxAttempts: 7, retry: { baseMs: 2_000, factor: 2, jitter: 'full' } })
      const { runAt = 0, updatedAt } = await each.job(await failedWith(each, 'network_error'))
      expect(runAt - updatedAt).toBeLessThanOrEqual(2_000)
    })

    it('004:40 004:18 an error that does not pass is tried 7 times, then failed (delays shortened)', async () => {
      const each = actor({ retry: SOON })
      let ran = 0
      const job = implementJob(each.spec, () => {
        ran += 1
        throw Object.assign(new Error('down'), { code: 'network_error' })
      })
      await using _ = each.pawl.work([job], { poll: 20 })
      const { id } = await each.enqueue()
      await each.until(id, 'failed')
      expect(ran).toBe(7)
      expect(await each.view(id)).toMatchObject({ state: 'failed', error_code: 'network_error', attempt: 7 })
    })

    it.each(PERMANENT)('004:41 004:43 %s is permanent: no retry, failed', async (code) => {
      const each = actor()
      const id = await failedWith(each, code)
      expect(await each.view(id)).toMatchObject({ state: 'failed', error_code: code, attempt: 1 })
      expect(await each.claim()).toBeUndefined()
    })

    it.each(ANTI_BOT)('004:44 004:46 %s slows down: a later start and a higher cap', async (code) => {
      const each = actor()
      const id = await failedWith(each, code)
      const { state, runAt = 0, updatedAt, lastFailure } = await each.job(id)
      expect([state, lastFailure?.class]).toEqual(['retrying', 'throttled'])
      const { throttled, retry } = each.spec.policy
      expect(throttled.maxMs).toBeGreaterThan(retry.maxMs)
      expect(runAt - updatedAt).toBeGreaterThanOrEqual(throttled.baseMs / 2)
      expect(throttled.baseMs / 2).toBeGreaterThan(retry.baseMs)
    })
  })

  describe('cancellation', () => {
    it.each(['queued', 'running'])('004:50 from %s', async (state) => {
      const each = actor()
      const id = await at(state, each)
      await each.must(id, { type: 'cancel', mode: 'hard' })
      expect(await each.view(id)).toMatchObject({ state: 'canceled' })
      expect(deriveDialect('004', await each.log(id))).toMatchObject({ status: 'canceled', violations: [] })
    })

    it('004:50 not from retry_pending', async () => {
      const each = actor({ retry: { base: '1h', max: '1h', jitter: 'none' } })
      await each.refused(await at('retry_pending', each), { type: 'cancel', mode: 'hard' }, 'DIALECT_FORBIDS')
    })

    it.each(['succeeded', 'failed'])('004:50 not from %s', async (state) => {
      const each = actor()
      await each.refused(await at(state, each), { type: 'cancel', mode: 'hard' }, 'ENDED')
    })

    it('004:51 canceled_at is set, and what was done so far stays', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'progress', fence, counters: { documents_emitted: 4 } })
      await each.must(job.id, { type: 'record', fence, artifact: { name: 'page-1', ptr: 's3://p1' } })
      await each.must(job.id, { type: 'cancel', mode: 'hard' })
      const ended = await each.job(job.id)
      expect(await each.view(job.id)).toMatchObject({
        canceled_at: new Date(ended.endedAt ?? 0).toISOString(),
        documents_emitted: 4,
      })
      expect(ended.artifacts).toEqual({ 'page-1': 's3://p1' })
    })
  })

  describe('counters and failures', () => {
    it('004:57 the seven counters', async () => {
      const each = actor()
      const job = implementJob(each.spec, (_, ctx) => {
        for (const [name, value] of Object.entries(COUNTERS)) ctx.count(name, value)
        ctx.count('urls_processed')
      })
      await using _ = each.pawl.work([job])
      const { id } = await each.enqueue()
      await each.until(id, 'succeeded')
      const shown = await each.view(id)
      expect(shown).toMatchObject({ ...COUNTERS, urls_processed: 9, duration_seconds: expect.any(Number) })
    })

    it('004:61 error_code, message and context: domain, url, attempt, worker_id', async () => {
      const each = actor()
      const context = { domain: 'example.org', url: 'https://example.org/a' }
      const id = await failedWith(each, 'E_ROBOTS', { context })
      expect(await each.view(id)).toMatchObject({
        error_code: 'E_ROBOTS',
        message: 'it was E_ROBOTS',
        context: { ...context, attempt: 1, worker_id: 'w1' },
      })
    })

    it('004:61 worker_id is who failed, whoever has the job now', async () => {
      const each = actor({ retry: SOON })
      const id = await failedWith(each, 'network_error')
      await each.begin(await each.claimed('w2'))
      expect(await each.view(id)).toMatchObject({ worker_id: 'w2', context: { attempt: 1, worker_id: 'w1' } })
      expect((await each.job(id)).lastFailure).toMatchObject({ worker: 'w1' })
    })

    it.each([
      ['E_URL_BAD', 'invalid_url', 'failed'],
      ['E_ROBOTS', 'robots_disallowed', 'failed'],
      ['E_403_WAF', '403_waf', 'retry_pending'],
      ['E_429_RATE', 'rate_limited', 'retry_pending'],
      ['E_5XX_ORIGIN', 'network_error', 'retry_pending'],
      ['E_PARSE', 'parse_error_strict', 'failed'],
      ['E_TIMEOUT', 'timeout_soft', 'retry_pending'],
      ['E_BROWSER', 'browser_crash', 'retry_pending'],
      ['E_QDRANT', 'qdrant_unavailable', 'retry_pending'],
      ['E_NEO4J', 'neo4j_write_lock', 'retry_pending'],
      ['E_GPU_OOM', undefined, 'retry_pending'],
    ])('004:63 code %s means %s: %s', async (code, means, state) => {
      expect(CODE_MEANS[code]).toBe(means)
      if (means !== undefined) expect(DEFAULT_ERRORS.get(code)).toBe(DEFAULT_ERRORS.get(means))
      const each = actor()
      expect((await each.view(await failedWith(each, code)))['state']).toBe(state)
    })
  })

  describe('heartbeat and time to live', () => {
    it('004:67 004:68 004:69 heartbeat every 10 s, lost after 90 s; the wall clock is as the type says', () => {
      const { policy } = defineJob({ ...strict, type: 't', run: () => {} })
      expect(policy).toMatchObject({ heartbeatMs: 10_000, deadlineMs: undefined })
      expect(leaseWindowMs(policy)).toBe(90_000)
      expect(defineJob({ ...strict, type: 't', deadline: '2h', run: () => {} }).policy.deadlineMs).toBe(7_200_000)
    })

    it('004:25 004:68 missed heartbeats: timeout_soft, and rescheduled (lease shortened)', async () => {
      const each = actor({ retry: SOON }, SHORT)
      const { job } = await each.assigned()
      const again = await each.claimed('w2')
      expect(again.job).toMatchObject({
        id: job.id,
        attempt: 2,
        lastFailure: { code: 'timeout_soft', class: 'transient', worker: 'w1' },
      })
      // The worker that lost it, not the one that has it now.
      expect(await each.view(job.id)).toMatchObject({ error_code: 'timeout_soft', context: { worker_id: 'w1' } })
      expect((await each.events(job.id)).map(({ type }) => type)).toEqual([
        ...['enqueued', 'claimed', 'stalled', 'retry_scheduled', 'claimed'],
      ])
    })

    it('004:25 missed heartbeats in the last attempt: failed with a timeout (lease shortened)', async () => {
      const each = actor({ retry: { attempts: 1 } }, SHORT)
      const { job } = await each.running()
      await each.until(job.id, 'failed')
      expect(await each.view(job.id)).toMatchObject({ state: 'failed', error_code: 'E_TIMEOUT' })
    })

    it('004:69 a job that takes longer than its wall clock is failed (shortened)', async () => {
      const each = actor({ deadline: '400ms' })
      const { job } = await each.running()
      await each.until(job.id, 'timed_out')
      expect(await each.view(job.id)).toMatchObject({ state: 'failed', error_code: 'E_TIMEOUT' })
      expect(deriveDialect('004', await each.log(job.id))).toMatchObject({ status: 'failed', violations: [] })
    })
  })

  describe('persistence and observability', () => {
    it('004:74 the event log is append-only', async () => {
      const each = actor({ retry: SOON })
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
      const before = await each.events(job.id)
      const again = await each.begin(await each.claimed())
      await each.must(job.id, { type: 'complete', fence: again.fence })
      const after = await each.events(job.id)
      expect(after.slice(0, before.length)).toEqual(before)
      expect(disorder(after)).toEqual([])
    })

    it('004:78 what a job that succeeded has made is stored, and can be read', async () => {
      const each = actor()
      const documents = [{ url: 'https://example.org', text: 'hello' }]
      const job = implementJob(each.spec, async (_, ctx) => {
        await ctx.artifact('documents', 's3://bucket/documents.jsonl')
        return { documents }
      })
      await using _ = each.pawl.work([job])
      const { id } = await each.enqueue()
      expect(await each.pawl.result(id, { timeout: '15s' })).toEqual({ documents })
      expect((await each.job(id)).artifacts).toEqual({ documents: 's3://bucket/documents.jsonl' })
    })

    it('004:83 one structured line per transition: job_id, from, to, reason, attempt', async () => {
      const each = actor({ retry: SOON })
      const id = await failedWith(each, 'network_error')
      const again = await each.begin(await each.claimed())
      await each.must(id, { type: 'complete', fence: again.fence })
      const lines = stage().lines.filter(({ job_id, message }) => job_id === id && message === 'transition')
      const told = lines.map(({ from, to, reason, attempt }) => ({ from, to, reason, attempt }))
      expect(told).toEqual([
        { from: 'none', to: 'queued', reason: 'enqueue', attempt: 0 },
        { from: 'queued', to: 'running', reason: 'start', attempt: 1 },
        { from: 'running', to: 'retry_pending', reason: 'network_error', attempt: 1 },
        { from: 'retry_pending', to: 'running', reason: 'start', attempt: 2 },
        { from: 'running', to: 'succeeded', reason: 'complete', attempt: 2 },
      ])
    })

    it('004:83 of a start and an end in one commit each is a line, in its words', async () => {
      const each = actor()
      const { job, fence } = await each.assigned()
      await each.must(job.id, { type: 'complete', fence })
      const lines = stage().lines.filter(({ job_id, message }) => job_id === job.id && message === 'transition')
      expect(lines.map(({ from, to }) => `${from} → ${to}`)).toEqual([
        ...['none → queued', 'queued → running', 'running → succeeded'],
      ])
    })

    it('004:84 jobs_inflight by type, job_duration_seconds, job_failures_total by code, retry_attempts_total', async () => {
      const { measured } = stage()
      const since = measured.length
      const each = actor({ retry: SOON })
      const { type } = each.spec
      const values = (name: keyof typeof METRICS, labels: object) =>
        measured
          .slice(since)
          .filter((one) => one.name === name && Object.entries(labels).every(([k, v]) => one.labels[k] === v))
          .map(({ value }) => value)
      const { job, fence } = await each.running()
      const inflight = async () => {
        const metrics = prometheus()
        metrics.watch(stage().pawl)
        return /pawl_jobs_inflight\{type="(.*)"\} (\d+)/
          .exec((await metrics.text()).split('\n').find((line) => line.includes(`inflight{type="${type}"`)) ?? '')
          ?.at(2)
      }
      expect(await inflight()).toBe('1')
      await each.must(job.id, { type: 'fail', fence, fault: fault('browser_crash'), executionMs: 250 })
      expect(await inflight()).toBe('0')
      expect(values('pawl_job_duration_seconds', { type })).toEqual([0.25])
      expect(values('pawl_job_failures_total', { code: 'browser_crash' })).toEqual([1])
      expect(values('pawl_retry_attempts_total', { type })).toEqual([1])
    })
  })
})

describe('004 in memory and virtual time: what takes too long to wait for', () => {
  const stuck = (policy: object = {}, ran: number[] = []) =>
    defineJob({
      ...strict,
      ...policy,
      type: 'stuck',
      run: (_, ctx) => {
        ran.push(ctx.attempt)
        return new Promise<void>(() => {})
      },
    })

  it('004:33 the key counts for 24 hours, not longer', async () => {
    const quick = defineJob({ ...strict, type: 'quick', run: () => 1 })
    await using testing = await openTesting([quick])
    const enqueue = () => testing.pawl.enqueue(quick, { url: 'u' }, { idempotencyKey: 'k' })
    const { id } = await enqueue()
    await testing.advance('23h')
    expect((await enqueue()).id).toBe(id)
    await testing.advance('61m')
    expect((await enqueue()).id).not.toBe(id)
  })

  it('004:40 seven attempts, each delay within 2 s · 2ⁿ⁻¹', async () => {
    const at: number[] = []
    const failing = defineJob({
      ...strict,
      type: 'failing',
      run: () => {
        at.push(testing.now.getTime())
        throw Object.assign(new Error('down'), { code: 'network_error' })
      },
    })
    await using testing = await openTesting([failing])
    const { id } = await testing.pawl.enqueue(failing)
    await testing.advance('290s')
    expect(at).toHaveLength(7)
    const delays = at.slice(1).map((time, i) => time - (at[i] ?? 0))
    for (const [i, delay] of delays.entries()) expect(delay).toBeLessThanOrEqual(2_000 * 2 ** i + 5)
    expect((await testing.pawl.get(id))?.state).toBe('failed')
  })

  it('004:40 without jitter the six retries wait for 2, 4, 8, 16, 32 and 64 s', async () => {
    const at: number[] = []
    const failing = defineJob({
      ...strict,
      type: 'failing',
      retry: { jitter: 'none' },
      run: () => {
        at.push(testing.now.getTime())
        throw Object.assign(new Error('down'), { code: 'network_error' })
      },
    })
    await using testing = await openTesting([failing])
    await testing.pawl.enqueue(failing)
    await testing.advance('200s')
    const delays = at.slice(1).map((time, i) => Math.round((time - (at[i] ?? 0)) / 1_000))
    expect(delays).toEqual([2, 4, 8, 16, 32, 64])
  })

  it('004:67 a worker heartbeats every 10 s', async () => {
    const job = stuck()
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    const beats: (number | undefined)[] = []
    for (let n = 0; n < 4; n += 1) {
      await testing.advance('10s')
      beats.push((await testing.pawl.get(id))?.lease?.beats)
    }
    expect(beats).toEqual([1, 2, 3, 4])
  })

  it('004:68 heartbeats missed for 90 s, not less: timeout_soft, and rescheduled', async () => {
    const ran: number[] = []
    const job = stuck({ retry: SOON }, ran)
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.crashWorker()
    await testing.advance('88s')
    expect(ran).toEqual([1])
    await testing.advance('2s')
    expect(ran).toEqual([1, 2])
    const record = await testing.pawl.get(id)
    expect(record?.lastFailure).toMatchObject({ code: 'timeout_soft', class: 'transient' })
  })

  it('004:69 the wall clock begins with the first start: nothing runs out while a job waits in the queue', async () => {
    const job = stuck({ deadline: '300s', timeout: '1h' })
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job, {}, { delay: '2h' })
    await testing.advance('2h')
    await testing.advance('299s')
    expect((await testing.pawl.get(id))?.state).toBe('running')
    await testing.advance('2s')
    const ended = await testing.pawl.get(id)
    expect(ended).toMatchObject({ state: 'timed_out', error: { code: 'E_TIMEOUT' } })
  })

  it('004:69 retries count towards it, and one that would come too late is not made', async () => {
    const at: number[] = []
    const failing = defineJob({
      ...strict,
      type: 'failing',
      deadline: '10s',
      retry: { jitter: 'none' },
      run: () => {
        at.push(testing.now.getTime())
        throw Object.assign(new Error('down'), { code: 'network_error' })
      },
    })
    await using testing = await openTesting([failing])
    const { id } = await testing.pawl.enqueue(failing)
    await testing.advance('60s')
    // At 0, 2 and 6 s; the next would have been at 14 s.
    expect(at).toHaveLength(3)
    expect(await testing.pawl.get(id)).toMatchObject({ state: 'failed', error: { code: 'network_error' } })
    expect((await testing.pawl.events(id)).at(-1)).toMatchObject({ reason: 'wall_clock', from: 'running' })
  })

  it.each([
    ['nobody has asked for retention', {}, [true, false]],
    ['somebody has asked for it', { succeededMs: 86_400_000, compact: true }, [false, false]],
  ] as const)('004:74 its log is kept whole while %s', async (_, options, kept) => {
    const bench = new Bench()
    const ids: string[] = []
    for (const kind of [kindOf({ dialect: '004' }), kindOf()]) {
      const { job, fence } = await bench.running({ kind })
      for (let n = 0; n < 3; n += 1) await bench.must(job.id, { type: 'progress', fence, counters: { n } })
      await bench.must(job.id, { type: 'complete', fence })
      ids.push(job.id)
    }
    const before = await bench.engine.events({ by: 'job', id: String(ids[0]), afterRev: 0, limit: 100 })
    bench.clock.advance(40 * 86_400_000)
    const service = retention({ store: bench.store, timers: realTimers, log: silentLog }, options)
    await service.runOnce()
    const found = (await bench.store.load(ids.map((id) => ({ id })))).items
    expect(found.map((item) => item !== undefined)).toEqual(kept)
    const after = await bench.engine.events({ by: 'job', id: String(ids[0]), afterRev: 0, limit: 100 })
    if (kept[0]) expect(after.events).toEqual(before.events)
  })

  it('004:69 a submission that is waited for has 300 s, whatever its type has', async () => {
    await using home = await house()
    const submit = async (query: string, policy: object) => {
      const words = { type: fresh('type'), queue: fresh('queue'), policy: { ...strict, ...policy } }
      const { status, body } = await home.ask('producer', 'POST', `/v1/jobs${query}`, words)
      const { body: shown } = await home.ask('producer', 'GET', `/v1/jobs/${body['jobId'] ?? body['id']}?policy=true`)
      return [status, (shown['policy'] as { readonly deadlineMs?: number }).deadlineMs]
    }
    expect(await submit('?wait=0', {})).toEqual([202, 300_000])
    expect(await submit('?wait=0', { deadline: '2h' })).toEqual([202, 300_000])
    expect(await submit('?wait=0', { deadline: '30s' })).toEqual([202, 30_000])
    expect(await submit('', {})).toEqual([201, undefined])
    expect(await submit('', { deadline: '2h' })).toEqual([201, 7_200_000])
    expect(await submit('?wait=0', { dialect: '003' })).toEqual([202, undefined])
  })

  it('004:69 who waits is answered with the result', async () => {
    await using home = await house()
    const adds = defineJob({ ...strict, type: fresh('adds'), queue: 'adds', run: ({ n }: { n: number }) => n + 1 })
    await using _ = home.pawl.work([adds])
    const words = { type: adds.type, queue: 'adds', policy: strict, input: { n: 1 } }
    const { status, body, headers } = await home.ask('producer', 'POST', '/v1/jobs?wait', words)
    expect([status, body]).toMatchObject([200, { state: 'succeeded', result: 2 }])
    expect(headers.get('location')).toBe(`/v1/jobs/${body['jobId']}`)
    expect((await home.ask('producer', 'POST', '/v1/jobs?wait=400000', words)).status).toBe(400)
  })

  it('004:69 an asynchronous job may be given hours', async () => {
    const job = stuck({ deadline: '2h', timeout: '2h' })
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('119m')
    expect((await testing.pawl.get(id))?.state).toBe('running')
    await testing.advance('2m')
    expect((await testing.pawl.get(id))?.state).toBe('timed_out')
  })
})
