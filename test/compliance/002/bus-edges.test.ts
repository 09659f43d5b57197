/** Document 002's diagram over the bus, edge by edge: each move is made by the role that the document names, and no other is made. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { announce, onBus, policyFolder } from '../../bus/bus-fixture.ts'
import { eventually } from '../../support/eventually.ts'
import { describeOnNats } from '../../support/nats.ts'
import { type Kernel, startKernel } from '../../support/safety-kernel.ts'
import { fresh } from '../actor.ts'

const folder = policyFolder(`
rules:
  - { id: all, topics: ['job.>'], decision: allow }
`)
const STATES: Readonly<Record<string, string>> = { queued: 'SCHEDULED', claimed: 'DISPATCHED', timed_out: 'TIMEOUT' }

let kernel: Kernel
beforeAll(async () => {
  kernel = await startKernel()
})
afterAll(async () => {
  folder[Symbol.dispose]()
  await kernel?.[Symbol.asyncDispose]()
})

describeOnNats('002 over the bus', () => {
  const { setup, beat, refused, refusals } = onBus({ policy: folder.path, kernel: () => kernel.url })

  /** What the log says: into which of the document's states, by whom. A lost lease is a state of ours in between. */
  const moves = async (id: string) =>
    (await setup.pawl.events(id))
      .filter(({ to }) => to !== 'stalled')
      .map(({ to = '', actor }) => [STATES[to] ?? to.toUpperCase(), actor])
  const submitted = async (topic = fresh('job.edge'), env: Readonly<Record<string, string>> = {}) => {
    const job_id = fresh('edge')
    await setup.peer.submit({ job_id, topic, env })
    await eventually(job_id, () => setup.pawl.get(job_id))
    return { job_id, topic }
  }
  const dispatched = async (topic?: string) => {
    const job = await submitted(topic)
    await beat(job.topic)
    const { fence } = await setup.peer.dispatched(job.topic)
    return { job_id: job.job_id, fence, worker_id: 'w1' }
  }
  const running = async (topic?: string) => {
    const own = await dispatched(topic)
    expect(await setup.peer.ask(setup.peer.subjects.start, own)).toMatchObject({ ok: true })
    return own
  }
  const publish = (own: object, status: string) => setup.peer.keep(setup.peer.subjects.result, { ...own, status })
  const ended = (id: string) =>
    eventually(`the end of ${id}`, async () => (await setup.pawl.get(id))?.endedAt !== undefined)
  /** A topic whose policy is the document's with less patience. */
  const impatient = async () => {
    const topic = fresh('job.short')
    await announce(setup.pawl, topic, { lease: '1s', heartbeat: '400ms' })
    return topic
  }

  const GATEWAY = ['PENDING', 'producer:bus']
  const SCHEDULED = ['SCHEDULED', 'system:scheduler']
  const DISPATCHED = ['DISPATCHED', 'system:scheduler']
  const RUNNING = ['RUNNING', 'worker:w1']

  it.each(['SUCCEEDED', 'FAILED'])(
    '002:5 002:37 002:38 002:39 002:40 002:41 002:42 002:55 002:56 002:57 RUNNING → %s',
    async (status) => {
      const own = await running()
      await publish(own, status)
      await ended(own.job_id)
      expect(await moves(own.job_id)).toEqual([GATEWAY, SCHEDULED, DISPATCHED, RUNNING, [status, 'worker:w1']])
    },
  )

  it('002:43 002:58 RUNNING → TIMEOUT: the reconciler marks stale', async () => {
    const own = await running(await impatient())
    await ended(own.job_id)
    expect(await moves(own.job_id)).toEqual([GATEWAY, SCHEDULED, DISPATCHED, RUNNING, ['TIMEOUT', 'system:reconciler']])
  })

  it('002:44 002:58 DISPATCHED → TIMEOUT: the reconciler marks not-started', async () => {
    const own = await dispatched(await impatient())
    await ended(own.job_id)
    expect(await moves(own.job_id)).toEqual([GATEWAY, SCHEDULED, DISPATCHED, ['TIMEOUT', 'system:reconciler']])
    expect(await setup.peer.ask(setup.peer.subjects.start, own)).toMatchObject({ ok: false, code: 'STALE_FENCE' })
  })

  it('002:45 002:56 SCHEDULED → DENIED: the safety kernel rejects', async () => {
    const { job_id } = await submitted(undefined, { unsafe: 'true' })
    await ended(job_id)
    expect(await setup.pawl.get(job_id)).toMatchObject({ state: 'denied', verdict: { rule: 'unsafe', reason: 'no' } })
    expect(await moves(job_id)).toEqual([GATEWAY, SCHEDULED, ['DENIED', 'system:scheduler']])
    expect(kernel.asked.filter(({ env }) => env['unsafe'] === 'true')).toHaveLength(1)
  })

  it('002:46 002:58 any → CANCELLED: a user cancels', async () => {
    for (const one of [submitted, dispatched, running]) {
      const { job_id } = await one()
      await setup.peer.keep(setup.peer.subjects.cancel, { job_id, reason: 'unwanted' })
      await ended(job_id)
      expect((await moves(job_id)).at(-1)).toEqual(['CANCELLED', 'operator:bus'])
    }
  })

  it('002:61 002:62 what has ended stays as it ended: a late result is kept with its note, and told as refused', async () => {
    const own = await running()
    for (const _ of [1, 2]) await publish(own, 'SUCCEEDED')
    await ended(own.job_id)
    await publish(own, 'FAILED')
    expect(await refused(own.job_id)).toMatchObject({ code: 'STALE_FENCE' })
    expect(await setup.peer.ask(setup.peer.subjects.start, { ...own, worker_id: 'w2' })).toMatchObject({ ok: false })
    const told = (await refusals()).length
    await setup.peer.keep(setup.peer.subjects.cancel, { job_id: own.job_id })
    const last = await eventually('the cancellation is refused', async () => (await refusals())[told])
    expect(last).toMatchObject({ job_id: own.job_id, code: 'ENDED', subject: setup.peer.subjects.cancel })
    expect((await moves(own.job_id)).at(-1)).toEqual(['SUCCEEDED', 'worker:w1'])
    expect(await setup.pawl.get(own.job_id)).toMatchObject({ state: 'succeeded' })
  })
})
