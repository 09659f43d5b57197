import { beforeEach, describe, expect, it } from 'vitest'
import { openStoreFixture, type StoreFixture } from '../../../src/store/conformance/store-fixture.ts'
import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import type { Hint, Transaction } from '../../../src/store/store.ts'
import { VirtualClock } from '../../engine/virtual-clock.ts'

let clock: VirtualClock
let fixture: StoreFixture

beforeEach(async () => {
  clock = new VirtualClock()
  const store = openMemoryStore({ clock })
  fixture = await openStoreFixture({ store, advance: async (ms) => clock.advance(ms), close: () => store.close() }, {})
})

describe('a memory store', () => {
  it('cannot be changed through anything it gives out', async () => {
    const job = await fixture.insertOne({ labels: { a: '1' }, keys: [] })
    const { jobs } = await fixture.claim()
    const loaded = await fixture.record(job.id)
    const [event] = await fixture.events(job.id)
    for (const given of [loaded, loaded.spec, loaded.spec.labels, loaded.spec.kind.policy, jobs[0]?.before, event]) {
      expect(() => Object.assign(given as object, { hacked: 1 })).toThrow(TypeError)
    }
    await fixture.expectFolds(job.id)
  })

  it('cannot be changed through anything it was given', async () => {
    const draft = fixture.draft({ labels: { a: '1' } })
    const labels = { ...draft.job.spec.labels }
    const spec = { ...draft.job.spec, labels }
    await fixture.store.insert([{ ...draft, job: { ...draft.job, spec } }])
    labels['a'] = 'changed'
    spec.correlationId = 'changed'
    await fixture.expectRecord(draft.job, 'as it was given')
  })

  it('keeps one policy for all jobs that share it', async () => {
    const jobs = await fixture.insert({}, {}, { policy: { maxAttempts: 9 } })
    const [a, b, c] = await Promise.all(jobs.map(({ id }) => fixture.record(id)))
    expect(a?.spec.kind).toBe(b?.spec.kind)
    expect(a?.spec.kind).not.toBe(c?.spec.kind)
  })

  it('waits for a clock that is set back', async () => {
    const before = await fixture.now()
    clock.set(-60_000)
    expect(await fixture.now()).toBe(before)
    clock.set(60_001)
    expect(await fixture.now()).toBe(before + 1)
  })

  it('answers in whole milliseconds whatever its clock says', async () => {
    clock.advance(0.75)
    expect(Number.isInteger(await fixture.now())).toBe(true)
  })

  it('lets two hours pass in no time', async () => {
    const job = await fixture.insertOne({ runAt: clock.now() + 2 * 3_600_000 })
    expect((await fixture.claim()).jobs).toEqual([])
    await fixture.setup.advance(2 * 3_600_000)
    expect((await fixture.claim()).jobs[0]?.before.id).toBe(job.id)
  })

  it('refuses to take part in a transaction it cannot join', async () => {
    const tx: Transaction = { query: async () => ({ rows: [] }) }
    await expect(fixture.store.insert([fixture.draft()], tx)).rejects.toThrow('transaction')
    await expect(fixture.store.commit([], tx)).rejects.toThrow('transaction')
  })

  it('refuses ids and cursors that are not its own', async () => {
    const draft = fixture.draft()
    const strange = { ...draft, job: { ...draft.job, id: 'job-1' }, event: { ...draft.event, jobId: 'job-1' } }
    await expect(fixture.store.insert([strange])).rejects.toThrow('job-1')
    await expect(fixture.store.find({ order: 'newest', limit: 1, cursor: 'x' })).rejects.toThrow('cursor')
    const types = { by: 'type', types: ['enqueued'], from: 0, to: 1, limit: 1 } as const
    await expect(fixture.store.events({ ...types, cursor: 'x' })).rejects.toThrow('cursor')
    await expect(fixture.store.events({ by: 'feed', after: 'x', limit: 1 })).rejects.toThrow('position')
  })

  it('lets the feed go with the jobs it told of, and keeps its positions', async () => {
    const [a, b] = await fixture.insert({}, {})
    const { end } = await fixture.feed()
    for (const job of [a, b]) {
      if (job === undefined) continue
      const ended = await fixture.say(job, { type: 'cancel', mode: 'hard' })
      await fixture.commit({ kind: 'purge', before: ended })
    }
    expect((await fixture.feed()).items).toEqual([])
    await fixture.insertOne()
    expect(Number((await fixture.feed()).items[0]?.position)).toBeGreaterThan(Number(end))
  })

  it('tells a queue of work that comes with a change, and of successors', async () => {
    const heard: Hint[] = []
    await using _subscription = await fixture.store.subscribe((hint) => heard.push(hint))
    const job = await fixture.insertOne({ queue: 'a' })
    const spawn = fixture.draft({ queue: 'b' })
    await fixture.apply(fixture.change(job, { type: 'cancel', mode: 'hard' }, fixture.begin, { spawn }))
    const queues = heard.flatMap((hint) => (hint.about === 'queue' ? [hint.queue] : []))
    expect(queues).toEqual(['a', 'b'])
  })
})
