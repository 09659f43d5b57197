import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { prometheus } from '../../src/gateway/prometheus.ts'
import { type Gateway, startGateway } from '../../src/gateway/serve.ts'
import { open } from '../../src/open.ts'
import type { Pawl } from '../../src/pawl.ts'

let pawl: Pawl
let gateway: Gateway
beforeAll(async () => {
  const metrics = prometheus()
  pawl = await open('memory:', { metrics, log: 'silent' })
  metrics.watch(pawl.engine)
  gateway = await startGateway({ engine: pawl.engine, port: 0, auth: false, metricsText: () => metrics.text() })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await pawl[Symbol.asyncDispose]()
})

const ask = async (method: string, path: string, body?: unknown) => {
  const response = await fetch(gateway.url + path, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return await response.text()
}

interface Claimed {
  readonly jobs: readonly { readonly job: { readonly id: string }; readonly fence: string }[]
}

describe('/metrics', () => {
  it('counts what happened under the names that are promised, without an id in any label', async () => {
    for (let i = 0; i < 3; i += 1) await ask('POST', '/v1/jobs', { type: 'crawl', policy: { retry: { attempts: 1 } } })
    await ask('POST', '/v1/jobs', { type: 'crawl', queue: 'old' })
    const { jobs } = JSON.parse(
      await ask('POST', '/v1/claims', { workerId: 'w', queues: ['default'], limit: 3 }),
    ) as Claimed
    const [first, second, third] = jobs
    await ask('POST', `/v1/jobs/${first?.job.id}/heartbeat`, { fence: first?.fence })
    await ask('POST', `/v1/jobs/${first?.job.id}/complete`, { fence: first?.fence, executionMs: 1_500 })
    await ask('POST', `/v1/jobs/${second?.job.id}/fail`, { fence: second?.fence, code: 'E_QDRANT' })
    const text = await ask('GET', '/metrics')
    const lines = [
      'pawl_claims_total{type="crawl"} 3',
      'pawl_lease_renewals_total 1',
      'pawl_jobs_inflight{type="crawl"} 1',
      'pawl_job_failures_total{code="E_QDRANT"} 1',
      'pawl_dead_letters_total{reason="dependency_unavailable"} 1',
      'pawl_transitions_total{from="running",to="succeeded"} 1',
      'pawl_job_duration_seconds_count{type="crawl"} 1',
      'pawl_queue_wait_seconds_count{type="crawl"} 3',
    ]
    for (const line of lines) expect(text).toContain(`${line}\n`)
    expect(text).toMatch(/pawl_queue_oldest_seconds\{queue="old"\} \d/)
    for (const name of ['pawl_claim_conflicts_total', 'pawl_lease_expiries_total', 'pawl_retry_attempts_total'])
      expect(text).toContain(`# TYPE ${name} counter`)
    expect(text).not.toContain(third?.job.id)
  })
})
