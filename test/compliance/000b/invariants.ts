/** Document 000, part B: its invariants. */
import { expect, it } from 'vitest'
import { implementJob } from '../../../src/library/define-job.ts'
import { fault, fresh } from '../actor.ts'
import { disorder } from '../order.ts'
import type { Stage } from '../stage.ts'
import { bound, ENDED } from './jobs.ts'

export function invariants(stage: () => Stage): void {
  const actor = bound(stage)

  it('000B:104 at most one active lease at a time', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    expect(await each.claim('w2')).toBeUndefined()
    await each.refused(job.id, { type: 'heartbeat', fence: `${fence}0` }, 'STALE_FENCE')
    expect((await each.events(job.id)).filter(({ type }) => type === 'claimed')).toHaveLength(1)
  })

  it.each(Object.keys(ENDED) as (keyof typeof ENDED)[])('000B:105 no way leads from %s to running', async (state) => {
    const each = actor()
    const id = await ENDED[state](each)
    const fence = (await each.job(id)).lastClaim?.fence ?? '0.1.0000000000000000'
    await each.refused(id, { type: 'start', fence }, 'ENDED', 'STALE_FENCE')
    await each.refused(id, { type: 'reopen' }, 'DIALECT_FORBIDS')
    expect(await each.claim()).toBeUndefined()
  })

  it('000B:105 transitions are append-only: what was written stays as it was', async () => {
    const each = actor()
    const { job, fence } = await each.assigned()
    const before = await each.events(job.id)
    await each.must(job.id, { type: 'start', fence })
    await each.must(job.id, { type: 'complete', fence })
    const after = await each.events(job.id)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(disorder(after)).toEqual([])
  })

  it('000B:106 idempotency keys: one job, one assignment, one execution', async () => {
    const each = actor()
    const runs: string[] = []
    const job = implementJob(each.spec, (_, ctx) => void runs.push(ctx.job.id))
    const idempotencyKey = fresh('key')
    const handles = await Promise.all(
      Array.from({ length: 10 }, () => each.pawl.enqueue(each.spec, { n: 1 }, { idempotencyKey })),
    )
    expect(new Set(handles.map(({ id }) => id)).size).toBe(1)
    await using _ = each.pawl.work([job])
    const id = handles[0]?.id ?? ''
    await each.until(id, 'succeeded')
    const late = await each.pawl.enqueue(each.spec, { n: 1 }, { idempotencyKey })
    expect(late).toMatchObject({ id, replayed: true })
    expect(runs).toEqual([id])
  })

  it('000B:107 each transition records timestamp, actor, reason, correlation_id', async () => {
    const each = actor()
    const correlationId = fresh('correlation')
    const { job, fence } = await each.running({ correlationId })
    await each.must(job.id, { type: 'fail', fence, fault: fault('bad_request') })
    const entries = await each.log(job.id)
    expect(entries.map(({ state }) => state)).toEqual(['queued', 'assigned', 'running', 'failed'])
    for (const entry of entries) {
      expect(entry).toMatchObject({
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        actor: expect.stringMatching(/./),
        reason: expect.stringMatching(/./),
        correlation_id: correlationId,
      })
    }
  })
}
