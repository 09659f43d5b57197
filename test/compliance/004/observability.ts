/** Document 004: log lines and metrics. */
import { expect, it } from 'vitest'
import type { METRICS } from '../../../src/engine/metrics.ts'
import { prometheus } from '../../../src/gateway/prometheus.ts'
import { fault } from '../actor.ts'
import type { Stage } from '../stage.ts'
import { jobsOn, SOON } from './jobs.ts'

export function observability(stage: () => Stage): void {
  const { actor, failedWith } = jobsOn(stage)

  it('004:83 one structured line per transition: job_id, from, to, reason, attempt', async () => {
    const each = actor({ retry: SOON })
    const id = await failedWith(each, 'network_error')
    const again = await each.begin(await each.claimed())
    await each.must(id, { type: 'complete', fence: again.fence })
    const lines = stage().lines.filter(({ job_id, message }) => job_id === id && message === 'transition')
    const told = lines.map(({ from, to, reason, attempt }) => ({ from, to, reason, attempt }))
    expect(told).toEqual([
      { from: 'none', to: 'queued', reason: 'enqueue', attempt: 0 },
      { from: 'queued', to: 'running', reason: 'start', attempt: 1 },
      { from: 'running', to: 'retry_pending', reason: 'network_error', attempt: 1 },
      { from: 'retry_pending', to: 'running', reason: 'start', attempt: 2 },
      { from: 'running', to: 'succeeded', reason: 'complete', attempt: 2 },
    ])
  })

  it('004:83 of a start and an end in one commit each is a line, in its words', async () => {
    const each = actor()
    const { job, fence } = await each.assigned()
    await each.must(job.id, { type: 'complete', fence })
    const lines = stage().lines.filter(({ job_id, message }) => job_id === job.id && message === 'transition')
    expect(lines.map(({ from, to }) => `${from} → ${to}`)).toEqual([
      ...['none → queued', 'queued → running', 'running → succeeded'],
    ])
  })

  it('004:84 jobs_inflight by type, job_duration_seconds, job_failures_total by code, retry_attempts_total', async () => {
    const { measured } = stage()
    const since = measured.length
    const each = actor({ retry: SOON })
    const { type } = each.spec
    const values = (name: keyof typeof METRICS, labels: object) =>
      measured
        .slice(since)
        .filter((one) => one.name === name && Object.entries(labels).every(([k, v]) => one.labels[k] === v))
        .map(({ value }) => value)
    const { job, fence } = await each.running()
    const inflight = async () => {
      const metrics = prometheus()
      metrics.watch(stage().pawl)
      return /pawl_jobs_inflight\{type="(.*)"\} (\d+)/
        .exec((await metrics.text()).split('\n').find((line) => line.includes(`inflight{type="${type}"`)) ?? '')
        ?.at(2)
    }
    expect(await inflight()).toBe('1')
    await each.must(job.id, { type: 'fail', fence, fault: fault('browser_crash'), executionMs: 250 })
    expect(await inflight()).toBe('0')
    expect(values('pawl_job_duration_seconds', { type })).toEqual([0.25])
    expect(values('pawl_job_failures_total', { code: 'browser_crash' })).toEqual([1])
    expect(values('pawl_retry_attempts_total', { type })).toEqual([1])
  })
}
