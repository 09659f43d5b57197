/** Document 000, part B, the minimal lifecycle: every statement, by its line. */
import { describe, expect, it } from 'vitest'
import { bodyRef } from '../../src/core/body.ts'
import { deriveDialect } from '../../src/core/dialects/derive.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import { STAGES } from '../../src/core/job.ts'
import { retryDelayMs } from '../../src/core/retry.ts'
import {
  LeaseConflictError,
  PermanentError,
  type ThrownOptions,
  TransientError,
  ValidationError,
} from '../../src/core/thrown.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { defineJob, implementJob } from '../../src/library/define-job.ts'
import { eventually } from '../support/eventually.ts'
import { Actor, fault, fresh } from './actor.ts'
import { disorder } from './order.ts'
import { onStores } from './stage.ts'

const strict = { dialect: '000B' } as const
/** Strict leases last 30 s at least: these are the document's in everything but length. */
const SHORT = { leaseMs: 300, heartbeatMs: 100 }
const SOON = { base: 1, max: 1 } as const

const LIVE = {
  async queued(actor: Actor) {
    return (await actor.enqueue()).id
  },
  async assigned(actor: Actor) {
    return (await actor.assigned()).job.id
  },
  async running(actor: Actor) {
    return (await actor.running()).job.id
  },
} as const

const ENDED = {
  async succeeded(actor: Actor) {
    const { job, fence } = await actor.running()
    await actor.must(job.id, { type: 'complete', fence })
    return job.id
  },
  async failed(actor: Actor) {
    const { job, fence } = await actor.running()
    await actor.must(job.id, { type: 'fail', fence, fault: fault('bad_request') })
    return job.id
  },
  async cancelled(actor: Actor) {
    const { id } = await actor.enqueue()
    await actor.must(id, { type: 'cancel', mode: 'hard' })
    return id
  },
} as const

const STATES = { ...LIVE, ...ENDED }

