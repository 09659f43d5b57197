/** Document 000, part A, "Distributed Reliability": every statement, by its line. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { LONG_LOG } from '../../src/core/compact.ts'
import { deriveDialect } from '../../src/core/dialects/derive.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import type { Duration } from '../../src/core/duration.ts'
import { DEAD_LETTER_REASONS } from '../../src/core/job.ts'
import { ValidationError } from '../../src/core/thrown.ts'
import { leaseWindowMs } from '../../src/core/timers.ts'
import { METRICS } from '../../src/engine/metrics.ts'
import { SETTLED_MS } from '../../src/engine/shortening.ts'
import { defineJob, implementJob } from '../../src/library/define-job.ts'
import { openTesting } from '../../src/testing/testing.ts'
import { eventually } from '../support/eventually.ts'
import { Actor, fault, fresh } from './actor.ts'
import { chaos } from './chaos.ts'
import { disorder } from './order.ts'
import { onStores, type Stage } from './stage.ts'

const strict = { dialect: '000A' } as const
/** Strict leases last 30 s at least: these are the document's in everything but length. */
const SHORT = { leaseMs: 300, heartbeatMs: 100 }
/** A worker hears of a cancel with a heartbeat at the latest. */
const BEATS = { heartbeatMs: 1_000, missedHeartbeats: 20 }
const SOON = { base: 1, max: 1 } as const

/** Jobs brought into each of the seven states, by the document's own moves. */
const STATES = {
  async queued(actor: Actor) {
    return (await actor.enqueue()).id
  },
  async assigned(actor: Actor) {
    return (await actor.assigned()).job.id
  },
  async running(actor: Actor) {
    return (await actor.running()).job.id
  },
  async succeeded(actor: Actor) {
    const { job, fence } = await actor.running()
    await actor.must(job.id, { type: 'record', fence, artifact: { name: 'report', ptr: 's3://b/report' } })
    await actor.must(job.id, { type: 'complete', fence })
    return job.id
  },
  async failed(actor: Actor) {
    const { job, fence } = await actor.running()
    await actor.must(job.id, { type: 'fail', fence, fault: fault('invalid_url') })
    return job.id
  },
  async cancelled(actor: Actor) {
    const { job } = await actor.running()
    await actor.must(job.id, { type: 'cancel', mode: 'hard' })
    return job.id
  },
  async dead_lettered(actor: Actor) {
    const { id } = await actor.enqueue()
    await actor.must(id, { type: 'deadLetter', reason: 'policy_violation', stage: 'input' })
    return id
  },
} as const

const ENDED = ['succeeded', 'failed', 'cancelled', 'dead_lettered'] as const

const SCHEMA = ['id', 'job_id', 'type', 'ts', 'actor', 'correlation_id', 'cause', 'payload', 'version']

