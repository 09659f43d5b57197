/** Document 002: gateway, scheduler, worker and control plane. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { log } from '../../../src/core/dialects/history.ts'
import { startGateway } from '../../../src/gateway/serve.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import { given } from '../../core/given.ts'
import { eventually } from '../../support/eventually.ts'
import { fault, fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, PASS } from './jobs.ts'

export function performers(stage: () => Stage): void {
  const { actor, at } = jobsOn(stage)

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

  it('002:39 002:56 002:57 the scheduler has dispatched, the worker is known by its start and its result', async () => {
    const each = actor()
    const { id } = await each.scheduled()
    await using _ = each.pawl.work([implementJob(each.spec, () => 'done')], { id: 'w7' })
    await each.until(id, 'succeeded')
    const entries = await each.log(id)
    expect(entries.slice(-3)).toMatchObject([
      { state: 'DISPATCHED', actor: 'system:scheduler' },
      { state: 'RUNNING', actor: 'worker:w7' },
      { state: 'SUCCEEDED', actor: 'worker:w7' },
    ])
  })

  it('002:43 002:44 002:58 a TIMEOUT is the reconciler’s, whoever had the job', async () => {
    const { actor: each, id } = await at('TIMEOUT')
    expect((await each.log(id)).at(-1)).toMatchObject({ state: 'TIMEOUT', actor: 'system:reconciler' })
  })

  it('002:39 what nobody has dispatched is told by nobody', () => {
    const { events } = given({ deadline: '1s' }).after(1_000).ticks().gives('timed_out', 'timed_out')
    const told = log(events, '002').find(({ state }) => state === 'DISPATCHED')
    expect(told).toMatchObject({ implied: true })
    expect(told).not.toHaveProperty('actor')
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
        { job_id: id, state: 'PENDING', actor: expect.stringMatching(/^producer:/), rev: 1, after_rev: 0 },
        { job_id: id, state: 'CANCELLED', actor: expect.any(String), rev: 2, after_rev: 1 },
      ],
      rev: 2,
    })
  })
}
