/** Pools of the bus are those of a policy's routes: what is routed to one goes to those of its workers who can do what it requires. */
import { afterAll, expect, it } from 'vitest'
import { Workers } from '../../src/engine/workers.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats } from '../support/nats.ts'
import { onBus, policyFolder } from './bus-fixture.ts'

const folder = policyFolder(`
rules:
  - { id: all, decision: allow }
routes:
  - { id: big, topics: [job.code.*], when: 'has(job.env.size) && job.env.size == "big"', pool: code, requires: [gpu] }
  - { id: code, topics: [job.code.*], pool: code }
  - { id: rest, topics: ['>'] }
`)
afterAll(() => folder[Symbol.dispose]())

describeOnNats('a pool of the bus', () => {
  const { setup, beat } = onBus({ policy: folder.path })

  const admitted = async (job_id: string, topic: string, env: Readonly<Record<string, string>> = {}) => {
    await setup.peer.submit({ job_id, topic, env })
    await eventually(`${job_id} is let in`, async () => {
      const state = (await setup.pawl.get(job_id))?.state
      return state !== undefined && state !== 'pending'
    })
  }
  const ids = (found: readonly { readonly job_id: string }[]) => found.map(({ job_id }) => job_id).sort()

  it('has what was routed to it, each job by who can do what it requires, and says who is missing', async () => {
    const plain = { pool: 'code', topics: ['job.code.llm'] }
    const able = { ...plain, capabilities: ['gpu', 'linux'] }
    const elsewhere = { pool: 'chat', topics: ['job.code.llm'] }
    await beat('', { worker_id: 'elsewhere', ...elsewhere, free: 9 })
    await beat('', { worker_id: 'plain', ...plain, free: 9 })
    await admitted('small', 'job.code.llm')
    await admitted('big', 'job.code.llm', { size: 'big' })
    expect(ids(await setup.peer.dispatchesTo(plain, 2))).toEqual(['small'])
    expect(await setup.pawl.explain('big')).toMatchObject({
      way: 'queued',
      because: expect.stringMatching(/^No live worker in pool code can do gpu: 1 there/),
    })
    const { take } = await beat('', { worker_id: 'able', ...able, free: 1 })
    const { take: plainly } = await beat('', { worker_id: 'plain', ...plain, free: 0 })
    expect(take).not.toBe(plainly)
    expect(await setup.peer.dispatched(able)).toMatchObject({ job_id: 'big', JobRequest: { env: { size: 'big' } } })
    expect(await setup.peer.dispatchesTo(elsewhere, 1)).toEqual([])
  })

  it('has what its topics have that was routed nowhere, and no other topic’s', async () => {
    await admitted('free-1', 'job.free.one')
    await admitted('free-2', 'job.free.two')
    const announced = { pool: 'helpers', topics: ['job.free.one'] }
    await beat('', { worker_id: 'helper', ...announced, free: 9 })
    expect(ids(await setup.peer.dispatchesTo(announced, 2))).toEqual(['free-1'])
    expect(await setup.pawl.get('free-2')).toMatchObject({ state: 'queued', attempt: 0 })
  })

  it('tells the registry of its workers: pool, queues, what they can do, how much they have and could have', async () => {
    await beat('', {
      worker_id: 'told',
      pool: 'code',
      topics: ['job.code.a', 'job.code.b'],
      capabilities: ['gpu'],
      free: 3,
    })
    const seen = await new Workers(setup.pawl.engine).find('acme', 'told')
    expect(seen).toMatchObject({
      present: true,
      about: { pool: 'code', queues: ['job.code.a', 'job.code.b'], capabilities: ['gpu'], running: 0, concurrency: 3 },
    })
    await eventually('what it can do now', async () => {
      await beat('', { worker_id: 'told', pool: 'code', topics: ['job.code.a'], capabilities: [], free: 3 })
      const { about } = (await new Workers(setup.pawl.engine).find('acme', 'told')) ?? {}
      return about?.['capabilities'] !== undefined && (about['capabilities'] as readonly string[]).length === 0
    })
  })
})
