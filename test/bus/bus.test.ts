/** What is said over the bus, and what becomes of it in the store. */
import { expect, it } from 'vitest'
import { view } from '../../src/core/dialects/view.ts'
import { namedByStart } from '../../src/engine/named-by-start.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats } from '../support/nats.ts'
import { onBus } from './bus-fixture.ts'

describeOnNats('a request over the bus', () => {
  const { setup, there, refusals, refused } = onBus()

  it('is a JobRequest as it stands in the document', async () => {
    const request = {
      job_id: 'req-1',
      topic: 'job.chat.simple',
      priority: 'critical',
      context_ptr: 's3://in/1?signature=x',
      adapter_id: 'lora-7',
      env: { locale: 'de' },
      workflow_id: 'flow-1',
      step_index: 3,
    }
    await setup.peer.submit(request)
    const job = await there('req-1')
    expect(job).toMatchObject({ state: 'pending', priority: 1 })
    expect(job.spec).toMatchObject({
      alias: 'req-1',
      topic: 'job.chat.simple',
      contextPtr: 's3://in/1?signature=x',
      adapterId: 'lora-7',
      env: { locale: 'de' },
      workflowId: 'flow-1',
      stepIndex: 3,
    })
    expect(job.spec.kind).toMatchObject({ tenant: 'acme', queue: 'job.chat.simple', policy: { dialect: '002' } })
  })

  it('is one job when it comes twice, and refused under the id of another', async () => {
    await setup.peer.submit({ job_id: 'twice', topic: 'job.a' })
    await setup.peer.submit({ job_id: 'twice', topic: 'job.a' })
    await there('twice')
    await setup.peer.submit({ job_id: 'twice', topic: 'job.a', context_ptr: 'other' })
    expect(await refused('twice')).toMatchObject({ ok: false, code: 'ID_TAKEN', subject: 'pawl.acme.submit.job.a' })
    expect((await setup.pawl.find({ queues: ['job.a'] })).jobs).toHaveLength(1)
  })

  it.each([
    ['no JSON', '{', {}],
    ['no id', { topic: 'job.bad' }, {}],
    ['a member nobody knows', { job_id: 'bad', topic: 'job.bad', colour: 'red' }, {}],
    ['the topic of another subject', { job_id: 'bad-topic', topic: 'job.good' }, { job_id: 'bad-topic' }],
  ])('is refused with %s, and told why', async (_, message, told) => {
    const before = (await refusals()).length
    await setup.peer.keep(setup.peer.subjects.submit('job.bad'), message)
    const last = await eventually('a refusal', async () => (await refusals())[before])
    expect(last).toMatchObject({ code: 'INVALID', subject: 'pawl.acme.submit.job.bad', ...told })
  })

  it('under a subject that means no name is refused by itself, and keeps no other waiting', async () => {
    await setup.peer.keep('pawl.acme.submit.=ZZ', { job_id: 'nowhere', topic: 'job.nowhere' })
    await setup.peer.submit({ job_id: 'behind', topic: 'job.behind' })
    expect(await refused('nowhere')).toMatchObject({ code: 'INVALID', subject: 'pawl.acme.submit.=ZZ' })
    await there('behind')
  })
})

