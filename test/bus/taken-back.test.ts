/** A dispatch that nobody has begun, by what the job's policy knows: handed back by who could not publish it, queued again, or over. */
import { expect, it, onTestFinished } from 'vitest'
import type { PolicyInput } from '../../src/core/resolve.ts'
import { defineSpec } from '../../src/library/define-job.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { startNatsRelay } from '../support/nats-relay.ts'
import { announce, busOver, openMemory, Peer } from './bus-fixture.ts'

const POOL = 'job.loose'

/** One who is gateway for as long as the test, and schedulers that come and go; dispatches of theirs are lost for as long as that is said. */
async function platform() {
  const stack = new AsyncDisposableStack()
  onTestFinished(() => stack.disposeAsync())
  const nats = stack.use(await startNats())
  const relay = stack.use(await startNatsRelay(nats.url))
  const pawl = stack.use(await openMemory())
  stack.use(await busOver(pawl, nats.url, { roles: new Set(['gateway']) }))
  const peer = stack.use(await Peer.at(nats.url))
  const types = async (id: string) =>
    (await pawl.events(id)).map(({ type, actor, reason }) => [type, actor, ...(reason === undefined ? [] : [reason])])
  return {
    pawl,
    peer,
    types,
    lose: (lost: boolean) =>
      relay.decide((subject) => (lost && subject.startsWith('pawl.acme.dispatch.') ? 'drop' : 'pass')),
    scheduler: () => busOver(pawl, relay.url, { roles: new Set(['scheduler']) }),
    /** Its worker says that it has room, until what was waiting for it is out. */
    async claimed(id: string) {
      await eventually(
        `${id} is claimed`,
        async () => {
          await peer.ask(peer.subjects.heartbeat, { worker_id: 'w1', pool: POOL, free: 1 })
          return (await pawl.get(id))?.state === 'claimed'
        },
        { everyMs: 200 },
      )
    },
    comesTo: (id: string, state: string) =>
      eventually(`${id} is ${state}`, async () => (await pawl.get(id))?.state === state),
    /** Of a policy of its own, and in the queue that the pool takes from. */
    enqueued: async (policy: Pick<PolicyInput, 'lease' | 'heartbeat'>) =>
      (await pawl.enqueue(defineSpec({ ...policy, type: 'loose', queue: POOL }), { n: 1 })).id,
    /** Begun and ended by the worker. */
    async done(id: string) {
      const { job_id, fence, ...said } = await peer.begun(POOL, 'w1')
      expect(job_id).toBe(id)
      await peer.keep(peer.subjects.result, { job_id, fence, worker_id: 'w1', status: 'SUCCEEDED' })
      await eventually('its end', async () => (await pawl.get(id))?.state === 'succeeded')
      return said
    },
  }
}

describeOnNats('a dispatch that nobody has begun', () => {
  it('is handed back by a scheduler that ends and could not publish it, and dispatched by the next', async () => {
    const { pawl, types, lose, scheduler, claimed, enqueued, done } = await platform()
    lose(true)
    const id = await enqueued({})
    const first = await scheduler()
    await claimed(id)
    await first[Symbol.asyncDispose]()
    expect(await pawl.get(id)).toMatchObject({ state: 'queued' })
    lose(false)
    await using _next = await scheduler()
    await claimed(id)
    expect(await done(id)).toMatchObject({ input: { n: 1 } })
    expect(await types(id)).toEqual([
      ['enqueued', 'producer'],
      ['claimed', 'system:scheduler'],
      ['released', 'system:scheduler', 'handed_back'],
      ['claimed', 'system:scheduler'],
      ['started', 'worker:w1'],
      ['succeeded', 'worker:w1'],
    ])
  })

  it('stays what it is where its document has no way back: its lease ends, it is TIMEOUT, and its successor is run', async () => {
    const { pawl, peer, lose, scheduler, claimed, comesTo, done } = await platform()
    await announce(pawl, POOL, { lease: '4s', heartbeat: '1s' })
    lose(true)
    await peer.submit({ job_id: 'bound', topic: POOL })
    await eventually('bound', () => pawl.get('bound'))
    await pawl.admit('bound')
    const first = await scheduler()
    await claimed('bound')
    await first[Symbol.asyncDispose]()
    expect(await pawl.get('bound')).toMatchObject({ state: 'claimed' })
    await comesTo('bound', 'timed_out')
    lose(false)
    const { id } = (await pawl.get('bound')) ?? {}
    const [successor] = (await pawl.find({ parentId: id })).jobs
    expect(successor).toMatchObject({ state: 'pending' })
    await pawl.admit(successor?.id ?? '')
    await using _next = await scheduler()
    await claimed(successor?.id ?? '')
    await done(successor?.id ?? '')
  })

  it('is queued again when its lease is over, where its policy says so; who had it in hand begins nothing', async () => {
    const { peer, types, scheduler, claimed, enqueued, done } = await platform()
    await using _scheduler = await scheduler()
    const id = await enqueued({ lease: '1s', heartbeat: '400ms' })
    await claimed(id)
    const { job_id, fence } = await peer.dispatched(POOL)
    expect(job_id).toBe(id)
    await eventually('it is taken back', async () => (await types(id)).some(([type]) => type === 'requeued'))
    const late = await peer.ask(peer.subjects.start, { job_id, fence, worker_id: 'w1' })
    expect(late).toMatchObject({ ok: false, code: 'STALE_FENCE' })
    await claimed(id)
    await done(id)
    expect((await types(id)).map(([type]) => type)).toEqual([
      'enqueued',
      'claimed',
      'stalled',
      'requeued',
      'claimed',
      'started',
      'succeeded',
    ])
  })
})
