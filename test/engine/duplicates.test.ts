/** What a second enqueue under a dedupe key does, by where the first one is; on every store. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DuplicatesInput } from '../../src/core/duplicates.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { Holder, holderIn, type Whereabouts } from './holder.ts'
import { openAt, PLACES, type Place, STORES } from './opened.ts'

const WITHIN = 60_000

describe.each(STORES)('duplicates: %s', (name) => {
  let place: Place
  let pawl: Pawl
  beforeAll(async () => {
    place = await PLACES[name]()
    pawl = await openAt(place)
  })
  afterAll(async () => {
    await pawl.close()
    await place[Symbol.asyncDispose]()
  })
  const holder = (where: Whereabouts, dedupe: DuplicatesInput) => holderIn(pawl, where, dedupe)

  const notBegun = ['pending', 'delayed', 'queued'] as const
  const begun = ['claimed', 'running', 'retrying', 'queued again', 'parked', 'undoing its steps'] as const

  it.each([...notBegun, ...begun, 'succeeded'] as const)('keep: %s is returned as it is', async (state) => {
    const dedupe = { for: 'forever' } as const
    const first = await holder(state, dedupe)
    const before = await first.job()
    const second = await first.enqueue(2)
    expect(second).toMatchObject({ deduped: true, job: { id: first.id } })
    expect(second.effect).toBeUndefined()
    expect(await first.job()).toEqual(before)
  })

  it.each(notBegun)('replace: %s has the newer input, and its own time', async (state) => {
    const first = await holder(state, { onDuplicate: 'replace' })
    const { runAt } = await first.job()
    expect(await first.enqueue(2)).toMatchObject({ deduped: true, effect: 'replaced', job: { id: first.id } })
    expect(await first.enqueue(3)).toMatchObject({ effect: 'replaced' })
    expect(await pawl.body(first.id, 'input')).toEqual({ n: 3 })
    expect((await first.job()).runAt).toBe(runAt)
    const log = await pawl.events(first.id)
    expect(log.map(({ type }) => type)).toEqual(['enqueued', 'replaced', 'replaced'])
    await first.enqueue(4, { runAt: 4_000_000_000_000 })
    expect((await first.job()).runAt).toBe(4_000_000_000_000)
  })

  it('replace: a worker is given the newer input', async () => {
    const first = await holder('queued', { onDuplicate: 'replace' })
    await first.enqueue(2)
    const lanes = [{ tenant: 'default', queue: first.queue, priority: 5 }]
    const [given] = await pawl.engine.claim({ requestId: `claim ${first.id}`, workerId: 'w', lanes, limit: 1 })
    expect(given).toMatchObject({ input: undefined, inputLater: true })
    expect(await pawl.body(first.id, 'input')).toEqual({ n: 2 })
  })

  it.each(begun)('replace: of %s the newest is kept for the next', async (state) => {
    const first = await holder(state, { onDuplicate: 'replace' })
    const { runAt } = await first.job()
    expect(await first.enqueue(2)).toMatchObject({ deduped: true, effect: 'next', job: { id: first.id } })
    await first.enqueue(3)
    expect(await pawl.body(first.id, 'input')).toEqual({ n: 1 })
    expect((await first.job()).runAt).toBe(runAt)
    await first.say('cancel')
    const [next, ...others] = await first.live()
    expect(others).toEqual([])
    expect(next?.spec.dedupeKey).toBe('k')
    expect(await pawl.body(next?.id ?? '', 'input')).toEqual({ n: 3 })
    // The key is its own now.
    expect(await first.enqueue(4)).toMatchObject({ deduped: true, effect: 'replaced', job: { id: next?.id } })
    await expect(pawl.reopen(first.id)).rejects.toThrow('KEY_TAKEN')
  })

  it.each(notBegun)('debounce: %s is moved with each, up to a limit after the first', async (state) => {
    const first = await holder(state, { onDuplicate: 'debounce', within: WITHIN, atMost: 2 * WITHIN })
    const { spec } = await first.job()
    await first.enqueue(2)
    const { runAt = 0, updatedAt } = await first.job()
    expect(runAt).toBe(updatedAt + WITHIN)
    expect(runAt).toBeLessThanOrEqual(spec.createdAt + 2 * WITHIN)
    expect(await pawl.body(first.id, 'input')).toEqual({ n: 2 })
  })

  it('debounce: a new job waits, and runs at the latest so long after its first', async () => {
    const lone = new Holder(pawl, { onDuplicate: 'debounce', within: WITHIN, atMost: 10 })
    const { job } = await lone.enqueue(1)
    expect(job.runAt).toBe(job.spec.createdAt + WITHIN)
    await lone.enqueue(2)
    expect((await lone.job(job.id)).runAt).toBe(job.spec.createdAt + 10)
  })

  it.each(begun)('debounce: of %s the next has the moved time', async (state) => {
    const first = await holder(state, { onDuplicate: 'debounce', within: WITHIN })
    await first.enqueue(2)
    const { newer, updatedAt } = await first.job()
    expect(newer?.next?.runAt).toBe(updatedAt + WITHIN)
    await first.say('cancel')
    const [next] = await first.live()
    expect(next?.runAt).toBe(newer?.next?.runAt)
  })

  it.each(['forever', WITHIN] as const)(
    'where one has ended and its key is held (%s), nothing is kept',
    async (held) => {
      const first = await holder('succeeded', { for: held, onDuplicate: 'replace' })
      const before = await first.job()
      expect(await first.enqueue(2)).toMatchObject({ deduped: true, effect: 'ended', job: { id: first.id } })
      expect(await first.job()).toEqual(before)
      expect(await first.live()).toEqual([])
    },
  )

  it.each(['complete', 'deadLetter', 'cancel'] as const)(
    '%s enqueues the next, whose key it has, however long it is held',
    async (end) => {
      for (const held of ['live', 'forever', WITHIN] as const) {
        const first = await holder('running', { for: held, onDuplicate: 'replace' })
        await first.enqueue(2)
        await first.say(end)
        const [next] = await first.live()
        expect(await first.enqueue(3)).toMatchObject({ effect: 'replaced', job: { id: next?.id } })
      }
    },
  )

  it('a cancel that says so drops it; reopened, a job has not its next again', async () => {
    const first = await holder('running', { onDuplicate: 'replace' })
    await first.enqueue(2)
    await first.say('drop')
    expect(await first.live()).toEqual([])
    await first.say('reopen', 'cancel')
    expect(await first.live()).toEqual([])
  })

  it('a repeated call is answered as it was', async () => {
    const first = await holder('running', { onDuplicate: 'replace' })
    await first.enqueue(2, { requestId: 'twice' })
    const { rev } = await first.job()
    expect(await first.enqueue(2, { requestId: 'twice' })).toMatchObject({ replayed: true, job: { id: first.id } })
    expect((await first.job()).rev).toBe(rev)
  })
})
