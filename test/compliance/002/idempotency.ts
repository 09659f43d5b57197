/** Document 002: repetitions and late results. */
import { expect, it } from 'vitest'
import { Refused } from '../../../src/library/errors.ts'
import { fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, PASS } from './jobs.ts'

export function idempotency(stage: () => Stage): void {
  const { at, stateOf } = jobsOn(stage)

  it('002:61 setting the same state twice is allowed, and changes nothing', async () => {
    const { actor: each, id, fence } = await at('RUNNING')
    const before = await each.job(id)
    expect(await each.must(id, { type: 'start', fence })).toMatchObject({ replayed: true, rev: before.rev })
    await each.must(id, { type: 'complete', fence, resultPtr: 'mem://a' })
    expect(await each.must(id, { type: 'complete', fence, resultPtr: 'mem://a' })).toMatchObject({ replayed: true })
    expect((await each.events(id)).filter(({ type }) => type === 'succeeded')).toHaveLength(1)
  })

  it('002:33 002:61 backwards transitions are rejected', async () => {
    const { actor: each, id, fence } = await at('RUNNING')
    await each.refused(id, { type: 'admit', ...PASS }, 'ILLEGAL_TRANSITION')
    await each.refused(id, { type: 'release', fence, reason: 'handed_back' }, 'DIALECT_FORBIDS')
    await each.refused(id, { type: 'reschedule', runAt: 0 }, 'DIALECT_FORBIDS', 'ILLEGAL_TRANSITION')
  })

  it('002:62 a JobResult for a job that has ended is logged, and overwrites nothing', async () => {
    const run = await at('CANCELLED')
    const late = { type: 'complete', fence: run.fence, resultPtr: 'mem://late' } as const
    await run.actor.refused(run.id, late, 'ENDED', 'STALE_FENCE')
    await run.actor.refused(run.id, late, 'ENDED', 'STALE_FENCE')
    const { annotations } = await run.actor.pawl.events({ by: 'annotation', id: run.id })
    const outcome = { state: 'succeeded', resultPtr: 'mem://late' }
    expect(annotations).toMatchObject([{ jobId: run.id, command: 'complete', attempt: 1, outcome }])
    expect(await stateOf(run)).toBe('CANCELLED')
  })

  it('002:62 a late FAILED is logged with its error, beside what is there', async () => {
    const run = await at('SUCCEEDED')
    const late = { type: 'fail', fence: run.fence, fault: fault('E_LATE'), executionMs: 7 } as const
    await run.actor.refused(run.id, late, 'ENDED', 'STALE_FENCE')
    const { annotations } = await run.actor.pawl.events({ by: 'annotation', id: run.id })
    const error = { code: 'E_LATE', message: 'it was E_LATE' }
    expect(annotations).toMatchObject([{ command: 'fail', outcome: { state: 'failed', error, executionMs: 7 } }])
    expect((await run.actor.view(run.id))['JobResult']).toMatchObject({
      status: 'SUCCEEDED',
      result_ptr: 'mem://out/1',
    })
  })

  it('002:61 what was refused is thrown with its reason', async () => {
    const { actor: each, id } = await at('SUCCEEDED')
    const error = await each.pawl.cancel(id).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(Refused)
    expect((await each.view(id))['state']).toBe('SUCCEEDED')
  })
}
