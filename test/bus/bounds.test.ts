/** How much a tenant may have of everything over the bus: what HTTP bounds is bounded here, and told by the same names. */
import { jetstreamManager } from '@nats-io/jetstream'
import { expect, it } from 'vitest'
import { streamsOf } from '../../src/bus/subjects.ts'
import { realClock } from '../../src/system/clock.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { busOver, onBus, openMemory, Peer } from './bus-fixture.ts'

describeOnNats('a bus with little room', () => {
  const { setup, there, refused, beat } = onBus({
    caps: { queuesPerTenant: 2, workersPerTenant: 2, lanesPerToken: 30 },
  })

  it('has so many queues: a topic that would be one more is refused', async () => {
    for (const n of [1, 2, 3]) await setup.peer.submit({ job_id: `named-${n}`, topic: `job.n${n}` })
    expect(await refused('named-3')).toMatchObject({ code: 'FULL', cap: 'queuesPerTenant', most: 2 })
    await setup.peer.submit({ job_id: 'again', topic: 'job.n1' })
    await there('again')
  })

  it('has so many workers, and looks at so many lanes for them; who is there goes on', async () => {
    expect(await beat('a', { worker_id: 'w1' })).toMatchObject({ ok: true })
    const many = ['a', 'b', 'c', 'd'].map((topic) => `job.${topic}`)
    expect(await beat('a', { worker_id: 'w2', topics: many })).toMatchObject({ ok: false, cap: 'lanesPerToken' })
    expect(await beat('a', { worker_id: 'w2' })).toMatchObject({ ok: true })
    expect(await beat('a', { worker_id: 'w3', jobs: [] })).toEqual({
      ok: false,
      code: 'FULL',
      message: 'At most 2 workers that have told of themselves per tenant.',
      next: expect.stringContaining('docs/limits.md'),
      cap: 'workersPerTenant',
      most: 2,
      retry_after_ms: 30_000,
      jobs: [],
    })
    expect(await beat('a', { worker_id: 'w1' })).toMatchObject({ ok: true })
  })

  it('leaves to a worker the name it has over HTTP', async () => {
    const put = {
      op: 'put',
      collection: 'worker',
      key: '["acme","w1"]',
      text: '{"token":"t"}',
      rev: undefined,
    } as const
    await setup.pawl.engine.settings([put])
    await eventually('it is looked at again', async () => {
      const { code } = await beat('b', { worker_id: 'w1' })
      return code === 'FORBIDDEN'
    })
  })

  it.each([
    ['a call', () => setup.peer.ask(setup.peer.subjects.start, { job_id: 'x'.repeat(200_000) })],
    ['a member nobody knows', () => setup.peer.ask(setup.peer.subjects.start, { colour: 'red' })],
  ])('refuses %s that is too large, or unknown, and says why', async (_, asked) => {
    expect(await asked()).toMatchObject({ ok: false, code: 'INVALID', violations: expect.any(Array) })
  })

  it('lets NATS refuse a message that is too large to be one', async () => {
    const large = { job_id: 'large', topic: 'job.n1', context_ptr: 'x'.repeat(200_000) }
    await expect(setup.peer.submit(large)).rejects.toThrow('message size exceeds maximum allowed')
  })
})

describeOnNats('what comes too fast over a bus', () => {
  it('waits in its stream, up to so many, and is taken at its pace', async () => {
    await using nats = await startNats()
    await using pawl = await openMemory()
    let ms = 0
    const clock = { now: () => realClock.now(), monotonicMs: () => ms }
    const caps = { itemsPerSecond: 10, itemsAtOnce: 2, busMessages: 3 }
    await using peer = await Peer.at(nats.url)
    const submit = (n: number) => peer.submit({ job_id: `fast-${n}`, topic: 'job.fast' })
    await using _bus = await busOver(pawl, nats.url, { caps, clock, roles: new Set(['gateway']) })
    for (const n of [1, 2, 3, 4]) {
      await submit(n)
      await eventually(`fast-${n}`, () => pawl.get(`fast-${n}`))
    }
    // A stretch is taken and paid for, another is taken and owed: then nothing is taken, whatever comes.
    for (const n of [5, 6, 7]) await submit(n)
    await expect(submit(8)).rejects.toThrow('maximum messages exceeded')
    const { consumers } = await jetstreamManager(peer.connection)
    expect(await consumers.info(streamsOf('acme').submissions, 'submit')).toMatchObject({ num_pending: 3 })
    expect(await pawl.get('fast-5')).toBeUndefined()
    ms += 1_000
    await eventually('fast-6', () => pawl.get('fast-6'))
  })
})
