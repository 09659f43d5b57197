/** Document 001: the transitions of its operations. */
import { expect, it } from 'vitest'
import { view } from '../../../src/core/dialects/view.ts'
import { fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { contractOn, SHORT } from './contract.ts'

export function transitions(stage: () => Stage): void {
  const { actor, contract, at, about, stalled, operations, judged, codeOf } = contractOn(stage)

  it('001:64 enqueue creates queued, or returns the record that has the dedupe key', async () => {
    const each = actor()
    const dedupeKey = fresh('any key: 任意 / ☃')
    const asked = { kind: each.spec, input: 1, dedupeKey }
    const first = await contract().enqueue({ ...asked, requestId: fresh('r') })
    expect(judged(undefined, 'enqueue', first.job)).toEqual([])
    const again = await contract().enqueue({ ...asked, requestId: fresh('r') })
    expect(again).toMatchObject({ deduped: true, job: { id: first.job.id, rev: first.job.rev } })
    expect(view(first.job, '001')).toMatchObject({ dedupe_key: dedupeKey })
  })

  it('001:66 claimNext: queued → claimed', async () => {
    const each = actor()
    const { job } = await at.queued(each)
    const claimed = await each.claimed()
    expect(judged(job, 'claimNext', claimed.job)).toEqual([])
  })

  it('001:67 claimNext: stalled → claimed, as a reclaim', async () => {
    const each = actor(SHORT)
    const { job } = await at.stalled(each)
    const claimed = await each.claimed('w2')
    expect(claimed.job).toMatchObject({ id: job.id, state: 'claimed', attempt: 2 })
    expect(judged(job, 'claimNext', claimed.job)).toEqual([])
  })

  it.each([
    ['001:69', 'start', 'claimed', 'running', 'started'],
    ['001:71', 'heartbeat', 'claimed', 'claimed', 'heartbeat'],
    ['001:72', 'heartbeat', 'running', 'running', 'heartbeat'],
    ['001:74', 'complete', 'running', 'succeeded', 'succeeded'],
    ['001:76', 'fail', 'running', 'failed', 'failed'],
  ] as const)('%s %s: %s → %s', async (_, action, from, to, type) => {
    const each = actor()
    const held = await at[from](each)
    const { job } = await operations[action](held)
    expect(job.state).toBe(to)
    expect(judged(held.job, action, job)).toEqual([])
    const [entry] = (await each.log(job.id)).slice(-1)
    expect(entry).toMatchObject({ type, from_status: from, to_status: to })
  })

  it.each([
    ['001:78', 'claimed'],
    ['001:79', 'running'],
  ] as const)('%s stall: %s → stalled, once the lease has expired', async (_, from) => {
    const each = actor({ leaseMs: 1_000, heartbeatMs: 400 })
    const { job } = await at[from](each)
    expect(await codeOf(contract().stall(about(job)))).toBe('NOT_DUE')
    const after = await stalled(job)
    expect(after.state).toBe('stalled')
    expect(judged(job, 'stall', after)).toEqual([])
    expect((await each.log(job.id)).at(-1)).toMatchObject({ type: 'stalled', from_status: from, to_status: 'stalled' })
  })

  it('001:81 requeueStalled: stalled → queued', async () => {
    const each = actor(SHORT)
    const { job } = await at.stalled(each)
    const { job: after } = await contract().requeueStalled(about(job))
    expect(after.state).toBe('queued')
    expect(judged(job, 'requeueStalled', after)).toEqual([])
    expect((await each.log(job.id)).at(-1)).toMatchObject({
      type: 'requeued',
      from_status: 'stalled',
      to_status: 'queued',
    })
  })
}
