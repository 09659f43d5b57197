/** Document 002, gateway, scheduler, safety kernel: what of it a job engine can keep, by its line. */
import { describe, expect, it } from 'vitest'
import { bodyRef } from '../../src/core/body.ts'
import { deriveDialect } from '../../src/core/dialects/derive.ts'
import { DIALECTS } from '../../src/core/dialects/registry.ts'
import type { Job } from '../../src/core/job.ts'
import { startGateway } from '../../src/gateway/serve.ts'
import { implementJob } from '../../src/library/define-job.ts'
import { Refused } from '../../src/library/errors.ts'
import { eventually } from '../support/eventually.ts'
import { Actor, fault, fresh } from './actor.ts'
import { onStores } from './stage.ts'

const strict = { dialect: '002' } as const
const SHORT = { leaseMs: 300, heartbeatMs: 100 }
const SOON = { base: 1, max: 1 } as const
const PASS = { rule: 'allow-all', policyHash: 'p1' } as const

const ENDED = ['SUCCEEDED', 'FAILED', 'CANCELLED', 'DENIED', 'TIMEOUT'] as const

onStores('002', {}, (stage) => {
  const actor = (policy: object = {}, shortened: object = {}) => new Actor(stage(), { ...strict, ...policy }, shortened)

  /** Jobs brought into each state, by whoever performs the transition in the document. */
  const STATES: Readonly<Record<string, () => Promise<{ actor: Actor; id: string; fence: string }>>> = {
    async PENDING() {
      const each = actor()
      return { actor: each, id: (await each.enqueue()).id, fence: NOBODY }
    },
    async SCHEDULED() {
      const each = actor()
      const { id } = await each.scheduled()
      return { actor: each, id, fence: NOBODY }
    },
    async DISPATCHED() {
      const each = actor()
      const { job, fence } = await each.assigned()
      return { actor: each, id: job.id, fence }
    },
    async RUNNING() {
      const each = actor()
      const { job, fence } = await each.running()
      return { actor: each, id: job.id, fence }
    },
    async SUCCEEDED() {
      const run = await at('RUNNING')
      await run.actor.must(run.id, { type: 'complete', fence: run.fence, resultPtr: 'mem://out/1', executionMs: 12 })
      return run
    },
    async FAILED() {
      const run = await at('RUNNING')
      await run.actor.must(run.id, { type: 'fail', fence: run.fence, fault: fault('bad_request'), executionMs: 5 })
      return run
    },
    async CANCELLED() {
      const run = await at('RUNNING')
      await run.actor.must(run.id, { type: 'cancel', mode: 'hard' })
      return run
    },
    async DENIED() {
      const run = await at('PENDING')
      await run.actor.must(run.id, { type: 'deny', rule: 'no-exfiltration', policyHash: 'p1', reason: 'unsafe' })
      return run
    },
    async TIMEOUT() {
      const each = actor({}, SHORT)
      const { job, fence } = await each.assigned()
      await each.until(job.id, 'timed_out')
      return { actor: each, id: job.id, fence }
    },
  }
  const at = async (state: string) => {
    const make = STATES[state]
    if (make === undefined) throw new Error(state)
    return make()
  }
  const stateOf = async (run: { actor: Actor; id: string }) => (await run.actor.view(run.id))['state']

  describe('JobRequest', () => {
    it('002:4 job_id is globally unique and immutable: the same request is the same job, another is refused', async () => {
      const each = actor()
      const id = fresh('my-own-id')
      const first = await each.pawl.enqueue(each.spec, { n: 1 }, { id })
      expect((await each.pawl.enqueue(each.spec, { n: 1 }, { id })).id).toBe(first.id)
      await expect(each.pawl.enqueue(each.spec, { n: 2 }, { id })).rejects.toMatchObject({ code: 'ID_TAKEN' })
      expect((await each.pawl.get(id))?.id).toBe(first.id)
      expect((await each.pawl.enqueue(each.spec, { n: 1 })).id).not.toBe(first.id)
    })

    it('002:5 002:7–10 topic, context_ptr, adapter_id, env and lineage are kept as given', async () => {
      const each = actor()
      const parent = await each.enqueue()
      const { id } = await each.enqueue({
        topic: 'job.chat.simple',
        contextPtr: 'mem://never/fetched',
        adapterId: 'llama',
        env: { tenant: 'acme', locale: 'zh-CN', sandbox: 'true' },
        parentId: parent.id,
        workflowId: 'flow-1',
        stepIndex: 3,
      })
      expect((await each.view(id))['JobRequest']).toMatchObject({
        job_id: id,
        topic: 'job.chat.simple',
        context_ptr: 'mem://never/fetched',
        adapter_id: 'llama',
        env: { tenant: 'acme', locale: 'zh-CN', sandbox: 'true' },
        parent_job_id: parent.id,
        workflow_id: 'flow-1',
        step_index: 3,
      })
    })

    it('002:6 priority orders scheduling: critical before interactive before batch', async () => {
      const each = actor()
      const ids = new Map<string, string>()
      for (const priority of ['batch', 'interactive', 'critical'] as const) {
        const { id } = await each.scheduled({ priority })
        ids.set(id, priority)
        expect((await each.view(id))['JobRequest']).toMatchObject({ priority })
      }
      const order: (string | undefined)[] = []
      for (const _ of ids) order.push(ids.get((await each.claimed()).job.id))
      expect(order).toEqual(['critical', 'interactive', 'batch'])
    })
  })

  describe('JobResult', () => {
    it('002:13 002:15–17 a success: job_id, result_ptr, worker_id, execution_ms', async () => {
      const run = await at('SUCCEEDED')
      expect((await run.actor.view(run.id))['JobResult']).toEqual({
        job_id: run.id,
        status: 'SUCCEEDED',
        result_ptr: 'mem://out/1',
        worker_id: 'w1',
        execution_ms: 12,
      })
    })

    it('002:15 result_ptr of a value that pawl keeps is a URI, of none there is none', async () => {
      const run = await at('RUNNING')
      const text = '{"chunks":3}'
      const words = { type: 'complete', fence: run.fence, result: bodyRef('output', text) } as const
      await run.actor.must(run.id, words, [{ name: 'output', text }])
      const { result_ptr } = (await run.actor.view(run.id))['JobResult'] as Record<string, string>
      expect(result_ptr).toBe(`pawl:/jobs/${run.id}/output`)
      expect(new URL(String(result_ptr)).protocol).toBe('pawl:')
      expect(await run.actor.pawl.body(run.id, 'output')).toEqual({ chunks: 3 })
      const silent = await at('RUNNING')
      await silent.actor.must(silent.id, { type: 'complete', fence: silent.fence })
      expect((await silent.actor.view(silent.id))['JobResult']).not.toHaveProperty('result_ptr')
    })

    it('002:18 a failure: error_code and error_message', async () => {
      const run = await at('FAILED')
      const said = { status: 'FAILED', error_code: 'bad_request', error_message: 'it was bad_request' }
      expect((await run.actor.view(run.id))['JobResult']).toMatchObject({ ...said, execution_ms: 5 })
    })

    it.each(ENDED)('002:14 status %s', async (status) => {
      const run = await at(status)
      expect((await run.actor.view(run.id))['JobResult']).toMatchObject({ job_id: run.id, status })
    })

    it('002:14 002:57 a worker that cancels its own job: CANCELLED', async () => {
      const run = await at('RUNNING')
      await run.actor.must(run.id, { type: 'cancel', mode: 'soft', fence: run.fence })
      expect(await stateOf(run)).toBe('CANCELLED')
    })

    it('002:57 the worker runtime reports execution time', async () => {
      const each = actor()
      const job = implementJob(each.spec, async () => {
        const until = performance.now() + 5
        while (performance.now() < until);
        return 1
      })
      await using _ = each.pawl.work([job], { id: 'worker-9' })
      const { id } = await each.scheduled()
      await each.until(id, 'succeeded')
      const result = (await each.view(id))['JobResult'] as Record<string, unknown>
      expect(result).toMatchObject({ worker_id: 'worker-9' })
      expect(result['execution_ms']).toBeGreaterThanOrEqual(4)
    })
  })

  describe('state machine', () => {
    it.each([
      ['002:23', 'PENDING'],
      ['002:24', 'SCHEDULED'],
      ['002:25', 'DISPATCHED'],
      ['002:26', 'RUNNING'],
      ['002:27', 'SUCCEEDED'],
      ['002:28', 'FAILED'],
      ['002:29', 'CANCELLED'],
      ['002:30', 'DENIED'],
      ['002:31', 'TIMEOUT'],
    ] as const)('%s %s is what its job shows', async (_, state) => {
      expect(await stateOf(await at(state))).toBe(state)
    })

    it.each([
      ['002:37–41', 'SUCCEEDED', ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'SUCCEEDED']],
      ['002:42', 'FAILED', ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'FAILED']],
      ['002:44', 'TIMEOUT', ['PENDING', 'SCHEDULED', 'DISPATCHED', 'TIMEOUT']],
      ['002:45', 'DENIED', ['PENDING', 'SCHEDULED', 'DENIED']],
    ] as const)('%s the way to %s', async (_, state, way) => {
      const run = await at(state)
      const entries = await run.actor.log(run.id)
      const told = entries.map((entry) => entry['state'])
      expect(deriveDialect('002', entries)).toMatchObject({ status: state, violations: [] })
      expect(told).toEqual(way)
      // Nobody but the events themselves told any of it.
      const events = (await run.actor.events(run.id)).filter(({ seq, type }) => seq !== undefined && type !== 'stalled')
      expect(events).toHaveLength(way.length)
    })

    it('002:43 RUNNING → TIMEOUT: the reconciler marks what is stale (lease shortened)', async () => {
      const each = actor({}, { leaseMs: 1_000, heartbeatMs: 400 })
      const { job, fence } = await each.running()
      await each.until(job.id, 'timed_out')
      expect((await each.log(job.id)).map(({ state }) => state).slice(-2)).toEqual(['RUNNING', 'TIMEOUT'])
      await each.refused(job.id, { type: 'complete', fence }, 'ENDED', 'STALE_FENCE')
    })

    it('002:44 DISPATCHED → TIMEOUT: the reconciler marks what was not started in time', async () => {
      const each = actor({}, { leaseMs: 1_500, startWithinMs: 1_500 })
      const { job, fence } = await each.assigned()
      const startBy = ((await each.job(job.id)).lease?.grantedAt ?? Number.NaN) + 1_500
      // Whoever only says that it is there does not put that off.
      await each.must(job.id, { type: 'heartbeat', fence })
      expect((await each.job(job.id)).lease?.expiresAt).toBe(startBy)
      const ended = await each.until(job.id, 'timed_out')
      expect((await each.events(job.id)).at(-1)).toMatchObject({ type: 'timed_out', reason: 'not_started' })
      expect(ended.attempt).toBe(1)
      expect(ended.endedAt).toBeGreaterThanOrEqual(startBy)
    })

    it.each(['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING'] as const)('002:46 %s → CANCELLED', async (state) => {
      const run = await at(state)
      await run.actor.must(run.id, { type: 'cancel', mode: 'hard' })
      expect(await stateOf(run)).toBe('CANCELLED')
      expect(deriveDialect('002', await run.actor.log(run.id)).violations).toEqual([])
    })

    it('002:35–52 the diagram is the table that bound jobs are judged by', () => {
      const edges = DIALECTS['002'].table.filter(({ settled }) => settled === undefined)
      expect(edges.map(({ from, to }) => `${from} → ${to}`).sort()).toEqual(
        [
          ...['none → PENDING', 'PENDING → SCHEDULED', 'SCHEDULED → DISPATCHED', 'DISPATCHED → RUNNING'],
          ...['RUNNING → SUCCEEDED', 'RUNNING → FAILED', 'RUNNING → TIMEOUT', 'DISPATCHED → TIMEOUT'],
          ...['SCHEDULED → DENIED', 'PENDING → CANCELLED', 'SCHEDULED → CANCELLED', 'DISPATCHED → CANCELLED'],
          'RUNNING → CANCELLED',
        ].sort(),
      )
    })

    it.each(ENDED)('002:47–51 nothing leads out of %s', async (state) => {
      const { actor: each, id, fence } = await at(state)
      await each.refused(id, { type: 'start', fence }, 'ENDED', 'STALE_FENCE')
      await each.refused(id, { type: 'reopen' }, 'DIALECT_FORBIDS')
      if (state !== 'CANCELLED') await each.refused(id, { type: 'cancel', mode: 'hard' }, 'ENDED')
      expect(await each.claim()).toBeUndefined()
    })
  })

  describe('who performs transitions', () => {
    it('002:56 the scheduler admits PENDING jobs, by rule and policy, and nobody can claim them before', async () => {
      const { actor: each, id } = await at('PENDING')
      expect(await each.claim()).toBeUndefined()
      await each.must(id, { type: 'admit', ...PASS })
      expect((await each.events(id)).at(-1)).toMatchObject({ type: 'admitted', reason: 'allow-all' })
      expect((await each.claim())?.job.id).toBe(id)
    })

    it('002:55 002:56 every job is PENDING first: a type without admission is refused', () => {
      expect(() => actor({ admission: false })).toThrow(/admission.*002/)
    })

    it('002:38 002:61 who schedules twice has scheduled once; who schedules too late is refused', async () => {
      const { actor: each, id } = await at('SCHEDULED')
      expect(await each.pawl.admit(id)).toMatchObject({ replayed: true })
      const { job } = await each.claimed()
      await each.refused(job.id, { type: 'admit', ...PASS }, 'ILLEGAL_TRANSITION')
    })

    it('002:57 a worker that goes away ends none of its jobs: what it could not begin it has not taken', async () => {
      const each = actor({ lease: '30s', heartbeat: '10s' })
      const begun: string[] = []
      const gate = Promise.withResolvers<void>()
      const job = implementJob(each.spec, async (_: unknown, ctx) => {
        begun.push(ctx.job.id)
        if (begun.length > 3) await gate.promise
      })
      for (let n = 0; n < 12; n += 1) await each.scheduled()
      const worker = each.pawl.work([job], { concurrency: 1 })
      await eventually('the fourth of them', () => begun.length === 4)
      await eventually('nothing to be held but what runs', () => worker.held === 1)
      const stopped = worker.stop()
      gate.resolve()
      await stopped
      const { jobs } = await each.pawl.find({ queues: [each.queue] })
      const states = jobs.map(({ state }) => state)
      expect(new Set(states)).toEqual(new Set(['queued', 'succeeded']))
      expect(states.filter((state) => state === 'succeeded')).toHaveLength(begun.length)
    })

    it('002:56 DENIED keeps the rule that rejected it, and is never run', async () => {
      const run = await at('DENIED')
      expect((await run.actor.view(run.id))['JobResult']).toMatchObject({
        error_code: 'no-exfiltration',
        error_message: 'unsafe',
      })
      expect(await run.actor.claim()).toBeUndefined()
    })

    it('002:56 what is DISPATCHED is beyond the safety kernel', async () => {
      const { actor: each, id } = await at('DISPATCHED')
      await each.refused(id, { type: 'deny', ...PASS }, 'ILLEGAL_TRANSITION')
    })

    it.each(['complete', 'fail'] as const)('002:57 a worker moves DISPATCHED by %s as well', async (type) => {
      const { actor: each, id, fence } = await at('DISPATCHED')
      await each.must(id, type === 'complete' ? { type, fence } : { type, fence, fault: fault('bad_request') })
      expect((await each.view(id))['state']).toBe(type === 'complete' ? 'SUCCEEDED' : 'FAILED')
      expect(deriveDialect('002', await each.log(id)).violations).toEqual([])
    })
  })

  describe('idempotency', () => {
    it('002:61 setting the same state twice is allowed, and changes nothing', async () => {
      const { actor: each, id, fence } = await at('RUNNING')
      const before = await each.job(id)
      expect(await each.must(id, { type: 'start', fence })).toMatchObject({ replayed: true, rev: before.rev })
      await each.must(id, { type: 'complete', fence, resultPtr: 'mem://a' })
      expect(await each.must(id, { type: 'complete', fence, resultPtr: 'mem://a' })).toMatchObject({ replayed: true })
      expect((await each.events(id)).filter(({ type }) => type === 'succeeded')).toHaveLength(1)
    })

    it('002:61 backwards transitions are rejected', async () => {
      const { actor: each, id, fence } = await at('RUNNING')
      await each.refused(id, { type: 'admit', ...PASS }, 'ILLEGAL_TRANSITION')
      await each.refused(id, { type: 'release', fence, reason: 'handed_back' }, 'DIALECT_FORBIDS')
      await each.refused(id, { type: 'reschedule', runAt: 0 }, 'DIALECT_FORBIDS', 'ILLEGAL_TRANSITION')
    })

    it('002:62 a JobResult for a job that has ended is logged, and overwrites nothing', async () => {
      const run = await at('CANCELLED')
      const late = { type: 'complete', fence: run.fence, resultPtr: 'mem://late' } as const
      await run.actor.refused(run.id, late, 'ENDED', 'STALE_FENCE')
      await run.actor.refused(run.id, late, 'ENDED', 'STALE_FENCE')
      const { annotations } = await run.actor.pawl.events({ by: 'annotation', id: run.id })
      const outcome = { state: 'succeeded', resultPtr: 'mem://late' }
      expect(annotations).toMatchObject([{ jobId: run.id, command: 'complete', attempt: 1, outcome }])
      expect(await stateOf(run)).toBe('CANCELLED')
    })

    it('002:62 a late FAILED is logged with its error, beside what is there', async () => {
      const run = await at('SUCCEEDED')
      const late = { type: 'fail', fence: run.fence, fault: fault('E_LATE'), executionMs: 7 } as const
      await run.actor.refused(run.id, late, 'ENDED', 'STALE_FENCE')
      const { annotations } = await run.actor.pawl.events({ by: 'annotation', id: run.id })
      const error = { code: 'E_LATE', message: 'it was E_LATE' }
      expect(annotations).toMatchObject([{ command: 'fail', outcome: { state: 'failed', error, executionMs: 7 } }])
      expect((await run.actor.view(run.id))['JobResult']).toMatchObject({
        status: 'SUCCEEDED',
        result_ptr: 'mem://out/1',
      })
    })

    it('002:63 a retry is a new job, linked by parent_job_id, within the same budget', async () => {
      const each = actor({ retry: { attempts: 3, ...SOON } })
      const first = await each.running({ correlationId: fresh('correlation') })
      let last: Job = first.job
      let { fence } = first
      for (let n = 1; n <= 3; n += 1) {
        await each.must(last.id, { type: 'fail', fence, fault: fault('network_error') })
        expect((await each.view(last.id))['state']).toBe('FAILED')
        if (n === 3) break
        const { jobs } = await each.pawl.find({ parentId: last.id })
        expect(jobs).toHaveLength(1)
        await each.pawl.admit(String(jobs[0]?.id))
        const next = await each.begin(await each.claimed())
        expect(next.job.id).toBe(jobs[0]?.id)
        expect((await each.view(next.job.id))['JobRequest']).toMatchObject({ parent_job_id: last.id })
        expect(next.job.spec.correlationId).toBe(first.job.spec.correlationId)
        expect(next.input).toBe(first.input)
        last = next.job
        fence = next.fence
      }
      expect((await each.pawl.find({ parentId: last.id })).jobs).toEqual([])
      expect(await each.claim()).toBeUndefined()
    })

    it.each([
      ['a lost lease', 'lease_expired', async (each: Actor) => each.running()],
      ['a dispatch that nobody started', 'not_started', async (each: Actor) => each.assigned()],
    ] as const)('002:63 TIMEOUT with budget left has a successor, as FAILED has: %s', async (_, reason, begin) => {
      const each = actor({ retry: { attempts: 3, stalls: 1, ...SOON } }, SHORT)
      const { job } = await begin(each)
      await each.until(job.id, 'timed_out')
      expect((await each.events(job.id)).at(-1)).toMatchObject({ type: 'timed_out', reason })
      const [next] = (await each.pawl.find({ parentId: job.id })).jobs
      expect(next).toMatchObject({ state: 'pending', stalls: 1, failures: 0 })
      // The second loss is the last that the budget has room for.
      await each.pawl.admit(String(next?.id))
      const last = await each.claimed()
      await each.until(last.job.id, 'timed_out')
      expect((await each.pawl.find({ parentId: last.job.id })).jobs).toEqual([])
    })

    it('002:63 an attempt that took too long is TIMEOUT, and tried again under a new job_id', async () => {
      const each = actor({ retry: { attempts: 2, ...SOON } })
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault('E_TIMEOUT') })
      expect((await each.view(job.id))['state']).toBe('TIMEOUT')
      const [next] = (await each.pawl.find({ parentId: job.id })).jobs
      expect(next).toMatchObject({ failures: 1 })
      await each.pawl.admit(String(next?.id))
      const last = await each.begin(await each.claimed())
      await each.must(last.job.id, { type: 'fail', fence: last.fence, fault: fault('E_TIMEOUT') })
      expect((await each.view(last.job.id))['state']).toBe('TIMEOUT')
      expect((await each.pawl.find({ parentId: last.job.id })).jobs).toEqual([])
    })

    it('002:63 the same job_id is retried where consumers are idempotent', async () => {
      const each = actor({ idempotent: true, retry: { attempts: 3, ...SOON } })
      const { job, fence } = await each.running()
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
      expect((await each.view(job.id))['state']).toBe('RUNNING')
      expect((await each.claimed()).job).toMatchObject({ id: job.id, attempt: 2 })
      expect((await each.pawl.find({ parentId: job.id })).jobs).toEqual([])
    })
  })

  describe('gateway', () => {
    it('002:37 002:55 the gateway sets PENDING when it accepts a job, and speaks the document’s words', async () => {
      const { pawl } = stage()
      await using gateway = await startGateway({ engine: pawl.engine, port: 0, auth: false, tenant: 'default' })
      const ask = async (method: string, path: string, body?: object) => {
        const init = body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }
        const response = await fetch(gateway.url + path, { method, ...init })
        return { status: response.status, body: (await response.json()) as Record<string, unknown> }
      }
      const policy = { dialect: '002' }
      const words = {
        type: fresh('type'),
        queue: fresh('queue'),
        topic: 'job.code.llm',
        contextPtr: 'mem://in',
        policy,
      }
      const made = await ask('POST', '/v1/jobs', words)
      expect(made.status).toBe(201)
      const id = String(made.body['id'])
      const shown = await ask('GET', `/v1/jobs/${id}?dialect=002`)
      expect(shown.body).toMatchObject({
        JobRequest: { job_id: id, topic: 'job.code.llm', context_ptr: 'mem://in' },
        state: 'PENDING',
      })
      await ask('POST', `/v1/jobs/${id}/cancel`, { mode: 'hard' })
      const events = await ask('GET', `/v1/jobs/${id}/events?dialect=002`)
      expect(events.body).toEqual({
        events: [
          { job_id: id, state: 'PENDING', rev: 1, after_rev: 0 },
          { job_id: id, state: 'CANCELLED', rev: 2, after_rev: 1 },
        ],
        rev: 2,
      })
    })
  })

  it('002:61 what was refused is thrown with its reason', async () => {
    const { actor: each, id } = await at('SUCCEEDED')
    const error = await each.pawl.cancel(id).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Refused)
    expect((await each.view(id))['state']).toBe('SUCCEEDED')
  })
})

const NOBODY = '0.1.0000000000000000'
