/** Document 003: its four invariants. */
import { expect, it } from 'vitest'
import { isJobBlocked } from '../../../src/core/dialects/blocked.ts'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { log } from '../../../src/core/dialects/history.ts'
import { view } from '../../../src/core/dialects/view.ts'
import { fault } from '../actor.ts'
import { chaos } from '../chaos.ts'
import { disorder } from '../order.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SOON } from './jobs.ts'

export function invariants(stage: () => Stage): void {
  const { actor, stateOf, words, waiting } = jobsOn(stage)

  it('003:88 1: one ending, and nothing about the status after it', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'complete', fence })
    const ends = ['job_completed', 'job_failed', 'job_cancelled']
    const told = await words(each, job.id)
    expect(told.filter((word) => ends.includes(String(word)))).toEqual([told.at(-1)])
    await each.refused(job.id, { type: 'cancel', mode: 'hard' }, 'ENDED')
    await each.refused(job.id, { type: 'fail', fence, fault: fault('bad_request') }, 'ENDED', 'STALE_FENCE')
    expect(await words(each, job.id)).toEqual(told)
  })

  it('003:89 2: what is Waiting was told by job_waiting, and leaves by wait_completed', async () => {
    const each = actor()
    const { id } = await waiting(each)
    expect((await words(each, id)).at(-1)).toBe('job_waiting')
    expect(await each.claim()).toBeUndefined()
    await each.must(id, { type: 'signal', name: 'approved' })
    await each.claimed()
    expect((await words(each, id)).slice(-3)).toEqual(['job_waiting', 'wait_completed', 'job_leased'])
  })

  it('003:89 2: a wait that times out is completed, too', async () => {
    const each = actor()
    const { id } = await waiting(each, { timeoutMs: 50 })
    await each.until(id, 'queued')
    expect((await words(each, id)).at(-1)).toBe('wait_completed')
    expect(await stateOf(each, id)).toBe('Queued')
  })

  it('003:90 3: what is Running was told by job_leased, with no ending after it', async () => {
    const each = actor()
    const { job } = await each.running()
    expect((await words(each, job.id)).at(-1)).toBe('job_leased')
    expect(await stateOf(each, job.id)).toBe('Running')
  })

  it('003:91 4: a blocked job is not reclaimed, long after its lease would have expired (lease shortened)', async () => {
    const each = actor({}, { leaseMs: 1_000, heartbeatMs: 400 })
    const { id, leaseExpiresAt } = await waiting(each)
    const bystander = await each.assigned()
    // Somebody else's lease, granted later, has been reaped: the reaper has been here.
    await each.until(bystander.job.id, 'queued')
    expect(each.pawl.engine.now()).toBeGreaterThan(leaseExpiresAt)
    expect((await each.claim())?.job.id).toBe(bystander.job.id)
    expect(await each.claim()).toBeUndefined()
    expect(await each.job(id)).toMatchObject({ state: 'waiting', attempt: 1, stalls: 0 })
    expect(isJobBlocked(await each.log(id))).toBe(true)
    await each.must(id, { type: 'signal', name: 'approved' })
    expect(isJobBlocked(await each.log(id))).toBe(false)
    expect((await each.claim())?.job.id).toBe(id)
  })

  it('003:47 003:79 after chaos, every job’s state is the fold of its own history, and no history breaks a rule', async () => {
    const each = actor({ retry: { attempts: 6, ...SOON } }, { leaseMs: 250, heartbeatMs: 100 })
    const { histories } = await chaos(each, { jobs: 40, workers: 6, seed: 3 })
    for (const { job, events } of histories) {
      expect(disorder(events)).toEqual([])
      const fold = deriveDialect('003', log(events, '003'))
      expect([job.id, fold.status, fold.violations]).toEqual([job.id, view(job, '003')['State'], []])
      // What is told is what happened, claim by claim.
      const claims = events.filter(({ type }) => type === 'claimed').map(({ rev }) => rev)
      const leased = log(events, '003').filter((entry) => entry['Event'] === 'job_leased')
      expect(leased.map(({ rev, implied }) => [rev, implied])).toEqual(claims.map((rev) => [rev, undefined]))
      for (let n = 1; n < events.length; n += 1)
        expect(deriveDialect('003', log(events.slice(0, n), '003')).violations).toEqual([])
    }
    expect((await each.pawl.verify({ queues: [each.queue] })).discrepancies).toEqual([])
  })
}
