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

  it('000A:58 claim_conflicts: who gets nothing because others hold what is due is counted', async () => {
    const { measured, another, store } = stage()
    const each = actor()
    const rival = await another()
    const conflicts = () => measured.filter(({ name }) => name === 'pawl_claim_conflicts_total').length
    const since = conflicts()
    const race = async () => {
      await each.enqueue()
      const claims = Array.from({ length: 64 }, (_, n) =>
        each.claim(`w${n}`, fresh('claim'), n % 2 === 0 ? each.pawl : rival),
      )
      expect((await Promise.all(claims)).filter((found) => found !== undefined)).toHaveLength(1)
      return conflicts() > since
    }
    if (store === 'Postgres') await eventually('two claimers to meet at one job', race)
    // One file has one writer: its claimers take turns, and none of them is in another's way.
    else expect(await race()).toBe(false)
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
    expect(events.map(({ type }) => type)).toEqual(['enqueued', 'claimed', 'started', 'heartbeat', 'succeeded'])
    for (const event of events) expect(event).toMatchObject(ids)
    // An idle worker may be told of its claim before the producer is told of the commit that made it.
    const traced = stage().traced.filter(({ jobId }) => jobId === id)
    expect(traced.toSorted((a, b) => a.rev - b.rev)).toEqual(events.filter(({ seq }) => seq !== undefined))
    expect(await each.view(id)).toMatchObject({ trace_id: trace, correlation_id: ids.correlationId })
  })
}
