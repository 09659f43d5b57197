/** Document 004: heartbeats and when they are missed. */
import { expect, it } from 'vitest'
import { leaseWindowMs } from '../../../src/core/timers.ts'
import { defineJob } from '../../../src/library/define-job.ts'
import { openTesting } from '../../../src/testing/testing.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SHORT, SOON, strict, stuck } from './jobs.ts'

export function heartbeats(stage: () => Stage): void {
  const { actor } = jobsOn(stage)

  it('004:67 004:68 004:69 heartbeat every 10 s, lost after 90 s; the wall clock is as the type says', () => {
    const { policy } = defineJob({ ...strict, type: 't', run: () => {} })
    expect(policy).toMatchObject({ heartbeatMs: 10_000, deadlineMs: undefined })
    expect(leaseWindowMs(policy)).toBe(90_000)
    expect(defineJob({ ...strict, type: 't', deadline: '2h', run: () => {} }).policy.deadlineMs).toBe(7_200_000)
  })

  it('004:25 004:68 missed heartbeats: timeout_soft, and rescheduled (lease shortened)', async () => {
    const each = actor({ retry: SOON }, SHORT)
    const { job } = await each.assigned()
    const again = await each.claimed('w2')
    expect(again.job).toMatchObject({
      id: job.id,
      attempt: 2,
      lastFailure: { code: 'timeout_soft', class: 'transient', worker: 'w1' },
    })
    // The worker that lost it, not the one that has it now.
    expect(await each.view(job.id)).toMatchObject({ error_code: 'timeout_soft', context: { worker_id: 'w1' } })
    expect((await each.events(job.id)).map(({ type }) => type)).toEqual([
      ...['enqueued', 'claimed', 'stalled', 'retry_scheduled', 'claimed'],
    ])
  })

  it('004:25 missed heartbeats in the last attempt: failed with a timeout (lease shortened)', async () => {
    const each = actor({ retry: { attempts: 1 } }, SHORT)
    const { job } = await each.running()
    await each.until(job.id, 'failed')
    expect(await each.view(job.id)).toMatchObject({ state: 'failed', error_code: 'E_TIMEOUT' })
  })
}

export function heartbeatsInVirtualTime(): void {
  it('004:67 a worker heartbeats every 10 s', async () => {
    const job = stuck()
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    const beats: (number | undefined)[] = []
    for (let n = 0; n < 4; n += 1) {
      await testing.advance('10s')
      beats.push((await testing.pawl.get(id))?.lease?.beats)
    }
    expect(beats).toEqual([1, 2, 3, 4])
  })

  it('004:68 heartbeats missed for 90 s, not less: timeout_soft, and rescheduled', async () => {
    const ran: number[] = []
    const job = stuck({ retry: SOON }, ran)
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.crashWorker()
    await testing.advance('88s')
    expect(ran).toEqual([1])
    await testing.advance('2s')
    expect(ran).toEqual([1, 2])
    const record = await testing.pawl.get(id)
    expect(record?.lastFailure).toMatchObject({ code: 'timeout_soft', class: 'transient' })
  })
}