describeOnNats('a bus', () => {
  const { setup, there, refused, beat } = onBus()
  let made = 0

  /** A job that has been dispatched, each in a pool of its own. */
  const dispatched = async () => {
    made += 1
    const topic = `job.code.n${made}`
    const job_id = `order-${made}`
    await setup.peer.submit({ job_id, topic })
    await there(job_id)
    await setup.pawl.admit(job_id)
    await beat(topic)
    const { fence } = await setup.peer.dispatched(topic)
    return { job_id, topic, fence, worker_id: 'w1' }
  }
  const result = (of: { readonly job_id: string }, more: object) =>
    setup.peer.keep(setup.peer.subjects.result, { job_id: of.job_id, worker_id: 'w1', ...more })

  it('dispatches to a pool that has room, and not before', async () => {
    await setup.peer.submit({ job_id: 'one', topic: 'job.pool' })
    await there('one')
    await setup.pawl.admit('one')
    await beat('job.pool', { free: 0 })
    expect(await setup.pawl.get('one')).toMatchObject({ attempt: 0 })
    await beat('job.pool', { free: 1 })
    const dispatch = await setup.peer.dispatched('job.pool')
    expect(dispatch).toMatchObject({
      job_id: 'one',
      JobRequest: { job_id: 'one', topic: 'job.pool', priority: 'interactive' },
      state: 'DISPATCHED',
      fence: expect.stringMatching(/^0\.1\./),
      heartbeat_ms: 15_000,
    })
  })

  it('knows the worker by its start, and keeps its result', async () => {
    const job = await dispatched()
    const { topic: _, ...start } = job
    expect(await setup.peer.ask(setup.peer.subjects.start, start)).toEqual({ ok: true, job_id: job.job_id })
    const progress = { ...start, progress: { done: 1, total: 2 } }
    expect(await setup.peer.ask(setup.peer.subjects.progress, progress)).toMatchObject({ ok: true })
    await result(job, { fence: job.fence, status: 'SUCCEEDED', result_ptr: 's3://out/1', execution_ms: 12 })
    const ended = await eventually('its end', async () => {
      const found = await setup.pawl.get(job.job_id)
      return found?.endedAt === undefined ? undefined : found
    })
    expect(ended).toMatchObject({ state: 'succeeded', result: { ptr: 's3://out/1' }, executionMs: 12 })
    const events = await setup.pawl.events(job.job_id)
    expect(events.map(({ type, actor }) => [type, actor])).toEqual([
      ['enqueued', 'producer:bus'],
      ['admitted', 'operator'],
      ['claimed', 'system:scheduler'],
      ['started', 'worker:w1'],
      ['progressed', 'worker:w1'],
      ['succeeded', 'worker:w1'],
    ])
    const { JobResult } = view(await namedByStart(setup.pawl.engine, ended), '002')
    expect(JobResult).toMatchObject({ status: 'SUCCEEDED', worker_id: 'w1' })
    expect(view(ended, '002')['JobResult'], 'a pool is no worker').not.toHaveProperty('worker_id')
  })

  it('lets one of two begin that have the same dispatch', async () => {
    const { topic: _, ...start } = await dispatched()
    expect(await setup.peer.ask(setup.peer.subjects.start, start)).toMatchObject({ ok: true })
    expect(await setup.peer.ask(setup.peer.subjects.start, start)).toMatchObject({ ok: true })
    expect(await setup.peer.ask(setup.peer.subjects.start, { ...start, worker_id: 'w2' })).toMatchObject({
      ok: false,
      code: 'TAKEN',
    })
  })

  it.each([
    ['without a fence', undefined],
    ['with an old one', '0.1.00000000000000ff'],
  ])('keeps a result %s as a late one', async (_, fence) => {
    const job = await dispatched()
    await result(job, { status: 'SUCCEEDED', result_ptr: 's3://late', ...(fence !== undefined && { fence }) })
    expect(await refused(job.job_id)).toMatchObject({ code: 'STALE_FENCE' })
    const found = await there(job.job_id)
    expect(found.endedAt).toBeUndefined()
    const { annotations } = await setup.pawl.events({ by: 'annotation', id: found.id })
    expect(annotations).toMatchObject([{ actor: 'worker:w1', outcome: { state: 'succeeded', resultPtr: 's3://late' } }])
  })

  it('renews leases by a heartbeat, and tells of those that are over', async () => {
    const job = await dispatched()
    const { topic, ...start } = job
    await setup.peer.ask(setup.peer.subjects.start, start)
    const jobs = [{ job_id: job.job_id, fence: job.fence }]
    expect(await beat(topic, { free: 0, jobs })).toEqual({
      ok: true,
      take: expect.stringMatching(/^\$JS\.API\.CONSUMER\.MSG\.NEXT\.PAWL_acme_dispatches\.job=2Ecode=2En\d+$/),
      jobs: [{ ok: true, job_id: job.job_id }],
    })
    await setup.peer.keep(setup.peer.subjects.cancel, { job_id: job.job_id, reason: 'no longer wanted' })
    await eventually('its end', async () => (await setup.pawl.get(job.job_id))?.endedAt !== undefined)
    expect(await beat(topic, { free: 0, jobs })).toMatchObject({ jobs: [{ ok: false, code: 'STALE_FENCE' }] })
    expect(await setup.pawl.get(job.job_id)).toMatchObject({ state: 'cancelled', cancel: { by: 'operator:bus' } })
  })

  it('cancels a job that the cancellation has overtaken', async () => {
    await setup.peer.keep(setup.peer.subjects.cancel, { job_id: 'overtaken' })
    await setup.peer.submit({ job_id: 'overtaken', topic: 'job.over' })
    await eventually('its end', async () => (await setup.pawl.get('overtaken'))?.endedAt !== undefined)
  })

  it('tells what happens as CloudEvents, and of what failed as dead letters', async () => {
    const job = await dispatched()
    await result(job, { fence: job.fence, status: 'FAILED', error_code: 'BROKEN', error_message: 'it is' })
    const { id } = await there(job.job_id)
    const [failed] = await eventually('a dead letter', async () => {
      const found = await setup.peer.told(setup.peer.subjects.dead(job.topic))
      return found.length > 0 && found
    })
    expect(failed).toMatchObject({
      specversion: '1.0',
      type: 'pawl.job.failed',
      source: `/pawl/acme/${job.topic}`,
      subject: id,
      data: { type: 'failed', payload: { failure: { code: 'BROKEN' } } },
    })
    const [claimed] = await setup.peer.told(setup.peer.subjects.event('claimed', job.topic))
    expect(JSON.stringify(claimed)).not.toContain(job.fence)
  })
})
