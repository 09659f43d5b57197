/**
 * A dispatch is published only against places that workers have announced and nobody has been promised yet, so that no lease runs out inside
 * a stream: with a backlog, with two schedulers at once, and with workers that take longer than a lease.
 */
import { expect, it, onTestFinished } from 'vitest'
import { squadOf } from '../../src/bus/squad.ts'
import { consumerOf, streamsOf } from '../../src/bus/subjects.ts'
import type { PolicyInput } from '../../src/core/resolve.ts'
import { eventually } from '../support/eventually.ts'
import { describeOnNats, startNats } from '../support/nats.ts'
import { type MessageFate, startNatsRelay } from '../support/nats-relay.ts'
import { announce, busOver, type Dispatch, openMemory, Peer, policyFolder, TENANT } from './bus-fixture.ts'

const POOL = 'job.room'
const BACKLOG = 20
/** Each look at how much is under way is a round in which more could have been dispatched. */
const LOOKED = 3

/** A backlog that waits for room, schedulers that are led to NATS in this way, and who hears whatever they dispatch. */
async function withBacklog({ ways = [() => 'pass'], policy = {} }: Parameters) {
  const stack = new AsyncDisposableStack()
  onTestFinished(() => stack.disposeAsync())
  const nats = stack.use(await startNats())
  const allowing = stack.use(policyFolder('rules:\n  - { id: all, decision: allow }\n'))
  const pawl = stack.use(await openMemory({ policy: allowing.path }))
  await announce(pawl, POOL, policy)
  stack.use(await busOver(pawl, nats.url, { roles: new Set(['gateway']) }))
  for (const way of ways) {
    const relay = stack.use(await startNatsRelay(nats.url))
    relay.decide(way)
    stack.use(await busOver(pawl, relay.url, { roles: new Set(['scheduler']) }))
  }
  const peer = stack.use(await Peer.at(nats.url))
  const dispatches: Dispatch[] = []
  let looks = 0
  const hear = (subject: string, heard: (text: () => Dispatch) => void) =>
    peer.connection.subscribe(subject, { callback: (_, message) => heard(() => message.json()) })
  hear('pawl.acme.dispatch.>', (said) => void dispatches.push(said()))
  const { name } = consumerOf(TENANT, squadOf({ pool: POOL }))
  hear(`$JS.API.CONSUMER.INFO.${streamsOf(TENANT).dispatches}.${name}`, () => {
    looks += 1
  })
  for (let n = 0; n < BACKLOG; n += 1) await peer.submit({ job_id: `room-${n}`, topic: POOL })
  const waiting = async () => (await pawl.find({ states: ['queued'], limit: BACKLOG })).jobs
  await eventually('all wait', async () => (await waiting()).length === BACKLOG)
  const beat = (worker_id: string, free: number, jobs: readonly object[] = []) =>
    peer.ask(peer.subjects.heartbeat, { worker_id, pool: POOL, free, jobs })
  return {
    pawl,
    peer,
    beat,
    /** So many are out, and stay it in the rounds that come. */
    async areOut(count: number): Promise<readonly Dispatch[]> {
      await eventually(`${count} dispatches`, () => dispatches.length >= count)
      const since = looks
      await eventually('room is looked for again', () => looks >= since + LOOKED)
      expect(dispatches).toHaveLength(count)
      const { jobs } = await pawl.find({ limit: BACKLOG })
      expect(
        jobs.filter(({ attempt }) => attempt > 0),
        'claimed, by the store’s account',
      ).toHaveLength(count)
      return dispatches
    },
  }
}

interface Parameters {
  /** For each scheduler, what becomes of messages on its way. */
  readonly ways?: readonly ((subject: string) => MessageFate)[]
  readonly policy?: PolicyInput
}

describeOnNats('a pool with less room than jobs', () => {
  it('is dispatched what it has announced places for, one more for each that is free again, and no other', async () => {
    const { peer, beat, areOut } = await withBacklog({})
    await beat('w1', 2)
    await areOut(2)
    await beat('w1', 2)
    await areOut(2)
    const { job_id, fence } = await peer.begun(POOL, 'w1')
    // One of its places is taken, the other promised.
    await areOut(2)
    await beat('w2', 1)
    await areOut(3)
    await peer.ask(peer.subjects.result, { job_id, fence, worker_id: 'w1', status: 'SUCCEEDED' })
    await beat('w1', 2)
    await areOut(4)
  })

  it('is dispatched as many by two schedulers as by one, though what each of them publishes is on its way for long', async () => {
    const slow = (subject: string): MessageFate => (subject.startsWith('pawl.acme.dispatch.') ? 'late' : 'pass')
    const { beat, areOut } = await withBacklog({ ways: [slow, slow] })
    await beat('w1', 2)
    await areOut(2)
    await beat('w2', 3)
    await areOut(5)
  })

  it('counts a place as taken that is taken while it looks how much is under way', async () => {
    let looking = Promise.withResolvers<void>()
    const way = (subject: string): MessageFate => {
      if (!subject.startsWith('$JS.API.CONSUMER.INFO.')) return 'pass'
      looking.resolve()
      return 'late'
    }
    const { peer, beat, areOut } = await withBacklog({ ways: [way] })
    await beat('w1', 1)
    const [first] = await areOut(1)
    looking = Promise.withResolvers()
    await looking.promise
    const { job_id } = await peer.begun(POOL, 'w1')
    expect(job_id).toBe(first?.job_id)
    await areOut(1)
  })

  it('loses no lease of what waits behind a worker that takes longer than leases are', async () => {
    const { pawl, peer, beat, areOut } = await withBacklog({
      policy: { dialect: '002', lease: '2s', heartbeat: '500ms' },
    })
    await beat('w1', 1)
    const { job_id, fence } = await peer.begun(POOL, 'w1')
    const until = performance.now() + 4_200
    await eventually(
      'two leases are over',
      async () => {
        expect(await beat('w1', 0, [{ job_id, fence }])).toMatchObject({ jobs: [{ ok: true }] })
        return performance.now() > until
      },
      { everyMs: 300 },
    )
    await areOut(1)
    const { jobs } = await pawl.find({ limit: 2 * BACKLOG })
    expect(jobs.map(({ state }) => state).filter((state) => state !== 'queued')).toEqual(['running'])
    expect(jobs).toHaveLength(BACKLOG)
  })
})
