/** Document 002 from its first line to its last, in its own words, over HTTP: `/v1/dialects/002`. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { EVERY_PRIORITY } from '../../../src/core/job.ts'
import type { Scope } from '../../../src/gateway/contract/route.ts'
import { type GatewayFixture, openGatewayFixture } from '../../gateway/gateway-fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { fresh } from '../actor.ts'

const JOBS = '/v1/dialects/002/jobs'

type Told = Readonly<Record<string, unknown>>

interface Dispatch {
  readonly fence: string
}

/** One topic, and whoever the document lets move its jobs: producer, scheduler (an operator), worker, control plane. */
class Walk {
  readonly #home: GatewayFixture
  readonly topic = fresh('job.chat')

  constructor(fixture: GatewayFixture) {
    this.#home = fixture
  }

  async ask(who: Scope, method: string, path: string, body?: object): Promise<{ status: number; body: Told }> {
    const { status, body: told } = await this.#home.ask(who, method, path, body)
    return { status, body: told }
  }

  async must(who: Scope, method: string, path: string, body?: object): Promise<Told> {
    const { status, body: told } = await this.ask(who, method, path, body)
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(told)}`)
    return told
  }

  /** A worker binds the topic to the document. */
  bind(policy: object): Promise<Told> {
    return this.must('worker', 'PUT', `/v1/types/${this.topic}`, {
      queue: this.topic,
      policy: { dialect: '002', ...policy },
    })
  }

  submit(more: object = {}): Promise<Told> {
    return this.must('producer', 'POST', JOBS, { topic: this.topic, context_ptr: 'mem://in/1', ...more })
  }

  async dispatched(): Promise<Dispatch> {
    const asked = { worker_id: 'w1', topics: [this.topic] }
    const { dispatches } = await this.must('worker', 'POST', '/v1/dialects/002/dispatches', asked)
    const [first] = dispatches as readonly Dispatch[]
    if (first === undefined) throw new Error(`nothing was dispatched of ${this.topic}`)
    return first
  }

  /** What a bus does: the pool is dispatched to, and the one of its workers that has it says so by its start. */
  async begunFromPool(id: string, worker: string): Promise<Dispatch> {
    const { engine } = this.#home.pawl
    await this.submit({ job_id: id })
    await this.must('operator', 'POST', `${JOBS}/${id}/scheduled`, {})
    const lanes = EVERY_PRIORITY.map((priority) => ({ tenant: 'acme', queue: this.topic, priority }))
    const asked = { requestId: fresh('claim'), workerId: `pool:${this.topic}`, lanes, serves: [this.topic], limit: 1 }
    const [assignment] = await engine.claim(asked)
    if (assignment === undefined) throw new Error(`nothing of ${this.topic} was there`)
    const { fence } = assignment
    const command = { type: 'start', fence, actor: `worker:${worker}`, requestId: fresh('start') } as const
    expect(await engine.settle([{ id, tenant: 'acme', command }])).toMatchObject([{ ok: true }])
    return { fence }
  }

  async states(id: string): Promise<readonly unknown[]> {
    const { states } = await this.must('producer', 'GET', `${JOBS}/${id}/states`)
    return (states as readonly Told[]).map(({ state }) => state)
  }

  async running(id: string): Promise<Dispatch> {
    await this.submit({ job_id: id })
    await this.must('operator', 'POST', `${JOBS}/${id}/scheduled`, { rule: 'allow-all', policy_hash: 'p1' })
    const dispatch = await this.dispatched()
    await this.must('worker', 'POST', `${JOBS}/${id}/running`, { fence: dispatch.fence })
    return dispatch
  }
}

async function begun(): Promise<Walk> {
  const fixture = await openGatewayFixture()
  onTestFinished(() => fixture[Symbol.asyncDispose]())
  return new Walk(fixture)
}

describe('002 walked in its own words', () => {
  it('002:4 002:13 002:55 002:56 002:57 a JobRequest from PENDING to its JobResult', async () => {
    const walk = await begun()
    const id = fresh('chat')
    const parent = await walk.submit()
    const request = {
      job_id: id,
      topic: walk.topic,
      priority: 'critical',
      context_ptr: 'mem://in/7?secret=1',
      adapter_id: 'llama',
      env: { tenant: 'acme', locale: 'zh-CN', sandbox: 'true' },
      parent_job_id: (parent['JobRequest'] as { readonly job_id: string }).job_id,
      workflow_id: 'flow-1',
      step_index: 3,
    }
    expect(await walk.submit(request)).toEqual({ JobRequest: request, state: 'PENDING' })
    expect(await walk.must('operator', 'POST', `${JOBS}/${id}/scheduled`, {})).toMatchObject({ state: 'SCHEDULED' })
    const { fence, ...told } = await walk.dispatched()
    expect(told).toMatchObject({ JobRequest: request, state: 'DISPATCHED', lease_expires_at: expect.any(String) })
    expect(await walk.must('worker', 'POST', `${JOBS}/${id}/running`, { fence })).toMatchObject({ state: 'RUNNING' })
    const result = { job_id: id, status: 'SUCCEEDED', result_ptr: 'mem://out/7', worker_id: 'w1', execution_ms: 12 }
    const ended = await walk.must('worker', 'POST', `${JOBS}/${id}/result`, { ...result, fence })
    expect(ended).toEqual({ JobRequest: request, state: 'SUCCEEDED', JobResult: result })
    expect(await walk.must('viewer', 'GET', `${JOBS}/${id}`)).toMatchObject({ state: 'SUCCEEDED' })
    expect(await walk.states(id)).toEqual(['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'SUCCEEDED'])
  })

  it.each([
    ['002:42', 'FAILED', { error_code: 'bad_request', error_message: 'no' }, 'FAILED'],
    ['002:14', 'CANCELLED', {}, 'CANCELLED'],
    ['002:14', 'TIMEOUT', { error_message: 'too slow' }, 'TIMEOUT'],
    ['002:14', 'DENIED', { error_message: 'unsafe' }, 'FAILED'],
  ] as const)('%s a JobResult with status %s', async (_, status, more, state) => {
    const walk = await begun()
    const id = fresh('ends')
    const { fence } = await walk.running(id)
    const told = await walk.must('worker', 'POST', `${JOBS}/${id}/result`, { status, fence, ...more })
    expect(told).toMatchObject({ state, JobResult: { job_id: id, status: state } })
    expect((await walk.states(id)).slice(-2)).toEqual(['RUNNING', state])
  })

  it('002:43 002:58 the reconciler marks what is stale, and the retry is a new job_id', async () => {
    const walk = await begun()
    await walk.bind({ lease: '1s', heartbeat: '400ms' })
    const id = fresh('stale')
    await walk.running(id)
    const shown = await eventually('it to be marked', async () => {
      const told = await walk.must('producer', 'GET', `${JOBS}/${id}`)
      return told['state'] === 'TIMEOUT' && told
    })
    const { id: ours } = await walk.must('producer', 'GET', `/v1/jobs/${id}`)
    const { jobs } = await walk.must('producer', 'GET', `/v1/jobs?parentId=${ours}&dialect=002`)
    expect(jobs).toMatchObject([{ state: 'PENDING', JobRequest: { parent_job_id: ours, context_ptr: 'mem://in/1' } }])
    expect(shown).toMatchObject({ JobResult: { status: 'TIMEOUT', error_code: 'E_TIMEOUT' } })
  })

  it('002:45 002:56 SCHEDULED → DENIED, by the rule that rejected it', async () => {
    const walk = await begun()
    const id = fresh('unsafe')
    await walk.submit({ job_id: id })
    const words = { rule: 'no-exfiltration', policy_hash: 'p1', reason: 'unsafe' }
    const denied = { state: 'DENIED', JobResult: { error_code: 'no-exfiltration', error_message: 'unsafe' } }
    expect(await walk.must('operator', 'POST', `${JOBS}/${id}/denied`, words)).toMatchObject(denied)
    expect(await walk.must('operator', 'POST', `${JOBS}/${id}/denied`, words)).toMatchObject(denied)
    expect(await walk.states(id)).toEqual(['PENDING', 'SCHEDULED', 'DENIED'])
  })

  it('002:46 any → CANCELLED, by user or control plane', async () => {
    const walk = await begun()
    const id = fresh('unwanted')
    const { fence } = await walk.running(id)
    expect(await walk.must('producer', 'POST', `${JOBS}/${id}/cancelled`, {})).toMatchObject({ state: 'CANCELLED' })
    expect(await walk.must('operator', 'POST', `${JOBS}/${id}/cancelled`, {})).toMatchObject({ state: 'CANCELLED' })
    const late = { status: 'SUCCEEDED', result_ptr: 'mem://late', execution_ms: 9, fence }
    expect((await walk.ask('worker', 'POST', `${JOBS}/${id}/result`, late)).status).toBe(409)
    // 002:62: logged, and nothing is overwritten.
    const { JobResult, late: noted } = await walk.must('producer', 'GET', `${JOBS}/${id}/results`)
    expect(JobResult).toMatchObject({ status: 'CANCELLED' })
    const { fence: _, ...said } = late
    expect(noted).toEqual([{ job_id: id, worker_id: 'w1', ...said }])
    expect((await walk.must('producer', 'GET', `/v1/jobs/${id}/late`))['late']).toMatchObject([
      { command: 'complete', outcome: { state: 'succeeded', resultPtr: 'mem://late' } },
    ])
    const viewed = await walk.must('viewer', 'GET', `/v1/jobs/${id}/late`)
    expect((viewed['late'] as readonly Told[])[0]).not.toHaveProperty('outcome')
  })

  it('002:16 002:57 the worker_id is the one that has started it, where its pool was dispatched to', async () => {
    const walk = await begun()
    const id = fresh('pooled')
    const { fence } = await walk.begunFromPool(id, 'gpu-7')
    const ended = await walk.must('worker', 'POST', `${JOBS}/${id}/result`, { status: 'SUCCEEDED', fence })
    expect(ended).toMatchObject({ JobResult: { status: 'SUCCEEDED', worker_id: 'gpu-7' } })
    for (const path of [`${JOBS}/${id}`, `${JOBS}/${id}/results`, `/v1/jobs/${id}?dialect=002`])
      expect(await walk.must('producer', 'GET', path)).toMatchObject({ JobResult: { worker_id: 'gpu-7' } })
    const unbegun = fresh('unbegun')
    await walk.submit({ job_id: unbegun })
    await walk.must('producer', 'POST', `${JOBS}/${unbegun}/cancelled`, {})
    const { JobResult } = await walk.must('producer', 'GET', `${JOBS}/${unbegun}`)
    expect(JobResult).not.toHaveProperty('worker_id')
  })

  it('002:61 the same state twice is allowed, backwards is rejected', async () => {
    const walk = await begun()
    const id = fresh('twice')
    const body = { job_id: id, topic: walk.topic, context_ptr: 'mem://in/1' }
    expect((await walk.ask('producer', 'POST', JOBS, body)).status).toBe(201)
    expect((await walk.ask('producer', 'POST', JOBS, body)).status).toBe(200)
    expect((await walk.ask('producer', 'POST', JOBS, { ...body, context_ptr: 'mem://in/2' })).status).toBe(409)
    for (const _ of [1, 2]) await walk.must('operator', 'POST', `${JOBS}/${id}/scheduled`, {})
    const { fence } = await walk.dispatched()
    for (const _ of [1, 2]) await walk.must('worker', 'POST', `${JOBS}/${id}/running`, { fence })
    expect((await walk.ask('operator', 'POST', `${JOBS}/${id}/scheduled`, {})).status).toBe(409)
    expect((await walk.ask('operator', 'POST', `${JOBS}/${id}/denied`, {})).status).toBe(409)
    const result = { status: 'SUCCEEDED', result_ptr: 'mem://out', fence }
    for (const _ of [1, 2]) await walk.must('worker', 'POST', `${JOBS}/${id}/result`, result)
    expect(await walk.states(id)).toEqual(['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'SUCCEEDED'])
  })

  it('002:13 a JobResult names the job of its request, and comes from who has it', async () => {
    const walk = await begun()
    const id = fresh('mine')
    const { fence } = await walk.running(id)
    const path = `${JOBS}/${id}/result`
    const other = await walk.ask('worker', 'POST', path, { job_id: 'another', status: 'SUCCEEDED', fence })
    expect([other.status, other.body['violations']]).toMatchObject([400, [{ field: 'body.job_id' }]])
    expect((await walk.ask('worker', 'POST', path, { status: 'SUCCEEDED' })).status).toBe(400)
    expect((await walk.ask('producer', 'POST', path, { status: 'SUCCEEDED', fence })).status).toBe(403)
    expect((await walk.ask('worker', 'POST', `${JOBS}/${id}/scheduled`, {})).status).toBe(403)
  })
})