onStores('000 part B', {}, (stage) => {
  const actor = (policy: object = {}, shortened: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)

  describe('states and transitions', () => {
    it.each([
      ['000B:89', 'queued'],
      ['000B:90', 'assigned'],
      ['000B:91', 'running'],
      ['000B:92', 'succeeded'],
      ['000B:93', 'failed'],
      ['000B:94', 'cancelled'],
    ] as const)('%s %s is what its job shows', async (_, state) => {
      const each = actor()
      const id = await STATES[state](each)
      expect(await each.view(id)).toMatchObject({ job_id: id, state })
    })

    it('000B:90 an assigned job has a lease and has executed nothing', async () => {
      const each = actor()
      const { job } = await each.assigned()
      expect(job).toMatchObject({ lease: { expiresAt: expect.any(Number) }, startedAt: undefined, executionMs: 0 })
    })

    it('000B:92 success and its result are one write: refused, it leaves nothing behind', async () => {
      const each = actor()
      const { job, fence } = await each.running()
      const text = '{"pages":3}'
      const result = bodyRef('output', text)
      const bodies = [{ name: 'output', text }]
      const late = await each.say(job.id, { type: 'complete', fence: `${fence}0`, result }, bodies)
      expect(late).toMatchObject({ ok: false, refusal: { code: 'STALE_FENCE' } })
      expect(await each.pawl.body(job.id, 'output')).toBeUndefined()
      await each.must(job.id, { type: 'complete', fence, result }, bodies)
      expect(await each.view(job.id)).toMatchObject({ state: 'succeeded' })
      expect(await each.pawl.result(job.id)).toEqual({ pages: 3 })
    })

    it('000B:93 what failed for good is among the dead letters, whatever its state is called', async () => {
      const each = actor({ retry: { attempts: 2, ...SOON } })
      const { id } = await each.enqueue()
      for (const _ of [1, 2]) {
        const { fence } = await each.begin(await each.claimed())
        await each.must(id, { type: 'fail', fence, fault: fault('network_error', { stage: 'fetch' }) })
      }
      expect(await each.view(id)).toMatchObject({ state: 'failed', stage: 'fetch', reason: 'network_error' })
      const engine = each.pawl.engine
      await using gateway = await startGateway({ engine, port: 0, auth: false, tenant: 'default' })
      const listed = async (query: string) => {
        const response = await fetch(`${gateway.url}/v1/dead-letters?limit=500${query}`)
        const { jobs } = (await response.json()) as { readonly jobs: readonly { id?: string; job_id?: string }[] }
        return jobs.some((job) => job.job_id === id || job.id === id)
      }
      expect(await listed('&dialect=000B')).toBe(true)
      expect(await listed('&dialect=000B&failed=false')).toBe(false)
      expect(await listed('')).toBe(false)
    })

    it.each([
      ['000B:97', 'queued', 'assigned'],
      ['000B:98', 'assigned', 'running'],
      ['000B:99', 'running', 'succeeded'],
      ['000B:100', 'running', 'failed'],
    ] as const)('%s %s → %s', async (_, from, to) => {
      const each = actor()
      const id = await STATES[to](each)
      const path = ['queued', ...(await each.log(id)).map(({ state }) => state)].slice(-2)
      expect(path).toEqual([from, to])
    })

    it.each(['queued', 'assigned', 'running'] as const)('000B:101 %s → cancelled', async (state) => {
      const each = actor()
      const id = await LIVE[state](each)
      await each.must(id, { type: 'cancel', mode: 'hard', reason: 'policy' })
      expect(await each.view(id)).toMatchObject({ state: 'cancelled' })
      expect(deriveDialect('000B', await each.log(id))).toMatchObject({ status: 'cancelled', violations: [] })
    })

    it('000B:98 pre-execution checks that fail keep the user code from running', async () => {
      const each = actor()
      const { id } = await each.enqueue({}, 'seven')
      let ran = false
      const number = {
        '~standard': {
          version: 1,
          vendor: 'test',
          validate: (value: unknown) =>
            typeof value === 'number' ? { value } : { issues: [{ message: 'must be a number' }] },
        },
      } as const
      const job = defineJob({
        ...strict,
        type: each.spec.type,
        queue: each.queue,
        input: number,
        run: () => {
          ran = true
        },
      })
      await using _ = each.pawl.work([job])
      await eventually('it to end', async () => (await each.job(id)).endedAt !== undefined)
      expect(ran).toBe(false)
      expect(await each.view(id)).toMatchObject({ state: 'failed', stage: 'input', reason: 'validation_failed' })
    })

    it('000B:96 its transitions are the table that bound jobs are judged by', () => {
      const edges = DIALECTS['000B'].table.filter(({ settled }) => settled === undefined)
      expect(edges.map(({ from, to }) => `${from} → ${to}`).sort()).toEqual(
        [
          ...['none → queued', 'queued → assigned', 'assigned → running', 'running → succeeded', 'running → failed'],
          ...['queued → cancelled', 'assigned → cancelled', 'running → cancelled'],
        ].sort(),
      )
    })
  })

  describe('invariants', () => {
    it('000B:104 at most one active lease at a time', async () => {
      const each = actor()
      const { job } = await each.running()
      expect(await each.claim('w2')).toBeUndefined()
      expect((await each.events(job.id)).filter(({ type }) => type === 'claimed')).toHaveLength(1)
    })

    it.each(Object.keys(ENDED) as (keyof typeof ENDED)[])('000B:105 no way leads from %s to running', async (state) => {
      const each = actor()
      const id = await ENDED[state](each)
      const fence = (await each.job(id)).lastClaim?.fence ?? '0.1.0000000000000000'
      await each.refused(id, { type: 'start', fence }, 'ENDED', 'STALE_FENCE')
      await each.refused(id, { type: 'reopen' }, 'DIALECT_FORBIDS')
      expect(await each.claim()).toBeUndefined()
    })

    it('000B:105 transitions are append-only: what was written stays as it was', async () => {
      const each = actor()
      const { job, fence } = await each.assigned()
      const before = await each.events(job.id)
      await each.must(job.id, { type: 'start', fence })
      await each.must(job.id, { type: 'complete', fence })
      const after = await each.events(job.id)
      expect(after.slice(0, before.length)).toEqual(before)
      expect(disorder(after)).toEqual([])
    })

    it('000B:106 idempotency keys: one job, one assignment, one execution', async () => {
      const each = actor()
      const runs: string[] = []
      const job = implementJob(each.spec, (_, ctx) => void runs.push(ctx.job.id))
      const idempotencyKey = fresh('key')
      const handles = await Promise.all(
        Array.from({ length: 10 }, () => each.pawl.enqueue(each.spec, { n: 1 }, { idempotencyKey })),
      )
      expect(new Set(handles.map(({ id }) => id)).size).toBe(1)
      await using _ = each.pawl.work([job])
      const id = handles[0]?.id ?? ''
      await each.until(id, 'succeeded')
      const late = await each.pawl.enqueue(each.spec, { n: 1 }, { idempotencyKey })
      expect(late).toMatchObject({ id, replayed: true })
      expect(runs).toEqual([id])
    })

    it('000B:107 each transition records timestamp, actor, reason, correlation_id', async () => {
      const each = actor()
      const correlationId = fresh('correlation')
      const { job, fence } = await each.running({ correlationId })
      await each.must(job.id, { type: 'fail', fence, fault: fault('bad_request') })
      const entries = await each.log(job.id)
      expect(entries.map(({ state }) => state)).toEqual(['queued', 'assigned', 'running', 'failed'])
      for (const entry of entries) {
        expect(entry).toMatchObject({
          timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
          actor: expect.stringMatching(/./),
          reason: expect.stringMatching(/./),
          correlation_id: correlationId,
        })
      }
    })
  })

  describe('leases', () => {
    it('000B:110 without renewal a lease must outlast the processing time; else it is renewed at 50 %', () => {
      const define = (policy: object) => defineJob({ ...strict, ...policy, type: 't', run: () => {} }).policy
      expect(() => define({ heartbeat: false, timeout: '60s', lease: '59s' })).toThrow(/must outlast the attempt/)
      expect(define({ heartbeat: false, timeout: '60s', lease: '90s' }).leaseMs).toBe(90_000)
      expect(define({ lease: '60s' }).heartbeatMs).toBeLessThanOrEqual(30_000)
    })

    it('000B:110 a worker renews the lease of what it runs, for as long as it runs (lease shortened)', async () => {
      const each = actor({}, { leaseMs: 1_000, heartbeatMs: 300 })
      let let_go = () => {}
      const gate = new Promise<void>((resolve) => {
        let_go = resolve
      })
      await using _ = each.pawl.work([implementJob(each.spec, () => gate)])
      const { id } = await each.enqueue()
      const first = (await each.until(id, 'running')).lease?.expiresAt ?? 0
      await eventually('the lease to outlive itself', async () => {
        const { lease } = await each.job(id)
        return lease !== undefined && lease.expiresAt > first + 1_000
      })
      let_go()
      await each.until(id, 'succeeded')
      expect((await each.job(id)).attempt).toBe(1)
      expect(await each.view(id)).toMatchObject({ lease_ttl_sec: 1 })
    })

    it('000B:111 another worker claims after expiry, and only its effects count (lease shortened)', async () => {
      const each = actor({}, SHORT)
      const first = await each.assigned()
      const { id } = first.job
      const second = await each.claimed('w2')
      expect(second.job).toMatchObject({ id, attempt: 2 })
      await each.refused(id, { type: 'complete', fence: first.fence }, 'STALE_FENCE')
      const { annotations } = await each.pawl.events({ by: 'annotation', id })
      expect(annotations).toMatchObject([{ command: 'complete', attempt: 1 }])
      await each.must(id, { type: 'complete', fence: second.fence })
      expect(await each.view(id)).toMatchObject({ state: 'succeeded', attempts: 2 })
      expect(deriveDialect('000B', await each.log(id))).toMatchObject({ status: 'succeeded', violations: [] })
    })
  })

  describe('retries and dead letters', () => {
    it('000B:114 exponential backoff with jitter: 500 ms, ×2, at most 60 s', async () => {
      const each = actor({ retry: { attempts: 20 } })
      const { retry } = each.spec.policy
      expect(retry).toEqual({ baseMs: 500, factor: 2, maxMs: 60_000, jitter: 'full' })
      for (let n = 1; n <= 12; n += 1) {
        const delays = Array.from({ length: 50 }, (_, i) => retryDelayMs(retry, n, `seed ${i}`))
        expect(Math.max(...delays)).toBeLessThanOrEqual(Math.min(60_000, 500 * 2 ** (n - 1)))
        expect(new Set(delays).size).toBeGreaterThan(10)
      }
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
      const { runAt = 0, updatedAt, state } = await each.job(job.id)
      expect(state).toBe('retrying')
      expect(runAt - updatedAt).toBeLessThanOrEqual(500)
    })

    it.each(STAGES)('000B:115 the stage %s of a failure is captured, with its reason', async (at) => {
      const each = actor({ retry: { attempts: 1 } })
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error', { stage: at }) })
      expect(await each.view(job.id)).toMatchObject({ state: 'failed', stage: at, reason: 'network_error' })
    })
  })

  describe('observability', () => {
    it('000B:118 transitions and lease renewals are counted as they happen', async () => {
      const { measured } = stage()
      const since = measured.length
      const each = actor()
      const { job, fence } = await each.running()
      await each.pawl.engine.heartbeat([{ id: job.id, fence, requestId: fresh('beat') }])
      await each.must(job.id, { type: 'complete', fence, executionMs: 3 })
      const told = measured.slice(since)
      const moves = told.filter(({ name }) => name === 'pawl_transitions_total').map(({ labels }) => labels)
      expect(moves).toEqual([
        { from: 'none', to: 'queued' },
        { from: 'queued', to: 'claimed' },
        { from: 'claimed', to: 'running' },
        { from: 'running', to: 'succeeded' },
      ])
      expect(told.filter(({ name }) => name === 'pawl_lease_renewals_total')).toHaveLength(1)
      expect(told.filter(({ name }) => name === 'pawl_job_duration_seconds')).toHaveLength(1)
      expect(told.filter(({ name }) => name === 'pawl_queue_wait_seconds')).toHaveLength(1)
    })

    it('000B:119 trace_id and correlation_id are on every event of a job, retries and expiries included', async () => {
      const each = actor({ retry: { attempts: 4, ...SOON } }, { leaseMs: 1_000, heartbeatMs: 400 })
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
      const ids = { correlationId: fresh('correlation'), traceparent: `00-${trace}-00f067aa0ba902b7-01` }
      const { id } = await each.enqueue(ids)
      await each.claimed()
      const second = await each.begin(await each.claimed())
      await each.must(id, { type: 'fail', fence: second.fence, fault: fault('network_error') })
      const third = await each.begin(await each.claimed())
      await each.must(id, { type: 'heartbeat', fence: third.fence })
      await each.must(id, { type: 'complete', fence: third.fence })
      const events = await each.events(id)
      expect(events.map(({ type }) => type)).toEqual([
        ...['enqueued', 'claimed', 'stalled', 'requeued', 'claimed', 'started', 'retry_scheduled'],
        ...['claimed', 'started', 'heartbeat', 'succeeded'],
      ])
      for (const event of events) expect(event).toMatchObject(ids)
      for (const entry of await each.log(id))
        expect(entry).toMatchObject({ trace_id: trace, correlation_id: ids.correlationId })
    })
  })

  describe('errors and versions', () => {
    it.each([
      ['ValidationError', ValidationError, 'failed', 1],
      ['TransientError', TransientError, 'failed', 3],
      ['PermanentError', PermanentError, 'failed', 1],
    ] as const)(
      '000B:122 %s',
      async (_, Thrown: new (message: string, options?: ThrownOptions) => Error, state, runs) => {
        const each = actor({ retry: { attempts: 3, ...SOON } })
        let ran = 0
        const job = implementJob(each.spec, () => {
          ran += 1
          throw new Thrown('no')
        })
        await using _worker = each.pawl.work([job], { poll: 20 })
        const { id } = await each.enqueue()
        await each.until(id, state)
        expect(ran).toBe(runs)
      },
    )

    it('000B:122 LeaseConflictError is what a fenced-out handler gets', async () => {
      const each = actor({}, { heartbeatMs: 1_000, missedHeartbeats: 20 })
      let reason: unknown
      const job = implementJob(each.spec, async (_, ctx) => {
        await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
        reason = ctx.signal.reason
        await ctx.checkpoint({ late: true })
      })
      await using _worker = each.pawl.work([job])
      const { id } = await each.enqueue()
      await each.until(id, 'running')
      await each.pawl.cancel(id, { mode: 'hard' })
      await eventually('the handler to be told', () => reason !== undefined)
      expect(reason).toBeInstanceOf(LeaseConflictError)
      expect(await each.pawl.body(id, 'checkpoint')).toBeUndefined()
    })

    it('000B:125 this is version 1, and says so; readers ignore what they do not know', async () => {
      const each = actor()
      const id = await ENDED.succeeded(each)
      for (const event of await each.events(id)) expect(event.version).toBe(1)
      expect(each.pawl.machine.version).toBe(1)
      const grown = (await each.log(id)).map((entry) => ({ ...entry, colour: 'green' }))
      expect(deriveDialect('000B', grown)).toMatchObject({ status: 'succeeded', violations: [] })
    })
  })
})
