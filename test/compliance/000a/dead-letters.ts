/** Document 000, part A: the reasons and fields of dead letters. */
import { expect, it } from 'vitest'
import { z } from 'zod'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { DEAD_LETTER_REASONS } from '../../../src/core/job.ts'
import { ValidationError } from '../../../src/core/thrown.ts'
import { defineJob, implementJob } from '../../../src/library/define-job.ts'
import { fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound, strict } from './jobs.ts'

/** The document's own list. */
const REASONS = [
  'parse_error',
  'validation_failed',
  'dependency_unavailable',
  'timeout',
  'exhausted_retries',
  'policy_violation',
  'infrastructure_failure',
  'compensation_failed',
] as const

export function deadLetters(stage: () => Stage): void {
  const actor = bound(stage)

  it.each(REASONS)('000A:45 staged reason %s', async (reason) => {
    const each = actor()
    const { job } = await each.running()
    await each.must(job.id, { type: 'deadLetter', reason, stage: 'commit' })
    expect(await each.view(job.id)).toMatchObject({ state: 'dead_lettered', reason_code: reason })
    expect((await each.job(job.id)).deadLetter?.stage).toBe('commit')
  })

  it('000A:45 the eight reasons are all there are', async () => {
    expect([...DEAD_LETTER_REASONS].sort()).toEqual([...REASONS].sort())
    const each = actor()
    const { id } = await each.enqueue()
    await each.refused(id, { type: 'deadLetter', reason: 'bad_mood' as 'timeout', stage: 'exec' }, 'INVALID')
  })

  it.each([
    ['network_error', 'exhausted_retries'],
    ['qdrant_unavailable', 'dependency_unavailable'],
    ['E_TIMEOUT', 'timeout'],
  ] as const)('000A:45 spent on %s, the reason is %s', async (code, reason) => {
    const each = actor({ retry: { attempts: 1 } })
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault(code) })
    expect(await each.view(job.id)).toMatchObject({ state: 'dead_lettered', reason_code: reason })
  })

  it('000A:45 an input that breaks its schema, as the worker finds it: validation_failed', async () => {
    const each = actor()
    const { id } = await each.enqueue({}, { url: 7 })
    const job = defineJob({
      ...strict,
      type: each.spec.type,
      queue: each.queue,
      input: z.object({ url: z.string() }),
      run: () => {},
    })
    await using _ = each.pawl.work([job])
    await each.until(id, 'dead_lettered')
    expect(await each.view(id)).toMatchObject({ reason_code: 'validation_failed', attempts: 1 })
    expect((await each.events(id)).map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'dead_lettered'])
  })

  it('000A:45 000A:49 a compensation that fails: compensation_failed; one that does not: job_compensated', async () => {
    const each = actor({ retry: { attempts: 1 } })
    const job = implementJob(each.spec, async (input, ctx) => {
      const compensate = () => {
        if ((input as { works: boolean }).works === false) throw new Error('it cannot be undone')
      }
      await ctx.step('charge', () => 1, { compensate })
      throw new ValidationError('no')
    })
    await using _ = each.pawl.work([job])
    const bad = await each.enqueue({}, { works: false })
    const good = await each.enqueue({}, { works: true })
    await each.until(bad.id, 'dead_lettered')
    await each.until(good.id, 'dead_lettered')
    expect(await each.view(bad.id)).toMatchObject({ reason_code: 'compensation_failed' })
    expect(await each.view(good.id)).toMatchObject({ reason_code: 'validation_failed' })
    expect((await each.log(good.id)).map(({ type }) => type)).toContain('job_compensated')
    expect(deriveDialect('000A', await each.log(good.id)).violations).toEqual([])
  })

  it('000A:46 a letter has all required fields; null where nothing ever ran', async () => {
    const each = actor()
    const { job } = await each.running({ correlationId: 'order-7' })
    await each.must(job.id, { type: 'deadLetter', reason: 'timeout', stage: 'exec', message: 'too late' })
    expect(await each.view(job.id)).toMatchObject({
      reason_code: 'timeout',
      last_error: 'too late',
      attempts: 1,
      last_owner: 'w1',
      last_lease_expires_at: new Date(job.lease?.expiresAt ?? 0).toISOString(),
      correlation_id: 'order-7',
    })
    const never = await each.enqueue()
    await each.must(never.id, { type: 'deadLetter', reason: 'parse_error', stage: 'input' })
    const empty = { attempts: 0, last_owner: null, last_lease_expires_at: null }
    expect(await each.view(never.id)).toMatchObject({
      ...empty,
      reason_code: 'parse_error',
      last_error: expect.any(String),
    })
  })
}
