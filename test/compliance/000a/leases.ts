/** Document 000, part A: leases and heartbeats. */
import { expect, it } from 'vitest'
import type { Duration } from '../../../src/core/duration.ts'
import { leaseWindowMs } from '../../../src/core/timers.ts'
import { defineJob } from '../../../src/library/define-job.ts'
import { openTesting } from '../../../src/testing/testing.ts'
import { eventually } from '../../support/eventually.ts'
import type { Stage } from '../stage.ts'
import { bound, SHORT, strict } from './jobs.ts'

export function leases(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:32 a lease lasts 30 to 120 s, as each job type says', () => {
    const lease = (ms: Duration) => defineJob({ ...strict, type: 't', lease: ms, run: () => {} }).policy.leaseMs
    expect(() => lease('29999ms')).toThrow(/lease: strict 000: 30 s to 120 s/)
    expect(() => lease('120001ms')).toThrow(/lease: strict 000: 30 s to 120 s/)
    expect([lease('30s'), lease('75s'), lease('120s')]).toEqual([30_000, 75_000, 120_000])
  })

  it('000A:33 a heartbeat comes every 10 to 30 s', () => {
    const beat = (ms: Duration) => defineJob({ ...strict, type: 't', heartbeat: ms, run: () => {} }).policy.heartbeatMs
    expect(() => beat('9999ms')).toThrow(/heartbeat: strict 000: 10 s to 30 s/)
    expect(() => beat('30001ms')).toThrow(/heartbeat: strict 000: 10 s to 30 s/)
    expect([beat('10s'), beat('30s')]).toEqual([10_000, 30_000])
  })

  it('000A:33 two missed intervals orphan the job, and another worker may have it (heartbeat shortened)', async () => {
    const each = actor({ lease: '120s' }, { heartbeatMs: 100, missedHeartbeats: 2 })
    const { job } = await each.running()
    expect((job.lease?.expiresAt ?? 0) - job.updatedAt).toBeLessThanOrEqual(leaseWindowMs(each.spec.policy))
    const again = await each.claimed('w2')
    expect(again.job).toMatchObject({ id: job.id, attempt: 2, owner: { workerId: 'w2' } })
    const stalled = (await each.events(job.id)).find(({ type }) => type === 'stalled')
    expect((stalled?.at ?? 0) - job.updatedAt).toBeLessThan(120_000)
  })

  it('000A:34 the lease expires → the job returns to queued (lease shortened)', async () => {
    const each = actor({}, SHORT)
    const { job, fence } = await each.assigned()
    const queued = await each.until(job.id, 'queued')
    expect(queued).toMatchObject({ attempt: 1, stalls: 1, owner: undefined, lease: undefined })
    expect(await each.view(job.id)).toMatchObject({ state: 'queued' })
    await each.refused(job.id, { type: 'start', fence }, 'STALE_FENCE')
    const again = await each.claimed('w2')
    expect(again.job).toMatchObject({ id: job.id, attempt: 2 })
    expect(again.fence).not.toBe(fence)
  })

  it('000A:34 the lease expires → dead letter, if that was the last attempt (lease shortened)', async () => {
    const each = actor({ retry: { attempts: 2 } }, SHORT)
    const { id } = await each.enqueue()
    for (const worker of ['w1', 'w2']) {
      await each.claimed(worker)
      await eventually('the lease to be lost', async () => (await each.job(id)).lease === undefined)
    }
    const letter = { state: 'dead_lettered', reason_code: 'infrastructure_failure', attempts: 2, last_owner: 'w2' }
    expect(await each.view(id)).toMatchObject(letter)
  })
}

export function leasesInVirtualTime(): void {
  const patient = (policy: object, ran: number[] = []) =>
    defineJob({
      ...strict,
      ...policy,
      type: 'patient',
      run: (_, ctx) => {
        ran.push(ctx.attempt)
        return new Promise<void>(() => {})
      },
    })

  it('000A:32 a lease is renewed at half of what remains of it (40 s: after 20 s)', async () => {
    const job = patient({ lease: '40s', heartbeat: '30s', missedHeartbeats: 3, timeout: '1h' })
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.waitForState(id, 'running')
    const beats = async () => (await testing.pawl.get(id))?.lease?.beats
    await testing.advance('18s')
    // The start was the first.
    expect(await beats()).toBe(1)
    await testing.advance('3s')
    expect(await beats()).toBe(2)
    await testing.advance('2m')
    expect((await testing.pawl.get(id))?.state).toBe('running')
  })

  it('000A:33 a lease of 120 s, a heartbeat every 10 s: two missed ones orphan the job', async () => {
    const ran: number[] = []
    const job = patient({ lease: '120s', heartbeat: '10s', timeout: '1h' }, ran)
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.waitForState(id, 'running')
    await testing.crashWorker()
    await testing.advance('19s')
    expect(ran).toEqual([1])
    await testing.advance('3s')
    expect(ran).toEqual([1, 2])
    expect((await testing.pawl.get(id))?.stalls).toBe(1)
  })

  it('000A:34 a strict lease of 30 s that nobody renews: queued again, and run by another worker', async () => {
    const ran: number[] = []
    const job = patient({ lease: '30s', heartbeat: '29s' }, ran)
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.waitForState(id, 'running')
    await testing.crashWorker()
    await testing.advance('28s')
    expect(ran).toEqual([1])
    await testing.advance('2s')
    expect(ran).toEqual([1, 2])
  })
}