onStores('000 part A', {}, (stage) => {
  const actor = (policy: object = {}, shortened: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)

  describe('states', () => {
    it.each([
      ['000A:10', 'queued', { attempts: 0 }],
      ['000A:11', 'assigned', { owner: 'w1', lease: expect.any(String) }],
      ['000A:12', 'running', { owner: 'w1', lease: expect.any(String) }],
      ['000A:13', 'succeeded', { artifacts: { report: 's3://b/report' } }],
      ['000A:14', 'failed', {}],
      ['000A:15', 'cancelled', {}],
      ['000A:16', 'dead_lettered', { reason_code: 'policy_violation' }],
    ] as const)('%s %s is what its job shows', async (_, state, fields) => {
      const each = actor()
      const id = await STATES[state](each)
      expect(await each.view(id)).toMatchObject({ job_id: id, state, ...fields })
    })

    it('000A:10 queued is visible to schedulers: it is found, and given to the first that asks', async () => {
      const each = actor()
      const { id } = await each.enqueue()
      expect((await each.pawl.find({ queues: [each.queue], states: ['queued'] })).jobs.map((job) => job.id)).toEqual([
        id,
      ])
      expect((await each.claim())?.job.id).toBe(id)
    })
  })

  describe('allowed transitions', () => {
    it('000A:19 queued → assigned: the claim succeeds and a lease is acquired, in one commit', async () => {
      const each = actor()
      const { job, fence, leaseExpiresAt } = await each.assigned()
      expect(job).toMatchObject({ state: 'claimed', attempt: 1, lease: { fence, expiresAt: leaseExpiresAt } })
      expect((await each.job(job.id)).lease?.fence).toBe(fence)
      expect((await each.events(job.id)).map(({ type }) => type)).toEqual(['enqueued', 'claimed'])
    })

    it('000A:20 assigned → running: the worker acknowledges the start, which is the first heartbeat', async () => {
      const each = actor()
      const assigned = await each.assigned()
      const started = await each.must(assigned, { type: 'start', fence: assigned.fence, requestId: 'start' })
      expect(await each.view(assigned.job.id)).toMatchObject({ state: 'running' })
      const { lease } = await each.job(assigned.job.id)
      expect(lease?.beats).toBe(1)
      expect(lease?.expiresAt).toBeGreaterThanOrEqual(assigned.job.lease?.expiresAt ?? Number.NaN)
      const log = ['job_claimed', 'job_started', 'job_heartbeat', 'job_lease_renewed']
      expect((await each.log(assigned.job.id)).map(({ type }) => type)).toEqual(log)
      // Said again, it is answered as it was, and beats no second time.
      const again = await each.must(assigned, { type: 'start', fence: assigned.fence, requestId: 'start' })
      expect(again).toEqual({ ...started, replayed: true })
      await each.must(assigned, { type: 'heartbeat', fence: assigned.fence })
      expect((await each.job(assigned.job.id)).lease?.beats).toBe(2)
    })

    it.each(['succeeded', 'failed', 'cancelled'] as const)('000A:21 running → %s', async (state) => {
      const each = actor()
      const id = await STATES[state](each)
      expect((await each.events(id)).at(-1)).toMatchObject({ from: 'running', to: state })
    })

    it.each(['queued', 'assigned', 'running'] as const)('000A:22 %s → dead_lettered', async (state) => {
      const each = actor()
      const id = await STATES[state](each)
      await each.must(id, { type: 'deadLetter', reason: 'infrastructure_failure', stage: 'exec' })
      expect(await each.view(id)).toMatchObject({ state: 'dead_lettered', reason_code: 'infrastructure_failure' })
    })

    it.each(['queued', 'assigned'] as const)('000A:18 there is no %s → cancelled', async (state) => {
      const each = actor()
      await each.refused(await STATES[state](each), { type: 'cancel', mode: 'hard' }, 'DIALECT_FORBIDS')
    })

    it.each(ENDED)('000A:18 nothing leads out of %s', async (state) => {
      const each = actor()
      const id = await STATES[state](each)
      const fence = (await each.job(id)).lastClaim?.fence ?? '0.1.0000000000000000'
      await each.refused(id, { type: 'start', fence }, 'ENDED', 'STALE_FENCE')
      await each.refused(id, { type: 'heartbeat', fence }, 'ENDED', 'STALE_FENCE')
      await each.refused(id, { type: 'fail', fence, fault: fault('other') }, 'ENDED', 'STALE_FENCE')
      if (state !== 'succeeded') await each.refused(id, { type: 'complete', fence }, 'ENDED', 'STALE_FENCE')
      if (state !== 'cancelled') await each.refused(id, { type: 'cancel', mode: 'hard' }, 'ENDED')
      await each.refused(id, { type: 'deadLetter', reason: 'timeout', stage: 'exec' }, 'ENDED')
      await each.refused(id, { type: 'reopen' }, 'DIALECT_FORBIDS')
      expect(await each.claim()).toBeUndefined()
    })

    it('000A:67–82 the diagram is the table that bound jobs are judged by', () => {
      const { table } = DIALECTS['000A']
      const edges = table.filter(({ settled, from, to }) => settled === undefined && from !== to)
      expect(edges.map(({ from, to }) => `${from} → ${to}`).sort()).toEqual(
        [
          ...['none → queued', 'queued → assigned', 'assigned → running', 'running → succeeded', 'running → failed'],
          ...['running → cancelled', 'queued → dead_lettered', 'assigned → dead_lettered', 'running → dead_lettered'],
        ].sort(),
      )
    })
  })

  describe('invariants', () => {
    it('000A:25 at most one active lease: nobody else is given the job while it lasts', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      expect(await Promise.all(['w1', 'w2', 'w3'].map((worker) => each.claim(worker)))).toEqual([
        undefined,
        undefined,
        undefined,
      ])
      await each.refused(job.id, { type: 'heartbeat', fence: `${fence}0` }, 'STALE_FENCE')
    })

    it('000A:26 no backward transitions: running → queued is forbidden within an attempt', async () => {
      const each = actor()
      const { job } = await each.running()
      await each.refused(job.id, { type: 'requeue' }, 'ILLEGAL_TRANSITION')
      await each.refused(job.id, { type: 'stall' }, 'NOT_DUE')
      await each.refused(job.id, { type: 'reschedule', runAt: 0 }, 'DIALECT_FORBIDS', 'ILLEGAL_TRANSITION')
    })

    it.each(ENDED)('000A:27 exactly one event per transition, in their order: up to %s', async (state) => {
      const each = actor()
      const events = await each.events(await STATES[state](each))
      expect(disorder(events)).toEqual([])
      const moves = events.filter(({ seq }) => seq !== undefined)
      expect(new Set(moves.map(({ to }) => to)).size).toBe(moves.length)
    })

    it('000A:28 a transition requested again under its key has no side effects', async () => {
      const each = actor()
      const once = async (id: string, words: Parameters<Actor['say']>[1]) => {
        const requestId = fresh('key')
        const first = await each.must(id, { ...words, requestId })
        const before = [await each.job(id), await each.events(id)]
        expect(await each.must(id, { ...words, requestId })).toMatchObject({ replayed: true, rev: first.rev })
        expect([await each.job(id), await each.events(id)]).toEqual(before)
      }
      const { job, fence } = await each.assigned()
      await once(job.id, { type: 'start', fence })
      await once(job.id, { type: 'heartbeat', fence })
      await once(job.id, { type: 'cancel', mode: 'soft' })
      await once(job.id, { type: 'complete', fence })
      const other = await each.running()
      await once(other.job.id, { type: 'fail', fence: other.fence, fault: fault('bad_request') })
      await once(await STATES.running(each), { type: 'cancel', mode: 'hard' })
      await once(await STATES.running(each), { type: 'deadLetter', reason: 'timeout', stage: 'exec' })
      const requestId = fresh('key')
      const enqueued = await each.pawl.enqueue(each.spec, 1, { requestId })
      expect(await each.pawl.enqueue(each.spec, 1, { requestId })).toMatchObject({ id: enqueued.id, replayed: true })
    })

    it('000A:29 a lease that is not renewed before its expiry is forfeited (lease shortened)', async () => {
      const each = actor({}, SHORT)
      const { job, fence } = await each.assigned()
      await eventually('the lease to be over', () => each.pawl.engine.now() >= (job.lease?.expiresAt ?? 0))
      await each.pawl.get(job.id)
      for (const words of [
        { type: 'start', fence },
        { type: 'heartbeat', fence },
        { type: 'complete', fence },
      ] as const)
        expect(await each.say(job.id, words)).toMatchObject({
          ok: false,
          refusal: { code: expect.stringMatching(/^(LEASE_EXPIRED|STALE_FENCE)$/) },
        })
      expect((await each.job(job.id)).startedAt).toBeUndefined()
    })
  })

  describe('lease and heartbeats', () => {
    it('000A:32 a lease lasts 30 to 120 s, as each job type says', () => {
      const lease = (ms: Duration) => defineJob({ ...strict, type: 't', lease: ms, run: () => {} }).policy.leaseMs
      expect(() => lease('29999ms')).toThrow(/lease: strict 000: 30 s to 120 s/)
      expect(() => lease('120001ms')).toThrow(/lease: strict 000: 30 s to 120 s/)
      expect([lease('30s'), lease('75s'), lease('120s')]).toEqual([30_000, 75_000, 120_000])
    })

    it('000A:33 a heartbeat comes every 10 to 30 s', () => {
      const beat = (ms: Duration) =>
        defineJob({ ...strict, type: 't', heartbeat: ms, run: () => {} }).policy.heartbeatMs
      expect(() => beat('9999ms')).toThrow(/heartbeat: strict 000: 10 s to 30 s/)
      expect(() => beat('30001ms')).toThrow(/heartbeat: strict 000: 10 s to 30 s/)
      expect([beat('10s'), beat('30s')]).toEqual([10_000, 30_000])
    })

    it('000A:33 two missed intervals orphan the job, and another worker may have it (heartbeat shortened)', async () => {
      const each = actor({ lease: '120s' }, { heartbeatMs: 100, missedHeartbeats: 2 })
      const { job } = await each.running()
      expect((job.lease?.expiresAt ?? 0) - job.updatedAt).toBeLessThanOrEqual(leaseWindowMs(each.spec.policy))
      const again = await each.claimed('w2')
      expect(again.job).toMatchObject({ id: job.id, attempt: 2, owner: { workerId: 'w2' } })
      const stalled = (await each.events(job.id)).find(({ type }) => type === 'stalled')
      expect((stalled?.at ?? 0) - job.updatedAt).toBeLessThan(120_000)
    })

    it('000A:34 the lease expires → the job returns to queued (lease shortened)', async () => {
      const each = actor({}, SHORT)
      const { job, fence } = await each.assigned()
      const queued = await each.until(job.id, 'queued')
      expect(queued).toMatchObject({ attempt: 1, stalls: 1, owner: undefined, lease: undefined })
      expect(await each.view(job.id)).toMatchObject({ state: 'queued' })
      await each.refused(job.id, { type: 'start', fence }, 'STALE_FENCE')
      const again = await each.claimed('w2')
      expect(again.job).toMatchObject({ id: job.id, attempt: 2 })
      expect(again.fence).not.toBe(fence)
    })

    it('000A:34 the lease expires → dead letter, if that was the last attempt (lease shortened)', async () => {
      const each = actor({ retry: { attempts: 2 } }, SHORT)
      const { id } = await each.enqueue()
      for (const worker of ['w1', 'w2']) {
        await each.claimed(worker)
        await eventually('the lease to be lost', async () => (await each.job(id)).lease === undefined)
      }
      const letter = { state: 'dead_lettered', reason_code: 'infrastructure_failure', attempts: 2, last_owner: 'w2' }
      expect(await each.view(id)).toMatchObject(letter)
    })
  })

  describe('retries', () => {
    it('000A:37 retries back off exponentially, with jitter, up to a configurable interval', async () => {
      const each = actor({ retry: { attempts: 9, base: '8ms', factor: 2, max: '64ms', jitter: 'full' } })
      const { id } = await each.enqueue()
      const delays: number[] = []
      for (let n = 1; n <= 8; n += 1) {
        const { job, fence } = await each.begin(await each.claimed())
        await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
        const { state, runAt = 0, updatedAt } = await each.job(id)
        expect(state).toBe('retrying')
        delays.push(runAt - updatedAt)
        expect(runAt - updatedAt).toBeLessThanOrEqual(Math.min(64, 8 * 2 ** (n - 1)))
      }
      const caps = delays.map((_, i) => Math.min(64, 8 * 2 ** i))
      expect(delays).not.toEqual(caps)
      expect(new Set(delays).size).toBeGreaterThan(2)
      expect(each.spec.policy.retry.factor).toBe(2)
    })

    it.each([
      ['failed', 'failed'],
      ['dead_letter', 'dead_lettered'],
    ] as const)('000A:38 attempts spent: %s, if the policy says so', async (onExhausted, state) => {
      const each = actor({ onExhausted, retry: { attempts: 3, ...SOON } })
      const { id } = await each.enqueue()
      for (let n = 1; n <= 3; n += 1) {
        const { fence } = await each.begin(await each.claimed())
        await each.must(id, { type: 'fail', fence, fault: fault('network_error') })
      }
      expect(await each.view(id)).toMatchObject({ state, attempts: 3 })
      expect(await each.claim()).toBeUndefined()
    })
  })

  describe('cancellation', () => {
    it('000A:41 soft: the signal is delivered, the worker checkpoints and ends', async () => {
      const each = actor({}, BEATS)
      const job = implementJob(each.spec, async (_, ctx) => {
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        await ctx.checkpoint({ page: 7 })
        ctx.signal.throwIfAborted()
      })
      await using _ = each.pawl.work([job])
      const { id } = await each.enqueue()
      await each.until(id, 'running')
      await each.pawl.cancel(id, { mode: 'soft', reason: 'enough' })
      const ended = await each.until(id, 'cancelled')
      expect(ended.cancel).toMatchObject({ mode: 'soft', reason: 'enough', acknowledgedAt: expect.any(Number) })
      expect(await each.pawl.body(id, 'checkpoint')).toEqual({ page: 7 })
      expect(await each.view(id)).toMatchObject({ state: 'cancelled' })
    })

    it('000A:42 hard: cancelled at once; what the worker says afterwards counts for nothing', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'cancel', mode: 'hard' })
      expect(await each.view(job.id)).toMatchObject({ state: 'cancelled' })
      await each.refused(job.id, { type: 'complete', fence }, 'STALE_FENCE', 'ENDED')
      await each.refused(
        job.id,
        { type: 'record', fence, artifact: { name: 'late', ptr: 'p' } },
        'STALE_FENCE',
        'ENDED',
      )
    })

    it('000A:42 hard: the handler is terminated', async () => {
      const each = actor({}, BEATS)
      const aborted: unknown[] = []
      const job = implementJob(each.spec, async (_, ctx) => {
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        aborted.push(ctx.signal.reason)
      })
      await using _ = each.pawl.work([job])
      const { id } = await each.enqueue()
      await each.until(id, 'running')
      await each.pawl.cancel(id, { mode: 'hard' })
      await eventually('the handler to be told', () => aborted.length > 0)
      expect((await each.job(id)).state).toBe('cancelled')
    })
  })

  describe('dead letters', () => {
    it.each(DEAD_LETTER_REASONS)('000A:45 staged reason %s', async (reason) => {
      const each = actor()
      const { job } = await each.running()
      await each.must(job.id, { type: 'deadLetter', reason, stage: 'commit' })
      expect(await each.view(job.id)).toMatchObject({ state: 'dead_lettered', reason_code: reason })
      expect((await each.job(job.id)).deadLetter?.stage).toBe('commit')
    })

    it('000A:45 the eight reasons are all there are', async () => {
      expect([...DEAD_LETTER_REASONS].sort()).toEqual(
        [
          ...['parse_error', 'validation_failed', 'dependency_unavailable', 'timeout', 'exhausted_retries'],
          ...['policy_violation', 'infrastructure_failure', 'compensation_failed'],
        ].sort(),
      )
      const each = actor()
      const { id } = await each.enqueue()
      await each.refused(id, { type: 'deadLetter', reason: 'bad_mood' as 'timeout', stage: 'exec' }, 'INVALID')
    })

    it.each([
      ['network_error', 'exhausted_retries'],
      ['qdrant_unavailable', 'dependency_unavailable'],
      ['E_TIMEOUT', 'timeout'],
    ] as const)('000A:45 spent on %s, the reason is %s', async (code, reason) => {
      const each = actor({ retry: { attempts: 1 } })
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault(code) })
      expect(await each.view(job.id)).toMatchObject({ state: 'dead_lettered', reason_code: reason })
    })

    it('000A:45 an input that breaks its schema, as the worker finds it: validation_failed', async () => {
      const each = actor()
      const { id } = await each.enqueue({}, { url: 7 })
      const job = defineJob({
        ...strict,
        type: each.spec.type,
        queue: each.queue,
        input: z.object({ url: z.string() }),
        run: () => {},
      })
      await using _ = each.pawl.work([job])
      await each.until(id, 'dead_lettered')
      expect(await each.view(id)).toMatchObject({ reason_code: 'validation_failed', attempts: 1 })
      expect((await each.events(id)).map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'dead_lettered'])
    })

    it('000A:45 a compensation that fails: compensation_failed; one that does not: job_compensated', async () => {
      const each = actor({ retry: { attempts: 1 } })
      const job = implementJob(each.spec, async (input, ctx) => {
        const compensate = () => {
          if ((input as { works: boolean }).works === false) throw new Error('it cannot be undone')
        }
        await ctx.step('charge', () => 1, { compensate })
        throw new ValidationError('no')
      })
      await using _ = each.pawl.work([job])
      const bad = await each.enqueue({}, { works: false })
      const good = await each.enqueue({}, { works: true })
      await each.until(bad.id, 'dead_lettered')
      await each.until(good.id, 'dead_lettered')
      expect(await each.view(bad.id)).toMatchObject({ reason_code: 'compensation_failed' })
      expect(await each.view(good.id)).toMatchObject({ reason_code: 'validation_failed' })
      expect((await each.log(good.id)).map(({ type }) => type)).toContain('job_compensated')
      expect(deriveDialect('000A', await each.log(good.id)).violations).toEqual([])
    })

    it('000A:46 a letter has all required fields; null where nothing ever ran', async () => {
      const each = actor()
      const { job } = await each.running({ correlationId: 'order-7' })
      await each.must(job.id, { type: 'deadLetter', reason: 'timeout', stage: 'exec', message: 'too late' })
      expect(await each.view(job.id)).toMatchObject({
        reason_code: 'timeout',
        last_error: 'too late',
        attempts: 1,
        last_owner: 'w1',
        last_lease_expires_at: new Date(job.lease?.expiresAt ?? 0).toISOString(),
        correlation_id: 'order-7',
      })
      const never = await each.enqueue()
      await each.must(never.id, { type: 'deadLetter', reason: 'parse_error', stage: 'input' })
      const empty = { attempts: 0, last_owner: null, last_lease_expires_at: null }
      expect(await each.view(never.id)).toMatchObject({
        ...empty,
        reason_code: 'parse_error',
        last_error: expect.any(String),
      })
    })
  })

  describe('events', () => {
    it('000A:49 each event has its type', async () => {
      const each = actor()
      const types = async (state: keyof typeof STATES) =>
        (await each.log(await STATES[state](each))).map(({ type }) => type)
      const begun = ['job_claimed', 'job_started', 'job_heartbeat', 'job_lease_renewed']
      expect(await types('succeeded')).toEqual([...begun, 'job_succeeded'])
      expect(await types('failed')).toEqual([...begun, 'job_failed'])
      expect(await types('cancelled')).toEqual([...begun, 'job_cancelled'])
      expect(await types('dead_lettered')).toEqual(['job_dead_lettered'])
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'heartbeat', fence })
      expect((await each.log(job.id)).slice(begun.length).map(({ type }) => type)).toEqual([
        'job_heartbeat',
        'job_lease_renewed',
      ])
    })

    it('000A:50 the minimal schema, nothing missing, and nothing else but where it stands in the log', async () => {
      const each = actor()
      const entries = await each.log(await STATES.failed(each))
      for (const entry of entries) {
        const several = entry['moves'] === undefined ? [] : ['move', 'moves']
        expect(Object.keys(entry).sort()).toEqual(['after_rev', 'rev', ...several, ...SCHEMA].sort())
        expect(entry).toMatchObject({ version: 1, actor: expect.any(String), correlation_id: expect.any(String) })
      }
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
    })

    it('000A:51 events are found by job, by type and time, by correlation', async () => {
      const each = actor()
      const correlationId = fresh('correlation')
      const { job, fence } = await each.running({ correlationId })
      await each.must(job.id, { type: 'complete', fence })
      const events = await each.events(job.id)
      const to = (events.at(-1)?.at ?? 0) + 1
      const { pawl } = each
      const byType = await pawl.events({ by: 'type', types: ['succeeded'], from: events[0]?.at ?? 0, to, limit: 500 })
      expect(byType.events.filter(({ jobId }) => jobId === job.id)).toEqual(events.slice(-1))
      const byCorrelation = await pawl.events({ by: 'correlation', correlationId, limit: 500 })
      expect(byCorrelation.events).toEqual(events)
      expect(events.map(({ at }) => at)).toEqual(events.map(({ at }) => at).sort((a, b) => a - b))
    })

    it('000A:51 verbose events do not last: a compacted log keeps its transitions and folds to the same job', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      for (let n = 1; n <= LONG_LOG; n += 1)
        await each.must(job.id, { type: 'progress', fence, counters: { pages: 1 } })
      await each.must(job.id, { type: 'complete', fence })
      const before = await each.events(job.id)
      await stage().another({ retention: { everyMs: 500, compact: true } })
      // The last moments are left alone, so that no log is shortened earlier, however quick the machine.
      const isShortened = async () => {
        const events = await each.events(job.id)
        return events.some(({ type }) => type === 'compacted') && events
      }
      const after = await eventually('the log to be shortened', isShortened, { withinMs: 3 * SETTLED_MS, everyMs: 200 })
      const moves = (events: typeof before) => events.filter(({ seq }) => seq !== undefined)
      expect(moves(after)).toEqual(moves(before))
      expect(after.length).toBeLessThan(before.length)
      expect((await each.job(job.id)).counters).toEqual({ pages: LONG_LOG })
      expect((await each.pawl.verify({ queues: [each.queue] })).discrepancies).toEqual([])
    })
  })

  describe('concurrency', () => {
    it('000A:54 a claim returned once is returned again to whoever repeats it', async () => {
      const each = actor()
      await each.enqueue()
      const requestId = fresh('claim')
      const first = await each.claim('w1', requestId)
      const again = await each.claim('w1', requestId)
      expect(again?.fence).toBe(first?.fence)
      expect(again?.job).toEqual(first?.job)
      expect((await each.job(first?.job.id ?? '')).attempt).toBe(1)
    })

    it('000A:54 only what is queued is claimed', async () => {
      const each = actor()
      for (const state of ['assigned', 'running', ...ENDED] as const) await STATES[state](each)
      expect(await each.claim()).toBeUndefined()
    })

    it('000A:55 64 concurrent claimers of one job: one has it', async () => {
      const each = actor()
      const claims = await claimers(stage(), each, 1)
      expect(claims).toHaveLength(1)
    })

    it('000A:55 000A:63 64 concurrent claimers of 200 jobs: zero double claims', async () => {
      const each = actor()
      const claims = await claimers(stage(), each, 200)
      expect(claims).toHaveLength(200)
      expect(new Set(claims.map(({ id }) => id)).size).toBe(200)
      expect(new Set(claims.map(({ fence }) => fence)).size).toBe(200)
      for (const { id } of claims) expect((await each.job(id)).attempt).toBe(1)
    })
  })

  describe('observability', () => {
    it('000A:58 metrics: claims, renewals, expiries, retries, failures, dead letters, durations per type', async () => {
      const { measured } = stage()
      const since = measured.length
      const each = actor({ retry: { attempts: 3, ...SOON } }, { leaseMs: 1_000, heartbeatMs: 400 })
      const { id } = await each.enqueue()
      await each.claimed()
      await eventually('the lease to be lost', async () => (await each.job(id)).lease === undefined)
      const { fence } = await each.begin(await each.claimed())
      await each.pawl.engine.heartbeat([{ id, fence, requestId: fresh('beat') }])
      await each.must(id, { type: 'fail', fence, fault: fault('network_error'), executionMs: 5 })
      const last = await each.begin(await each.claimed())
      await each.must(id, { type: 'fail', fence: last.fence, fault: fault('network_error'), executionMs: 7 })
      const { type } = each.spec
      const sum = (name: keyof typeof METRICS, labels: object) =>
        measured
          .slice(since)
          .filter((each) => each.name === name && Object.entries(labels).every(([k, v]) => each.labels[k] === v))
          .reduce((total, { value }) => total + value, 0)
      expect(sum('pawl_claims_total', { type })).toBe(3)
      expect(sum('pawl_lease_expiries_total', { type })).toBe(1)
      expect(sum('pawl_retry_attempts_total', { type })).toBe(1)
      expect(sum('pawl_lease_renewals_total', {})).toBe(1)
      expect(sum('pawl_job_failures_total', { code: 'network_error' })).toBe(2)
      expect(sum('pawl_dead_letters_total', { reason: 'exhausted_retries' })).toBe(1)
      expect(sum('pawl_job_duration_seconds', { type })).toBeCloseTo(0.012)
      expect(METRICS.pawl_job_duration_seconds.kind).toBe('histogram')
    })

    it('000A:58 claim_conflicts: who gets nothing because others hold what is due is counted', async () => {
      const { measured, another, store } = stage()
      const each = actor()
      const rival = await another()
      const conflicts = () => measured.filter(({ name }) => name === 'pawl_claim_conflicts_total').length
      const since = conflicts()
      const race = async () => {
        await each.enqueue()
        const claims = Array.from({ length: 64 }, (_, n) =>
          each.claim(`w${n}`, fresh('claim'), n % 2 === 0 ? each.pawl : rival),
        )
        expect((await Promise.all(claims)).filter((found) => found !== undefined)).toHaveLength(1)
        return conflicts() > since
      }
      if (store === 'Postgres') await eventually('two claimers to meet at one job', race)
      // One file has one writer: its claimers take turns, and none of them is in another's way.
      else expect(await race()).toBe(false)
    })

    it('000A:59 trace_id and correlation_id go from the producer to the handler, and onto every event', async () => {
      const each = actor()
      const trace = '0af7651916cd43dd8448eb211c80319c'
      const ids = { correlationId: fresh('correlation'), traceparent: `00-${trace}-b7ad6b7169203331-01` }
      const seen: object[] = []
      const job = implementJob(each.spec, (_, { job }) => {
        seen.push({ correlationId: job.spec.correlationId, traceparent: job.spec.traceparent })
      })
      await using _ = each.pawl.work([job])
      const { id } = await each.enqueue(ids)
      await each.until(id, 'succeeded')
      expect(seen).toEqual([ids])
      const events = await each.events(id)
      expect(events.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'heartbeat', 'succeeded'])
      for (const event of events) expect(event).toMatchObject(ids)
      // An idle worker may be told of its claim before the producer is told of the commit that made it.
      const traced = stage().traced.filter(({ jobId }) => jobId === id)
      expect(traced.toSorted((a, b) => a.rev - b.rev)).toEqual(events.filter(({ seq }) => seq !== undefined))
      expect(await each.view(id)).toMatchObject({ trace_id: trace, correlation_id: ids.correlationId })
    })
  })

  describe('compliance checklist', () => {
    it('000A:62 000A:63 no backward transitions under chaos; expired leases requeue, and everything ends', async () => {
      const each = actor({ retry: { attempts: 6, ...SOON } }, { leaseMs: 250, heartbeatMs: 100 })
      const { histories, requeued } = await chaos(each, { jobs: 60, workers: 8, seed: 11 })
      expect(histories).toHaveLength(60)
      expect(requeued).toBeGreaterThan(0)
      for (const { job, events } of histories) {
        expect(job.endedAt).toBeDefined()
        expect(disorder(events)).toEqual([])
      }
      for (const { job } of histories) expect(deriveDialect('000A', await each.log(job.id)).violations).toEqual([])
      expect((await each.pawl.verify({ queues: [each.queue] })).discrepancies).toEqual([])
    })

    it('000A:64 exactly one event per transition; counts match transitions for 1,000 jobs', async () => {
      const { measured } = stage()
      const since = measured.length
      const each = actor()
      let ran = 0
      const job = implementJob(each.spec, () => {
        ran += 1
      })
      const correlationId = fresh('load')
      await each.pawl.enqueueMany(
        each.spec,
        Array.from({ length: 1_000 }, (_, n) => n),
        { correlationId },
      )
      await using _ = each.pawl.work([job], { concurrency: 32 })
      const done = async () =>
        (await each.pawl.find({ queues: [each.queue], states: ['succeeded'], limit: 1_000 })).jobs
      const jobs = await eventually('1,000 jobs', async () => {
        const ended = await done()
        return ended.length === 1_000 && ended
      })
      expect(ran).toBe(1_000)
      const types = new Map<string, number>()
      const seqs = new Map<string, number[]>()
      let cursor: string | undefined
      do {
        const page = await each.pawl.events({ by: 'correlation', correlationId, limit: 1_000, cursor })
        for (const { type, jobId, seq } of page.events) {
          types.set(type, (types.get(type) ?? 0) + 1)
          if (seq !== undefined) seqs.set(jobId, [...(seqs.get(jobId) ?? []), seq])
        }
        cursor = page.cursor
      } while (cursor !== undefined)
      // A worker hands back what it holds and will not start soon: each time one more claim.
      const back = types.get('released') ?? 0
      types.delete('released')
      // Each start is a heartbeat: no transition.
      expect(types.get('heartbeat')).toBe(1_000)
      types.delete('heartbeat')
      const claims = 1_000 + back
      expect(Object.fromEntries(types)).toEqual({ enqueued: 1_000, claimed: claims, started: 1_000, succeeded: 1_000 })
      const upTo = (seq: number) => Array.from({ length: seq }, (_, i) => i + 1)
      for (const { id, seq } of jobs) expect(seqs.get(id)?.toSorted((a, b) => a - b)).toEqual(upTo(seq))
      expect(jobs.reduce((sum, { seq }) => sum + seq, 0)).toBe(3_000 + claims + back)
      const counted = (from: string, to: string) =>
        measured
          .slice(since)
          .filter(
            ({ name, labels }) => name === 'pawl_transitions_total' && labels['from'] === from && labels['to'] === to,
          )
          .reduce((total, { value }) => total + value, 0)
      expect([counted('none', 'queued'), counted('queued', 'claimed')]).toEqual([1_000, claims])
      expect([counted('claimed', 'running'), counted('running', 'succeeded')]).toEqual([1_000, 1_000])
    })
  })
})

