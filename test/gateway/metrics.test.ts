import { Counter, Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { METRICS } from '../../src/engine/metrics.ts'
import { prometheus } from '../../src/gateway/prometheus.ts'
import { type Gateway, startGateway } from '../../src/gateway/serve.ts'
import { defineJob } from '../../src/library/define-job.ts'
import type { Pawl } from '../../src/library/pawl.ts'
import { open } from '../../src/open.ts'
import type { EventQuery } from '../../src/store/store.ts'
import { VirtualClock } from '../engine/virtual-clock.ts'
import { openGatewayFixture } from './gateway-fixture.ts'

let pawl: Pawl
let gateway: Gateway
beforeAll(async () => {
  const metrics = prometheus()
  pawl = await open('memory:', { metrics, log: 'silent' })
  metrics.watch(pawl)
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
      'pawl_job_duration_seconds_count{type="crawl"} 2',
      'pawl_queue_wait_seconds_count{type="crawl"} 3',
    ]
    for (const line of lines) expect(text).toContain(`${line}\n`)
    for (const line of ['pawl_jobs{queue="default",state="claimed"} 1', 'pawl_jobs{queue="old",state="queued"} 1'])
      expect(text).toContain(`${line}\n`)
    expect(text).not.toMatch(/pawl_jobs\{.*(?:succeeded|dead_lettered)/)
    expect(text).toMatch(/pawl_queue_oldest_seconds\{queue="old"\} \d/)
    for (const name of [
      'pawl_claim_conflicts_total',
      'pawl_commit_conflicts_total',
      'pawl_lease_expiries_total',
      'pawl_retry_attempts_total',
    ])
      expect(text).toContain(`# TYPE ${name} counter`)
    expect(text).not.toContain(third?.job.id)
  })

  it('counts what nobody who is there can do, and not what somebody may', async () => {
    await using fixture = await openGatewayFixture()
    const enqueue = (type: string, queue: string) => fixture.ask('producer', 'POST', '/v1/jobs', { type, queue })
    for (const [type, queue] of [
      ['known', 'mixed'],
      ['unknown', 'mixed'],
      ['unknown', 'mixed'],
      ['unknown', 'untended'],
      ['unknown', 'open'],
    ] as const)
      expect((await enqueue(type, queue)).status).toBe(201)
    await fixture.ask('worker', 'PUT', '/v1/workers/w-mixed', { queues: ['mixed'], types: ['known'] })
    await fixture.ask('worker', 'PUT', '/v1/workers/w-open', { queues: ['open'] })
    const metrics = prometheus()
    metrics.watch(fixture.pawl)
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('pawl_unclaimable_jobs{'))
    expect(lines).toEqual(['pawl_unclaimable_jobs{queue="mixed",type="unknown"} 2'])
  })

  it('is for a token of its own, whose tenant nobody is', async () => {
    await using fixture = await openGatewayFixture()
    for (const scope of ['producer', 'worker', 'operator', 'viewer', 'admin', 'auditor'])
      expect((await fixture.ask(scope, 'GET', '/metrics')).status, scope).toBe(403)
    expect((await fixture.ask('metrics', 'GET', '/metrics')).status).toBe(200)
    // Which is good for nothing else, and is not a tenant's to make.
    for (const path of ['/v1/jobs', '/v1/queues', '/v1/tokens', '/v1/audit'])
      expect((await fixture.ask('metrics', 'GET', path)).status, path).toBe(403)
    expect((await fixture.ask('admin', 'POST', '/v1/tokens', { name: 'm', scope: 'metrics' })).status).toBe(403)
  })
})

describe('labels', () => {
  it('have so many values by name; the rest are told together, and nothing is lost', async () => {
    const metrics = prometheus({ values: 3 })
    for (let n = 0; n < 10; n += 1) {
      metrics.add('pawl_claims_total', 1, { type: `t${n}` })
      metrics.observe('pawl_queue_wait_seconds', 1, { type: `t${n}` })
      metrics.add('pawl_job_failures_total', 1, { code: `E${n}` })
    }
    const text = await metrics.text()
    expect(text).toContain('pawl_claims_total{type="t2"} 1\n')
    expect(text).toContain('pawl_claims_total{type="other"} 7\n')
    expect(text).toContain('pawl_queue_wait_seconds_count{type="other"} 7\n')
    expect(text).toContain('pawl_job_failures_total{code="other"} 7\n')
    expect(text).not.toContain('t3')
  })

  it('keep a page small whatever is made up', async () => {
    const metrics = prometheus()
    for (let n = 0; n < 5_000; n += 1)
      for (const [name, { kind }] of Object.entries(METRICS) as [keyof typeof METRICS, { kind: string }][])
        if (kind === 'histogram') metrics.observe(name, 1, { type: `${'x'.repeat(120)}${n}` })
        else metrics.add(name, 1, labelsOf(name, n))
    expect((await metrics.text()).length).toBeLessThan(4_000_000)
  })
})

