/** Document 000, part B: leases and their renewal. */
import { expect, it } from 'vitest'
import { deriveDialect } from '../../../src/core/dialects/derive.ts'
import { defineJob, implementJob } from '../../../src/library/define-job.ts'
import { openTesting } from '../../../src/testing/testing.ts'
import { eventually } from '../../support/eventually.ts'
import type { Stage } from '../stage.ts'
import { bound, SHORT, strict } from './jobs.ts'

export function leases(stage: () => Stage): void {
  const actor = bound(stage)

  it('000B:110 without renewal a lease must outlast the processing time; else it is renewed at 50 %', () => {
    const define = (policy: object) => defineJob({ ...strict, ...policy, type: 't', run: () => {} }).policy
    expect(() => define({ heartbeat: false, timeout: '60s', lease: '59s' })).toThrow(/must outlast the attempt/)
    expect(define({ heartbeat: false, timeout: '60s', lease: '90s' }).leaseMs).toBe(90_000)
    expect(define({ lease: '60s' }).heartbeatMs).toBeLessThanOrEqual(30_000)
  })

  it('000B:110 a worker renews the lease of what it runs, for as long as it runs (lease shortened)', async () => {
    const each = actor({}, { leaseMs: 1_000, heartbeatMs: 300 })
    let let_go = () => {}
    const gate = new Promise<void>((resolve) => {
      let_go = resolve
    })
    await using _ = each.pawl.work([implementJob(each.spec, () => gate)])
    const { id } = await each.enqueue()
    const first = (await each.until(id, 'running')).lease?.expiresAt ?? 0
    await eventually('the lease to outlive itself', async () => {
      const { lease } = await each.job(id)
      return lease !== undefined && lease.expiresAt > first + 1_000
    })
    let_go()
    await each.until(id, 'succeeded')
    expect((await each.job(id)).attempt).toBe(1)
    expect(await each.view(id)).toMatchObject({ lease_ttl_sec: 1 })
  })

  it('000B:111 another worker claims after expiry, and only its effects count (lease shortened)', async () => {
    const each = actor({}, SHORT)
    const first = await each.assigned()
    const { id } = first.job
    const second = await each.claimed('w2')
    expect(second.job).toMatchObject({ id, attempt: 2 })
    await each.refused(id, { type: 'complete', fence: first.fence }, 'STALE_FENCE')
    const { annotations } = await each.pawl.events({ by: 'annotation', id })
    expect(annotations).toMatchObject([{ command: 'complete', attempt: 1 }])
    await each.must(id, { type: 'complete', fence: second.fence })
    expect(await each.view(id)).toMatchObject({ state: 'succeeded', attempts: 2 })
    expect(deriveDialect('000B', await each.log(id))).toMatchObject({ status: 'succeeded', violations: [] })
  })
}

export function leasesInVirtualTime(): void {
  it('000B:110 a lease of 40 s is renewed after 20 s, and again after 20 more', async () => {
    const job = defineJob({
      ...strict,
      type: 'patient',
      lease: '40s',
      heartbeat: '30s',
      missedHeartbeats: 3,
      timeout: '1h',
      run: () => new Promise<void>(() => {}),
    })
    await using testing = await openTesting([job])
    const { id } = await testing.pawl.enqueue(job)
    await testing.advance('1s')
    await testing.waitForState(id, 'running')
    const count = async () => (await testing.pawl.get(id))?.lease?.beats ?? Number.NaN
    const first = await count()
    const beats: number[] = []
    for (const wait of ['18s', '3s', '16s', '4s'] as const) {
      await testing.advance(wait)
      beats.push((await count()) - first)
    }
    expect(beats).toEqual([0, 1, 1, 2])
  })
}
