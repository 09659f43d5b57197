/** Document 003: states and cells that live jobs reach. */
import { expect, it } from 'vitest'
import { fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SHORT, SOON } from './jobs.ts'

export function states(stage: () => Stage): void {
  const { actor, stateOf, words, waiting } = jobsOn(stage)

  it('003:11 003:51 (none) × job_created → Queued: it can be claimed', async () => {
    const each = actor()
    const { id } = await each.enqueue()
    expect(await stateOf(each, id)).toBe('Queued')
    expect((await each.claim())?.job.id).toBe(id)
  })

  it('003:12 003:20 003:52 Queued × job_leased → Running: claimed and started are one there', async () => {
    const each = actor()
    const { job, fence } = await each.assigned()
    expect(await stateOf(each, job.id)).toBe('Running')
    await each.must(job.id, { type: 'start', fence })
    expect(await stateOf(each, job.id)).toBe('Running')
    expect(await words(each, job.id)).toEqual(['job_created', 'job_leased'])
  })

  it('003:13 003:53 Running × job_waiting → Waiting', async () => {
    const each = actor()
    const { id } = await waiting(each)
    expect(await stateOf(each, id)).toBe('Waiting')
    expect((await each.job(id)).state).toBe('waiting')
  })

  it('003:14 003:80 a long wait is parked and told as Waiting: no scheduler sees it, and a signal wakes it', async () => {
    const each = actor()
    const { id } = await waiting(each, {})
    expect((await each.job(id)).state).toBe('parked')
    expect(await stateOf(each, id)).toBe('Waiting')
    expect(await each.claim()).toBeUndefined()
    await each.must(id, { type: 'signal', name: 'approved' })
    expect(await stateOf(each, id)).toBe('Queued')
  })

  it('003:15 003:53 003:65 003:80 Running × job_requeued → Queued: a failure that is tried again', async () => {
    const each = actor({ retry: { attempts: 3, ...SOON } })
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
    expect((await each.job(job.id)).state).toBe('retrying')
    expect(await stateOf(each, job.id)).toBe('Queued')
    expect((await words(each, job.id)).at(-1)).toBe('job_requeued')
    expect((await each.claimed()).job).toMatchObject({ id: job.id, attempt: 2 })
    expect(await stateOf(each, job.id)).toBe('Running')
  })

  it('003:53 Running × job_requeued → Queued: a lease that was lost (lease shortened)', async () => {
    const each = actor({}, SHORT)
    const { job } = await each.assigned()
    await each.until(job.id, 'queued')
    expect(await stateOf(each, job.id)).toBe('Queued')
    expect((await words(each, job.id)).at(-1)).toBe('job_requeued')
  })

  it.each([
    ['003:16', 'complete', 'Completed', 'job_completed'],
    ['003:17', 'fail', 'Failed', 'job_failed'],
    ['003:18', 'cancel', 'Cancelled', 'job_cancelled'],
  ] as const)('%s 003:53 Running: %s → %s', async (_, type, state, word) => {
    const each = actor()
    const { job, fence } = await each.running()
    if (type === 'complete') await each.must(job.id, { type, fence })
    else if (type === 'fail') await each.must(job.id, { type, fence, fault: fault('bad_request') })
    else await each.must(job.id, { type, mode: 'hard' })
    expect(await stateOf(each, job.id)).toBe(state)
    expect((await words(each, job.id)).at(-1)).toBe(word)
  })

  it('003:54 003:64 Waiting × wait_completed → Queued, and it can be claimed again', async () => {
    const each = actor()
    const { id } = await waiting(each)
    await each.must(id, { type: 'signal', name: 'approved' })
    expect(await stateOf(each, id)).toBe('Queued')
    expect(await words(each, id)).toEqual(['job_created', 'job_leased', 'job_waiting', 'wait_completed'])
    expect((await each.claim())?.job).toMatchObject({ id, attempt: 2 })
  })

  it.each([
    ['003:54 Waiting', { timeoutMs: 50_000 }],
    ['003:55 Parked', {}],
  ] as const)('%s × job_cancelled → Cancelled', async (_, more) => {
    const each = actor()
    const { id } = await waiting(each, more)
    await each.must(id, { type: 'cancel', mode: 'hard' })
    expect(await stateOf(each, id)).toBe('Cancelled')
  })
}