const labelsOf = (name: string, n: number): Record<string, string> =>
  name.includes('failures')
    ? { code: `${'x'.repeat(120)}${n}` }
    : /claims|expiries|retry/.test(name)
      ? { type: `${'x'.repeat(120)}${n}` }
      : {}

describe('a scrape', () => {
  it('asks two questions about all queues, and again only after a while', async () => {
    const clock = new VirtualClock()
    const metrics = prometheus({ values: 3, clock })
    await using at = await open('memory:', { metrics, ticker: false })
    const asked: EventQuery[] = []
    metrics.watch({
      engine: new Proxy(at.engine, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target)
          if (name !== 'events') return typeof value === 'function' ? value.bind(target) : value
          return (query: EventQuery) => {
            asked.push(query)
            return target.events(query)
          }
        },
      }),
    })
    for (let n = 0; n < 20; n += 1) await at.enqueue(defineJob({ type: 'x', queue: `q${n}`, run: () => {} }))
    const [text] = await Promise.all([metrics.text(), metrics.text(), metrics.text()])
    expect(asked.map(({ by }) => by)).toEqual(['tally', 'backlog'])
    expect(text.match(/^pawl_jobs\{/gm)).toHaveLength(4)
    expect(text).toContain('pawl_jobs{queue="other",state="queued"} 17\n')
    expect(text.match(/^pawl_queue_oldest_seconds\{/gm)).toHaveLength(4)
    expect(text).toContain('pawl_queue_oldest_seconds{queue="other"}')
    clock.advance(4_000)
    await metrics.text()
    expect(asked).toHaveLength(2)
    clock.advance(2_000)
    await metrics.text()
    expect(asked).toHaveLength(4)
  })

  it('tells so many queues by name in all, whichever number they are told for', async () => {
    const metrics = prometheus({ values: 4 })
    await using at = await open('memory:', { metrics, ticker: false })
    metrics.watch(at)
    const inQueue = (queue: string) => at.enqueue(defineJob({ type: 'x', queue, run: () => {} }))
    // The first have waited longest, the last are fullest.
    for (let n = 0; n < 12; n += 1) for (let jobs = 0; jobs <= n; jobs += 1) await inQueue(`q${n}`)
    const text = await metrics.text()
    const names = new Set([...text.matchAll(/\{queue="(\w+)"/g)].map(([, name]) => name))
    expect(names.size).toBe(5)
    for (const name of ['other', 'q0', 'q11']) expect(names).toContain(name)
    const counts = [...text.matchAll(/^pawl_jobs\{.*\} (\d+)$/gm)].map(([, count]) => Number(count))
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(78)
  })

  it('goes to a registry of the application, beside its own numbers', async () => {
    const registry = new Registry()
    new Counter({ name: 'shop_orders_total', help: 'Orders.', registers: [registry] }).inc(3)
    const metrics = prometheus({ registry })
    await using at = await open('memory:', { metrics, ticker: false })
    metrics.watch(at)
    await at.enqueue(defineJob({ type: 'x', run: () => {} }))
    const text = await registry.metrics()
    for (const line of ['shop_orders_total 3', 'pawl_jobs{queue="default",state="queued"} 1'])
      expect(text).toContain(`${line}\n`)
    expect(text).toContain('pawl_claims_total')
  })

  it('that failed is made again', async () => {
    const metrics = prometheus()
    let fails = true
    await using at = await open('memory:', { metrics, ticker: false })
    metrics.watch({
      engine: new Proxy(at.engine, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name, target)
          if (name !== 'events') return typeof value === 'function' ? value.bind(target) : value
          return (query: EventQuery) => (fails ? Promise.reject(new Error('away')) : target.events(query))
        },
      }),
    })
    await expect(metrics.text()).rejects.toThrow('away')
    fails = false
    expect(await metrics.text()).toContain('pawl_claims_total')
  })
})
