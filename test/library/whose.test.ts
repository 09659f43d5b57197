import { describe, expect, it } from 'vitest'
import { defineJob, defineSpec, Refused } from '../../src/index.ts'
import { openAt, PLACES } from '../engine/opened.ts'

const note = defineSpec({ type: 'note' })

describe('who acts', () => {
  it('is whom `open` names, for every call that says nothing else', async () => {
    await using pawl = await openAt(await PLACES.memory(), { actor: 'api' })
    const job = await pawl.enqueue(note, 1)
    const [many] = await pawl.enqueueMany(note, [2])
    await job.reschedule({ delay: '1h' })
    await job.signal('hello')
    await job.cancel()
    await job.reopen()
    await pawl.cancel(job.id, { actor: 'ann' })
    await pawl.redrive({ states: ['cancelled'] })
    const told = (await job.events()).map(({ type, actor }) => `${type} by ${actor}`)
    expect(told).toEqual([
      'enqueued by api',
      'rescheduled by api',
      'signal_stored by api',
      'cancelled by api',
      'reopened by api',
      'cancelled by ann',
      'reopened by api',
    ])
    expect((await many?.events())?.[0]?.actor).toBe('api')
    const own = await pawl.enqueue(note, 3, { actor: 'bob' })
    expect((await own.events())[0]?.actor).toBe('bob')
    await pawl.pause('default')
    expect(await job.explain()).toMatchObject({ way: 'paused', who: 'api' })
  })

  it('is the producer, and the operator, where `open` names nobody', async () => {
    await using pawl = await openAt(await PLACES.memory())
    const job = await pawl.enqueue(note, 1)
    await job.cancel()
    expect((await job.events()).map(({ actor }) => actor)).toEqual(['producer', 'operator'])
  })

  it('is its worker, where a handler spawns', async () => {
    await using pawl = await openAt(await PLACES.memory(), { actor: 'api' })
    const parent = defineJob({ type: 'parent', run: (_: undefined, ctx) => ctx.spawn(note, 1) })
    await using _worker = pawl.work([parent], { id: 'w1' })
    const child = await (await pawl.enqueue(parent)).result({ timeout: '30s' })
    expect((await pawl.events(child))[0]?.actor).toBe('worker:w1')
  })
})

describe('whose jobs', () => {
  it('are those of the tenant that `open` names, for every call', async () => {
    await using place = await PLACES.sqlite()
    await using acme = await openAt(place, { tenant: 'acme' })
    await using rival = await openAt(place, { tenant: 'rival' })
    await using everybody = await openAt(place)
    const echo = defineJob({ type: 'echo', run: (input: number) => input })
    await using _worker = acme.work([echo])
    const own = await acme.enqueue(echo, 1, { id: 'one', labels: { site: 'x' } })
    const theirs = await rival.enqueue(echo, 2, { id: 'one', labels: { site: 'x' } })
    expect(await own.result({ timeout: '30s' })).toBe(1)
    expect((await own.job())?.spec.kind.tenant).toBe('acme')
    expect((await acme.get('one'))?.id).toBe(own.id)
    expect((await rival.get('one'))?.id).toBe(theirs.id)
    // Nobody works for the rival.
    expect(await theirs.state()).toBe('queued')

    for (const id of [theirs.id]) {
      expect(await acme.get(id)).toBeUndefined()
      expect(await acme.body(id, 'input')).toBeUndefined()
      expect(await acme.events(id)).toEqual([])
      await expect(acme.result(id, { timeout: 60_000 })).rejects.toBeInstanceOf(Refused)
      await expect(acme.explain(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(acme.cancel(id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
      await expect(acme.signal(id, 's')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    }
    const seen = async (pawl: typeof acme) => (await pawl.find()).jobs.map(({ id }) => id)
    expect([await seen(acme), await seen(rival)]).toEqual([[own.id], [theirs.id]])
    expect(new Set(await seen(everybody))).toEqual(new Set([own.id, theirs.id]))
    const feed = await rival.events({ after: '' })
    expect(new Set(feed.feed.map(({ jobId }) => jobId))).toEqual(new Set([theirs.id]))
    const { tally } = await rival.events({ by: 'tally' })
    expect(new Set(tally.map(({ tenant }) => tenant))).toEqual(new Set(['rival']))
    const typed = { by: 'type', types: ['enqueued'], from: 0, to: Number.MAX_SAFE_INTEGER, limit: 9 } as const
    expect((await acme.events(typed)).events.map(({ jobId }) => jobId)).toEqual([own.id])
    expect((await rival.events({ by: 'job', id: own.id, afterRev: 0, limit: 9 })).events).toEqual([])
    await rival.cancel('one')
    expect(await acme.redrive({ states: ['cancelled'] })).toMatchObject({ matched: 0 })
    expect(await rival.redrive({ states: ['cancelled'] })).toMatchObject({ matched: 1, reopened: 1 })
    expect((await acme.verify()).discrepancies).toEqual([])
    expect(await everybody.get(own.id)).toBeDefined()
    expect((await everybody.get('one', { tenant: 'acme' }))?.id).toBe(own.id)
  })
})