describe('000 part A in memory and virtual time: what takes too long to wait for', () => {
  const patient = (policy: object, ran: number[] = []) =>
    defineJob({
      ...strict,
      ...policy,
      type: 'patient',
      run: (_, ctx) => {
        ran.push(ctx.attempt)
        return new Promise<void>(() => {})
      },
    })

  it('000A:32 a lease is renewed at half of what remains of it (40 s: after 20 s)', async () => {
    const job = patient({ lease: '40s', heartbeat: '30s', missedHeartbeats: 3, timeout: '1h' })
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.waitForState(id, 'running')
    const beats = async () => (await testing.pawl.get(id))?.lease?.beats
    await testing.advance('18s')
    // The start was the first.
    expect(await beats()).toBe(1)
    await testing.advance('3s')
    expect(await beats()).toBe(2)
    await testing.advance('2m')
    expect((await testing.pawl.get(id))?.state).toBe('running')
  })

  it('000A:33 a lease of 120 s, a heartbeat every 10 s: two missed ones orphan the job', async () => {
    const ran: number[] = []
    const job = patient({ lease: '120s', heartbeat: '10s', timeout: '1h' }, ran)
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.waitForState(id, 'running')
    await testing.crashWorker()
    await testing.advance('19s')
    expect(ran).toEqual([1])
    await testing.advance('3s')
    expect(ran).toEqual([1, 2])
    expect((await testing.pawl.get(id))?.stalls).toBe(1)
  })

  it('000A:34 a strict lease of 30 s that nobody renews: queued again, and run by another worker', async () => {
    const ran: number[] = []
    const job = patient({ lease: '30s', heartbeat: '29s' }, ran)
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.waitForState(id, 'running')
    await testing.crashWorker()
    await testing.advance('28s')
    expect(ran).toEqual([1])
    await testing.advance('2s')
    expect(ran).toEqual([1, 2])
  })
})

/** Who has claimed what, from four engines, 16 claimers in each, until nobody finds anything. */
async function claimers(stage: Stage, actor: Actor, jobs: number): Promise<readonly { id: string; fence: string }[]> {
  await actor.pawl.enqueueMany(
    actor.spec,
    Array.from({ length: jobs }, (_, n) => n),
  )
  const pawls = [actor.pawl, ...(await Promise.all([1, 2, 3].map(() => stage.another())))]
  const claimer = async (n: number) => {
    const mine: { id: string; fence: string }[] = []
    for (;;) {
      const found = await actor.claim(`w${n}`, fresh('claim'), pawls[n % pawls.length])
      if (found === undefined) return mine
      mine.push({ id: found.job.id, fence: found.fence })
    }
  }
  return (await Promise.all(Array.from({ length: 64 }, (_, n) => claimer(n)))).flat()
}
