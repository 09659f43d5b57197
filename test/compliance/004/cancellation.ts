/** Document 004: from where, and what stays. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import type { Stage } from '../stage.ts'
import { jobsOn } from './jobs.ts'

export function cancellation(stage: () => Stage): void {
  const { actor, at } = jobsOn(stage)

  it.each(['queued', 'running'])('004:50 from %s', async (state) => {
    const each = actor()
    const id = await at(state, each)
    await each.must(id, { type: 'cancel', mode: 'hard' })
    expect(await each.view(id)).toMatchObject({ state: 'canceled' })
    expect(deriveDialect('004', await each.log(id))).toMatchObject({ status: 'canceled', violations: [] })
  })

  it('004:50 not from retry_pending', async () => {
    const each = actor({ retry: { base: '1h', max: '1h', jitter: 'none' } })
    await each.refused(await at('retry_pending', each), { type: 'cancel', mode: 'hard' }, 'DIALECT_FORBIDS')
  })

  it.each(['succeeded', 'failed'])('004:50 not from %s', async (state) => {
    const each = actor()
    await each.refused(await at(state, each), { type: 'cancel', mode: 'hard' }, 'ENDED')
  })

  it('004:51 canceled_at is set, and what was done so far stays', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'progress', fence, counters: { documents_emitted: 4 } })
    await each.must(job.id, { type: 'record', fence, artifact: { name: 'page-1', ptr: 's3://p1' } })
    await each.must(job.id, { type: 'cancel', mode: 'hard' })
    const ended = await each.job(job.id)
    expect(await each.view(job.id)).toMatchObject({
      canceled_at: new Date(ended.endedAt ?? 0).toISOString(),
      documents_emitted: 4,
    })
    expect(ended.artifacts).toEqual({ 'page-1': 's3://p1' })
  })
}
