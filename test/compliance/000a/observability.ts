/** Document 000, part A: metrics and tracing. */
import { expect, it } from 'vitest'
import { METRICS } from '../../../src/engine/metrics.ts'
import { implementJob } from '../../../src/library/define-job.ts'
import { eventually } from '../../support/eventually.ts'
import { fault, fresh } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { bound, SOON } from './jobs.ts'

export function observability(stage: () => Stage): void {
  const actor = bound(stage)

  it('000A:58 metrics: claims, renewals, expiries, retries, failures, dead letters, durations per type', async () => {
    const { measured } = stage()
    const since = measured.length
    const each = actor({ retry: { attempts: 3, ...SOON } }, { leaseMs: 1_000, heartbeatMs: 400 })
    const { id } = await each.enqueue()
    await each.claimed()
    await eventually('the lease to be lost', async () => (await each.job(id)).lease === undefined)
    const { fence } = await each.begin(await each.claimed())
    await each.pawl.engine.heartbeat([{ id, fence, requestId: fresh('beat') }])
    await each.must(id, { type: 'fail', fence, fault: fault('network_error'), executionMs: 5 })
    const last = await each.begin(await each.claimed())
    await each.must(id, { type: 'fail', fence: last.fence, fault: fault('network_error'), executionMs: 7 })
    const { type } = each.spec
    const sum = (name: keyof typeof METRICS, labels: object) =>
      measured
        .slice(since)
        .filter((each) => each.name === name && Object.entries(labels).every(([k, v]) => each.labels[k] === v))
        .reduce((total, { value }) => total + value, 0)
    expect(sum('pawl_claims_total', { type })).toBe(3)
    expect(sum('pawl_lease_expiries_total', { type })).toBe(1)
    expect(sum('pawl_retry_attempts_total', { type })).toBe(1)
    expect(sum('pawl_lease_renewals_total', {})).toBe(1)
    expect(sum('pawl_job_failures_total', { code: 'network_error' })).toBe(2)
    expect(sum('pawl_dead_letters_total', { reason: 'exhausted_retries' })).toBe(1)
    expect(sum('pawl_job_duration_seconds', { type })).toBeCloseTo(0.012)
    expect(METRICS.pawl_job_duration_seconds.kind).toBe('histogram')
  })

  it('000A:58 claim_conflicts: who comes second is counted', async () => {
    const { measured, another } = stage()
    const each = actor()
    const rival = await another()
    const conflicts = () => measured.filter(({ name }) => name === 'pawl_claim_conflicts_total').length
    const since = conflicts()
    const { job, fence } = await each.running()
    const say = (pawl: typeof rival, n: number) => {
      const command = { type: 'progress', actor: 'w', requestId: fresh(`p${n}`), fence, counters: { n: 1 } } as const
      return pawl.engine.settle([{ id: job.id, command }])
    }
    let rounds = 0
    await eventually('two to meet', async () => {
      rounds += 1
      await Promise.all([say(each.pawl, rounds), say(rival, rounds)])
      return conflicts() > since
    })
    expect((await each.job(job.id)).counters).toEqual({ n: rounds * 2 })
  })

  it('000A:59 trace_id and correlation_id go from the producer to the handler, and onto every event', async () => {
    const each = actor()
    const trace = '0af7651916cd43dd8448eb211c80319c'
    const ids = { correlationId: fresh('correlation'), traceparent: `00-${trace}-b7ad6b7169203331-01` }
    const seen: object[] = []
    const job = implementJob(each.spec, (_, { job }) => {
      seen.push({ correlationId: job.spec.correlationId, traceparent: job.spec.traceparent })
    })
    await using _ = each.pawl.work([job])
    const { id } = await each.enqueue(ids)
    await each.until(id, 'succeeded')
    expect(seen).toEqual([ids])
    const events = await each.events(id)
    expect(events).toHaveLength(4)
    for (const event of events) expect(event).toMatchObject(ids)
    // An idle worker may be told of its claim before the producer is told of the commit that made it.
    const traced = stage().traced.filter(({ jobId }) => jobId === id)
    expect(traced.toSorted((a, b) => a.rev - b.rev)).toEqual(events)
    expect(await each.view(id)).toMatchObject({ trace_id: trace, correlation_id: ids.correlationId })
  })
}
