/** Document 000, part B: metrics and tracing. */
import { expect, it } from 'vitest'
import { fault, fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound, SOON } from './jobs.ts'

export function observability(stage: () => Stage): void {
  const actor = bound(stage)

  it('000B:118 transitions and lease renewals are counted as they happen', async () => {
    const { measured } = stage()
    const since = measured.length
    const each = actor()
    const { job, fence } = await each.running()
    await each.pawl.engine.heartbeat([{ id: job.id, fence, requestId: fresh('beat') }])
    await each.must(job.id, { type: 'complete', fence, executionMs: 3 })
    const told = measured.slice(since)
    const moves = told.filter(({ name }) => name === 'pawl_transitions_total').map(({ labels }) => labels)
    expect(moves).toEqual([
      { from: 'none', to: 'queued' },
      { from: 'queued', to: 'claimed' },
      { from: 'claimed', to: 'running' },
      { from: 'running', to: 'succeeded' },
    ])
    expect(told.filter(({ name }) => name === 'pawl_lease_renewals_total')).toHaveLength(1)
    expect(told.filter(({ name }) => name === 'pawl_job_duration_seconds')).toHaveLength(1)
    expect(told.filter(({ name }) => name === 'pawl_queue_wait_seconds')).toHaveLength(1)
  })

  it('000B:119 trace_id and correlation_id are on every event of a job, retries and expiries included', async () => {
    const each = actor({ retry: { attempts: 4, ...SOON } }, { leaseMs: 1_000, heartbeatMs: 400 })
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736'
    const ids = { correlationId: fresh('correlation'), traceparent: `00-${trace}-00f067aa0ba902b7-01` }
    const { id } = await each.enqueue(ids)
    await each.claimed()
    const second = await each.begin(await each.claimed())
    await each.must(id, { type: 'fail', fence: second.fence, fault: fault('network_error') })
    const third = await each.begin(await each.claimed())
    await each.must(id, { type: 'heartbeat', fence: third.fence })
    await each.must(id, { type: 'complete', fence: third.fence })
    const events = await each.events(id)
    expect(events.map(({ type }) => type)).toEqual([
      ...['enqueued', 'claimed', 'stalled', 'requeued', 'claimed', 'started', 'retry_scheduled'],
      ...['claimed', 'started', 'heartbeat', 'succeeded'],
    ])
    for (const event of events) expect(event).toMatchObject(ids)
    for (const entry of await each.log(id))
      expect(entry).toMatchObject({ trace_id: trace, correlation_id: ids.correlationId })
  })
}
