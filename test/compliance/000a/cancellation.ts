/** Document 000, part A: soft and hard cancels. */
import { expect, it } from 'vitest'
import { implementJob } from '../../../src/library/define-job.ts'
import { eventually } from '../../support/eventually.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { BEATS, bound } from './jobs.ts'

export function cancellation(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:41 soft: the signal is delivered, the worker checkpoints and ends', async () => {
    const each = actor({}, BEATS)
    const job = implementJob(each.spec, async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      await ctx.checkpoint({ page: 7 })
      ctx.signal.throwIfAborted()
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue()
    await each.until(id, 'running')
    await each.pawl.cancel(id, { mode: 'soft', reason: 'enough' })
    const ended = await each.until(id, 'cancelled')
    expect(ended.cancel).toMatchObject({ mode: 'soft', reason: 'enough', acknowledgedAt: expect.any(Number) })
    expect(await each.pawl.body(id, 'checkpoint')).toEqual({ page: 7 })
    expect(await each.view(id)).toMatchObject({ state: 'cancelled' })
  })

  it('000A:41 soft: the owner is told with its next heartbeat, and goes on until it ends', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'cancel', mode: 'soft', reason: 'enough' })
    expect(await each.job(job.id)).toMatchObject({ state: 'running', cancel: { deliveredAt: undefined } })
    const [beat] = await each.pawl.engine.heartbeat([{ id: job.id, fence, requestId: fresh('beat') }])
    expect(beat).toMatchObject({ ok: true, cancel: { mode: 'soft', reason: 'enough' } })
    expect((await each.job(job.id)).cancel).toMatchObject({ deliveredAt: expect.any(Number) })
  })

  it('000A:42 hard: cancelled at once; what the worker says afterwards counts for nothing', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'cancel', mode: 'hard' })
    expect(await each.view(job.id)).toMatchObject({ state: 'cancelled' })
    await each.refused(job.id, { type: 'complete', fence }, 'STALE_FENCE', 'ENDED')
    await each.refused(job.id, { type: 'record', fence, artifact: { name: 'late', ptr: 'p' } }, 'STALE_FENCE', 'ENDED')
  })

  it('000A:42 hard: the signal of the handler aborts', async () => {
    const each = actor({}, BEATS)
    const aborted: unknown[] = []
    const job = implementJob(each.spec, async (_, ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      aborted.push(ctx.signal.reason)
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue()
    await each.until(id, 'running')
    await each.pawl.cancel(id, { mode: 'hard' })
    await eventually('the handler to be told', () => aborted.length > 0)
    expect((await each.job(id)).state).toBe('cancelled')
  })
}
