/** Document 002: a retry is a new job. */
import { expect, it } from 'vitest'
import type { Job } from '../../../src/core/job.ts'
import { type Actor, fault, fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SHORT, SOON } from './jobs.ts'

export function retries(stage: () => Stage): void {
  const { actor } = jobsOn(stage)

  it('002:63 a retry is a new job, linked by parent_job_id, within the same budget', async () => {
    const each = actor({ retry: { attempts: 3, ...SOON } })
    const first = await each.running({ correlationId: fresh('correlation') })
    let last: Job = first.job
    let { fence } = first
    for (let n = 1; n <= 3; n += 1) {
      await each.must(last.id, { type: 'fail', fence, fault: fault('network_error') })
      expect((await each.view(last.id))['state']).toBe('FAILED')
      if (n === 3) break
      const { jobs } = await each.pawl.find({ parentId: last.id })
      expect(jobs).toHaveLength(1)
      await each.pawl.admit(String(jobs[0]?.id))
      const next = await each.begin(await each.claimed())
      expect(next.job.id).toBe(jobs[0]?.id)
      expect((await each.view(next.job.id))['JobRequest']).toMatchObject({ parent_job_id: last.id })
      expect(next.job.spec.correlationId).toBe(first.job.spec.correlationId)
      expect(next.input).toBe(first.input)
      last = next.job
      fence = next.fence
    }
    expect((await each.pawl.find({ parentId: last.id })).jobs).toEqual([])
    expect(await each.claim()).toBeUndefined()
  })

  it.each([
    ['a lost lease', 'lease_expired', async (each: Actor) => each.running()],
    ['a dispatch that nobody started', 'not_started', async (each: Actor) => each.assigned()],
  ] as const)('002:63 TIMEOUT with budget left has a successor, as FAILED has: %s', async (_, reason, begin) => {
    const each = actor({ retry: { attempts: 3, stalls: 1, ...SOON } }, SHORT)
    const { job } = await begin(each)
    await each.until(job.id, 'timed_out')
    expect((await each.events(job.id)).at(-1)).toMatchObject({ type: 'timed_out', reason })
    const [next] = (await each.pawl.find({ parentId: job.id })).jobs
    expect(next).toMatchObject({ state: 'pending', stalls: 1, failures: 0 })
    // The second loss is the last that the budget has room for.
    await each.pawl.admit(String(next?.id))
    const last = await each.claimed()
    await each.until(last.job.id, 'timed_out')
    expect((await each.pawl.find({ parentId: last.job.id })).jobs).toEqual([])
  })

  it('002:63 an attempt that took too long is TIMEOUT, and tried again under a new job_id', async () => {
    const each = actor({ retry: { attempts: 2, ...SOON } })
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('E_TIMEOUT') })
    expect((await each.view(job.id))['state']).toBe('TIMEOUT')
    expect((await each.log(job.id)).at(-1), 'its own worker’s word is nobody’s mark').not.toHaveProperty('marks')
    const [next] = (await each.pawl.find({ parentId: job.id })).jobs
    expect(next).toMatchObject({ failures: 1 })
    await each.pawl.admit(String(next?.id))
    const last = await each.begin(await each.claimed())
    await each.must(last.job.id, { type: 'fail', fence: last.fence, fault: fault('E_TIMEOUT') })
    expect((await each.view(last.job.id))['state']).toBe('TIMEOUT')
    expect((await each.pawl.find({ parentId: last.job.id })).jobs).toEqual([])
  })

  it('002:63 the same job_id is retried where consumers are idempotent', async () => {
    const each = actor({ idempotent: true, retry: { attempts: 3, ...SOON } })
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
    expect((await each.view(job.id))['state']).toBe('RUNNING')
    expect((await each.claimed()).job).toMatchObject({ id: job.id, attempt: 2 })
    expect((await each.pawl.find({ parentId: job.id })).jobs).toEqual([])
  })
}
