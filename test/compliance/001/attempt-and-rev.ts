/** Document 001: what counts, and when. */
import { expect, it } from 'vitest'
import type { Action } from '../../../src/core/contract/rules.ts'
import type { Job } from '../../../src/core/job.ts'
import type { Stage } from '../stage.ts'
import { contractOn, type Held } from './contract.ts'

export function attemptAndRev(stage: () => Stage): void {
  const { actor, contract, at, about, stalled, operations, judged, codeOf } = contractOn(stage)

  it('001:96 001:97 001:98 attempt starts at 0 and counts claims, nothing else', async () => {
    const each = actor({ leaseMs: 1_000, heartbeatMs: 400 })
    const { job } = await at.queued(each)
    expect(job.attempt).toBe(0)
    const first = await each.claimed()
    expect(first.job.attempt).toBe(1)
    const orphan = await stalled(first.job)
    expect(orphan.attempt).toBe(1)
    const queued = (await contract().requeueStalled(about(orphan))).job
    expect(queued.attempt).toBe(1)
    const second = await each.claimed()
    expect(second.job.attempt).toBe(2)
    let held: Held = second
    for (const name of ['start', 'heartbeat', 'complete'] as const) {
      held = { ...held, job: (await operations[name](held)).job }
      expect([name, held.job.attempt]).toEqual([name, 2])
    }
  })

  it('001:100 rev grows with every accepted mutation, heartbeats included', async () => {
    const each = actor()
    let held = await at.claimed(each)
    for (const name of ['heartbeat', 'start', 'heartbeat', 'heartbeat', 'complete'] as const) {
      const { job } = await operations[name](held)
      expect(job.rev).toBe(held.job.rev + 1)
      held = { ...held, job }
    }
  })

  it('001:101 rev does not grow by a refusal', async () => {
    const each = actor()
    const { job } = await at.running(each)
    await codeOf(operations.complete({ job, fence: 'no' }))
    expect((await each.job(job.id)).rev).toBe(job.rev)
  })

  it('001:96 001:97 001:98 the validator says so where an attempt is counted at any other time', async () => {
    const each = actor()
    const { job: queued } = await at.queued(each)
    const { job: claimed, fence } = await each.claimed()
    const { job: running } = await operations.start({ job: claimed, fence })
    const miscounted = (before: Job | undefined, action: Action, after: Job, by: number) =>
      judged(before, action, { ...after, attempt: after.attempt + by }).map(({ field }) => field)
    expect(miscounted(undefined, 'enqueue', queued, 1)).toEqual(['after.attempt'])
    expect(miscounted(queued, 'claimNext', claimed, 1)).toEqual(['after.attempt'])
    expect(miscounted(claimed, 'start', running, 1)).toEqual(['after.attempt'])
    expect(miscounted(queued, 'claimNext', claimed, 0)).toEqual([])
  })
}
