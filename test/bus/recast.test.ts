/** What a policy makes of requests on the bus: sent to another topic, held by a limit's key; and what orchestrators say of them, as it came. */
import { afterAll, expect, it } from 'vitest'
import { squadOf } from '../../src/bus/squad.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats } from '../support/nats.ts'
import { onBus, policyFolder } from './bus-fixture.ts'

const folder = policyFolder(`
rules:
  - { id: all, decision: allow }
  - { id: send, topics: [job.dear], decision: redirect, topic: job.cheap }
  - { id: gpu, topics: [job.gpu], decision: throttle, key: gpu, limit: { concurrency: 1 } }
`)
afterAll(() => folder[Symbol.dispose]())

describeOnNats('a request that a policy has changed', () => {
  const { setup, there, beat } = onBus({ policy: folder.path })

  const judged = async (job_id: string, topic: string, more: object = {}) => {
    await setup.peer.submit({ job_id, topic, ...more })
    await eventually(`${job_id} is let in`, async () => (await there(job_id)).state !== 'pending')
  }

  const finished = (job_id: string, fence: string, worker_id: string) =>
    setup.peer.keep(setup.peer.subjects.result, {
      job_id,
      fence,
      worker_id,
      status: 'SUCCEEDED',
      result_ptr: 'mem://out',
    })
  const ended = (job_id: string) =>
    eventually(`the end of ${job_id}`, async () => (await there(job_id)).state === 'succeeded')
  const typesUnder = async (topic: string) => {
    const types = ['enqueued', 'admitted', 'claimed', 'started', 'succeeded']
    const found = await Promise.all(types.map((type) => setup.peer.told(setup.peer.subjects.event(type, topic))))
    return found.flat().map(({ type }) => type)
  }

  it('is dispatched to the pool it was redirected to, is told under the queue it came to, and keeps what orchestrators say of it', async () => {
    await judged('parent', 'job.plain')
    const said = { parent_job_id: 'parent', workflow_id: 'flow-1', step_index: 3, env: { a: 'b' }, adapter_id: 'lora' }
    await judged('child', 'job.dear', said)
    await beat('job.dear', { worker_id: 'dear', free: 5 })
    await beat('job.cheap', { worker_id: 'cheap', free: 5 })
    const subject = setup.peer.subjects.dispatch(squadOf({ pool: 'job.cheap' }))
    expect(subject).toBe('pawl.acme.dispatch.any.job.cheap')
    const dispatch = await setup.peer.begun('job.cheap', 'cheap')
    expect(dispatch).toMatchObject({ job_id: 'child', state: 'DISPATCHED' })
    expect(dispatch['JobRequest']).toEqual({ job_id: 'child', topic: 'job.cheap', priority: 'interactive', ...said })
    expect(await setup.peer.dispatchesTo('job.dear', 1)).toEqual([])
    await finished('child', dispatch.fence, 'cheap')
    await ended('child')
    const job = await there('child')
    expect(job).toMatchObject({ recast: { redirect: { from: 'job.dear', to: 'job.cheap', rule: 'send' } } })
    expect(job.spec).toMatchObject({ parentId: 'parent', workflowId: 'flow-1', stepIndex: 3 })
    await eventually('its events', async () => (await typesUnder('job.dear')).length === 5)
    expect(await typesUnder('job.dear')).toEqual(
      ['enqueued', 'admitted', 'claimed', 'started', 'succeeded'].map((type) => `pawl.job.${type}`),
    )
    expect(await typesUnder('job.cheap')).toEqual([])
  })

  it('waits for its key however many places are free: the next is dispatched when the one before has ended', async () => {
    await beat('job.gpu', { worker_id: 'gpu', free: 5 })
    for (const job_id of ['gpu-1', 'gpu-2', 'gpu-3']) await judged(job_id, 'job.gpu')
    for (const left of [2, 1, 0]) {
      const { job_id, fence } = await setup.peer.begun('job.gpu', 'gpu')
      expect(await setup.peer.dispatchesTo('job.gpu', 1)).toEqual([])
      const { jobs } = await setup.pawl.find({ queues: ['job.gpu'], states: ['queued'] })
      expect(jobs).toHaveLength(left)
      await finished(job_id, fence, 'gpu')
      await ended(job_id)
      await beat('job.gpu', { worker_id: 'gpu', free: 5 })
    }
  })
})
