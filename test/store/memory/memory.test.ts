import { beforeEach, describe, expect, it } from 'vitest'
import { openStage, type Stage } from '../../../src/store/conformance/stage.ts'
import { openMemoryStore } from '../../../src/store/memory/memory.ts'
import type { Hint, Transaction } from '../../../src/store/store.ts'
import { VirtualClock } from '../../engine/virtual-clock.ts'

let clock: VirtualClock
let stage: Stage

beforeEach(async () => {
  clock = new VirtualClock()
  const store = openMemoryStore({ clock })
  stage = await openStage({ store, advance: async (ms) => clock.advance(ms), close: () => store.close() }, {})
})

describe('a memory store', () => {
  it('cannot be changed through anything it gives out', async () => {
    const job = await stage.insertOne({ labels: { a: '1' }, keys: [] })
    const { jobs } = await stage.claim()
    const loaded = await stage.record(job.id)
    const [event] = await stage.events(job.id)
    for (const given of [loaded, loaded.spec, loaded.spec.labels, loaded.spec.kind.policy, jobs[0]?.before, event]) {
      expect(() => Object.assign(given as object, { hacked: 1 })).toThrow(TypeError)
    }
    await stage.expectFolds(job.id)
  })

  it('cannot be changed through anything it was given', async () => {
    const draft = stage.draft({ labels: { a: '1' } })
    const labels = { ...draft.job.spec.labels }
    const spec = { ...draft.job.spec, labels }
    await stage.store.insert([{ ...draft, job: { ...draft.job, spec } }])
    labels['a'] = 'changed'
    spec.correlationId = 'changed'
    await stage.expectRecord(draft.job, 'as it was given')
  })

  it('keeps one policy for all jobs that share it', async () => {
    const jobs = await stage.insert({}, {}, { policy: { maxAttempts: 9 } })
    const [a, b, c] = await Promise.all(jobs.map(({ id }) => stage.record(id)))
    expect(a?.spec.kind).toBe(b?.spec.kind)
    expect(a?.spec.kind).not.toBe(c?.spec.kind)
  })

  it('waits for a clock that is set back', async () => {
    const before = await stage.now()
    clock.set(-60_000)
    expect(await stage.now()).toBe(before)
    clock.set(60_001)
    expect(await stage.now()).toBe(before + 1)
  })

  it('answers in whole milliseconds whatever its clock says', async () => {
    clock.advance(0.75)
    expect(Number.isInteger(await stage.now())).toBe(true)
  })

  it('lets two hours pass in no time', async () => {
    const job = await stage.insertOne({ runAt: clock.now() + 2 * 3_600_000 })
    expect((await stage.claim()).jobs).toEqual([])
    await stage.seat.advance(2 * 3_600_000)
    expect((await stage.claim()).jobs[0]?.before.id).toBe(job.id)
  })

  it('refuses to take part in a transaction it cannot join', async () => {
    const tx: Transaction = { query: async () => ({ rows: [] }) }
    await expect(stage.store.insert([stage.draft()], tx)).rejects.toThrow('transaction')
    await expect(stage.store.commit([], tx)).rejects.toThrow('transaction')
  })

  it('refuses ids and cursors that are not its own', async () => {
    const draft = stage.draft()
    const strange = { ...draft, job: { ...draft.job, id: 'job-1' }, event: { ...draft.event, jobId: 'job-1' } }
    await expect(stage.store.insert([strange])).rejects.toThrow('job-1')
    await expect(stage.store.find({ order: 'newest', limit: 1, cursor: 'x' })).rejects.toThrow('cursor')
    const types = { by: 'type', types: ['enqueued'], from: 0, to: 1, limit: 1 } as const
    await expect(stage.store.events({ ...types, cursor: 'x' })).rejects.toThrow('cursor')
    await expect(stage.store.events({ by: 'feed', after: 'x', limit: 1 })).rejects.toThrow('position')
  })

  it('lets the feed go with the jobs it told of, and keeps its positions', async () => {
    const [a, b] = await stage.insert({}, {})
    const { end } = await stage.feed()
    for (const job of [a, b]) {
      if (job === undefined) continue
      const ended = await stage.say(job, { type: 'cancel', mode: 'hard' })
      await stage.commit({ kind: 'purge', before: ended })
    }
    expect((await stage.feed()).items).toEqual([])
    await stage.insertOne()
    expect(Number((await stage.feed()).items[0]?.position)).toBeGreaterThan(Number(end))
  })

  it('tells a queue of work that comes with a change, and of successors', async () => {
    const heard: Hint[] = []
    await using _subscription = await stage.store.subscribe((hint) => heard.push(hint))
    const job = await stage.insertOne({ queue: 'a' })
    const spawn = stage.draft({ queue: 'b' })
    await stage.apply(stage.change(job, { type: 'cancel', mode: 'hard' }, stage.begin, { spawn }))
    const queues = heard.flatMap((hint) => (hint.about === 'queue' ? [hint.queue] : []))
    expect(queues).toEqual(['a', 'b'])
  })
})
