/** Document 003: how waits and lives end. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SOON, WORDS } from './jobs.ts'

export function endings(stage: () => Stage): void {
  const { actor, stateOf, words, waiting } = jobsOn(stage)

  it.each(['queued', 'retrying'] as const)('003:52 003:56 %s × job_cancelled is no cell: refused', async (state) => {
    const each = actor({ retry: { attempts: 3, base: '1h', max: '1h', jitter: 'none' } })
    let { id } = await each.enqueue()
    if (state === 'retrying') {
      const { job, fence } = await each.begin(await each.claimed())
      await each.must(job.id, { type: 'fail', fence, fault: fault('network_error') })
      id = job.id
    }
    expect((await each.job(id)).state).toBe(state)
    await each.refused(id, { type: 'cancel', mode: 'hard' }, 'DIALECT_FORBIDS')
  })

  it('003:58 Failed × job_requeued → Queued: an operator reopens it', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'fail', fence, fault: fault('bad_request') })
    await each.must(job.id, { type: 'reopen' })
    expect((await each.view(job.id))['State']).toBe('Queued')
    const fold = deriveDialect('003', await each.log(job.id))
    // The cell stands in the table; invariant 1 of the same document forbids it, and derive says so.
    expect(fold.status).toBe('Queued')
    expect(fold.violations.map(({ rule }) => rule)).toEqual(['invariant'])
    expect((await each.claim())?.job).toMatchObject({ id: job.id, attempt: 2, generation: 1 })
  })

  it.each(['complete', 'cancel'] as const)('003:57 003:59 nothing leads out of what %s ended', async (type) => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, type === 'complete' ? { type, fence } : { type, mode: 'hard' })
    await each.refused(job.id, { type: 'reopen' }, 'DIALECT_FORBIDS', 'ILLEGAL_TRANSITION')
    await each.refused(job.id, { type: 'signal', name: 'approved' }, 'ENDED')
    await each.refused(job.id, { type: 'start', fence }, 'ENDED', 'STALE_FENCE')
  })

  it('003:64 a repeated signal is a replay and adds no wait_completed', async () => {
    const each = actor()
    const { id } = await waiting(each)
    await each.must(id, { type: 'signal', name: 'approved', requestId: 'click' })
    const before = await each.events(id)
    expect(await each.must(id, { type: 'signal', name: 'approved', requestId: 'click' })).toMatchObject({
      replayed: true,
    })
    expect(await each.events(id)).toEqual(before)
  })

  it('003:41 heartbeats, progress, checkpoints and steps change no state', async () => {
    const each = actor()
    const { job, fence } = await each.running()
    await each.must(job.id, { type: 'heartbeat', fence })
    await each.must(job.id, { type: 'progress', fence, counters: { nodes: 1 } })
    await each.must(job.id, { type: 'record', fence, artifact: { name: 'trace', ptr: 'p' } })
    expect(await stateOf(each, job.id)).toBe('Running')
    expect(await words(each, job.id)).toEqual(['job_created', 'job_leased'])
  })

  it('003:30 003:32 003:33 003:35 003:36 003:37 003:38 003:39 a live job’s log has no words but the document’s', async () => {
    const each = actor({ retry: { attempts: 2, ...SOON } })
    const { id } = await waiting(each)
    await each.must(id, { type: 'signal', name: 'approved' })
    for (const code of ['network_error', 'bad_request']) {
      const { fence } = await each.begin(await each.claimed())
      await each.must(id, { type: 'fail', fence, fault: fault(code) })
    }
    const done = await each.running()
    await each.must(done.job.id, { type: 'complete', fence: done.fence })
    const stopped = await each.running()
    await each.must(stopped.job.id, { type: 'cancel', mode: 'hard' })
    const told = await Promise.all([id, done.job.id, stopped.job.id].map((one) => words(each, one)))
    // job_queued and job_running are its other words for what job_created and job_leased tell.
    expect(new Set(told.flat())).toEqual(
      new Set(WORDS.filter((word) => word !== 'job_queued' && word !== 'job_running')),
    )
  })
}
