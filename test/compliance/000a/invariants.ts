/** Document 000, part A: its five invariants. */
import { expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { type Actor, fault, fresh } from '../actor.ts'
import { disorder } from '../order.ts'
import type { Stage } from '../stage.ts'
import { bound, ENDED, SHORT, STATES } from './jobs.ts'

export function invariants(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:25 at most one active lease: nobody else is given the job while it lasts', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    expect(await Promise.all(['w1', 'w2', 'w3'].map((worker) => each.claim(worker)))).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    await each.refused(job.id, { type: 'heartbeat', fence: `${fence}0` }, 'STALE_FENCE')
  })

  it('000A:26 no backward transitions: running → queued is forbidden within an attempt', async () => {
    const each = actor()
    const { job } = await each.running()
    await each.refused(job.id, { type: 'requeue' }, 'ILLEGAL_TRANSITION')
    await each.refused(job.id, { type: 'stall' }, 'NOT_DUE')
    await each.refused(job.id, { type: 'reschedule', runAt: 0 }, 'DIALECT_FORBIDS', 'ILLEGAL_TRANSITION')
  })

  it.each(ENDED)('000A:27 exactly one event per transition, in their order: up to %s', async (state) => {
    const each = actor()
    const events = await each.events(await STATES[state](each))
    expect(disorder(events)).toEqual([])
    const moves = events.filter(({ seq }) => seq !== undefined)
    expect(new Set(moves.map(({ to }) => to)).size).toBe(moves.length)
  })

  it('000A:28 a transition requested again under its key has no side effects', async () => {
    const each = actor()
    const once = async (id: string, words: Parameters<Actor['say']>[1]) => {
      const requestId = fresh('key')
      const first = await each.must(id, { ...words, requestId })
      const before = [await each.job(id), await each.events(id)]
      expect(await each.must(id, { ...words, requestId })).toMatchObject({ replayed: true, rev: first.rev })
      expect([await each.job(id), await each.events(id)]).toEqual(before)
    }
    const { job, fence } = await each.assigned()
    await once(job.id, { type: 'start', fence })
    await once(job.id, { type: 'heartbeat', fence })
    await once(job.id, { type: 'cancel', mode: 'soft' })
    await once(job.id, { type: 'complete', fence })
    const other = await each.running()
    await once(other.job.id, { type: 'fail', fence: other.fence, fault: fault('bad_request') })
    await once(await STATES.running(each), { type: 'cancel', mode: 'hard' })
    await once(await STATES.running(each), { type: 'deadLetter', reason: 'timeout', stage: 'exec' })
    const requestId = fresh('key')
    const enqueued = await each.pawl.enqueue(each.spec, 1, { requestId })
    expect(await each.pawl.enqueue(each.spec, 1, { requestId })).toMatchObject({ id: enqueued.id, replayed: true })
  })

  it('000A:29 a lease that is not renewed before its expiry is forfeited (lease shortened)', async () => {
    const each = actor({}, SHORT)
    const { job, fence } = await each.assigned()
    await eventually('the lease to be over', () => each.pawl.engine.now() >= (job.lease?.expiresAt ?? 0))
    await each.pawl.get(job.id)
    for (const words of [
      { type: 'start', fence },
      { type: 'heartbeat', fence },
      { type: 'complete', fence },
    ] as const)
      expect(await each.say(job.id, words)).toMatchObject({
        ok: false,
        refusal: { code: expect.stringMatching(/^(LEASE_EXPIRED|STALE_FENCE)$/) },
      })
    expect((await each.job(job.id)).startedAt).toBeUndefined()
    await each.until(job.id, 'queued')
    for (const type of ['start', 'heartbeat', 'complete'] as const)
      await each.refused(job.id, { type, fence }, 'STALE_FENCE')
  })
}
