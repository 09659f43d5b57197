import { describe, expect, it } from 'vitest'
import { METRICS, type MetricLabels, type Metrics } from '../../src/engine/metrics.ts'
import { noObserver, observer } from '../../src/engine/observer.ts'
import { linesTo } from '../../src/system/log.ts'
import { EngineFixture, kindOf } from './engine-fixture.ts'

/** Adds everything up. */
class Sums implements Metrics {
  readonly sums = new Map<string, number>()
  readonly values = new Map<string, number[]>()

  add(name: string, value: number, labels: MetricLabels): void {
    const key = keyOf(name, labels)
    this.sums.set(key, (this.sums.get(key) ?? 0) + value)
  }

  observe(name: string, value: number, labels: MetricLabels): void {
    const key = keyOf(name, labels)
    this.values.set(key, [...(this.values.get(key) ?? []), value])
  }
}

const keyOf = (name: string, labels: MetricLabels): string =>
  `${name}{${Object.entries(labels)
    .map(([label, value]) => `${label}=${value}`)
    .join(',')}}`

/** Fails once, is lost once, is a dead letter in the end. */
async function troubledLife(fixture: EngineFixture): Promise<string> {
  const kind = kindOf({ retry: { attempts: 2, jitter: 'none', base: '2s' } })
  const first = await fixture.running({ kind })
  fixture.clock.advance(1_000)
  await fixture.engine.heartbeat([{ id: first.job.id, fence: first.fence, requestId: 'b' }])
  const fault = { code: 'E_GPU_OOM', message: 'oom' }
  await fixture.must(first.job.id, { type: 'fail', fence: first.fence, fault, executionMs: 1_500 })
  fixture.clock.advance(5_000)
  const [second] = await fixture.claim()
  fixture.clock.advance(60_000)
  await fixture.engine.tick(10)
  const [third] = await fixture.claim()
  await fixture.must(first.job.id, { type: 'fail', fence: third?.fence ?? '', fault, executionMs: 500 })
  expect(second?.job.id).toBe(first.job.id)
  return first.job.id
}

describe('what is told about jobs', () => {
  it('is one structured line per transition', async () => {
    const lines: Record<string, unknown>[] = []
    const log = linesTo(
      (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
      () => 0,
    )
    const fixture = new EngineFixture({ observer: observer({ log }) })
    const id = await troubledLife(fixture)
    const transitions = (await fixture.log(id)).filter(({ seq }) => seq !== undefined)
    expect(lines).toHaveLength(transitions.length)
    const told = lines.map(({ job_id, from, to, reason, attempt }) => ({ job_id, from, to, reason, attempt }))
    const happened = transitions.map(({ jobId, from, to, reason, command, attempt }) => ({
      job_id: jobId,
      from: from ?? 'none',
      to,
      reason: reason ?? command,
      attempt,
    }))
    expect(told).toEqual(happened)
    expect(lines.at(-1)).toMatchObject({ to: 'dead_lettered', correlation_id: id, level: 'info', type: 'work' })
  })

  it('adds up to the metrics, none of them labelled with an id', async () => {
    const metrics = new Sums()
    const fixture = new EngineFixture({ observer: observer({ metrics }) })
    await troubledLife(fixture)
    expect(Object.fromEntries(metrics.sums)).toEqual({
      'pawl_transitions_total{from=none,to=queued}': 1,
      'pawl_transitions_total{from=queued,to=claimed}': 2,
      'pawl_transitions_total{from=claimed,to=running}': 2,
      'pawl_transitions_total{from=running,to=retrying}': 1,
      'pawl_transitions_total{from=retrying,to=claimed}': 1,
      'pawl_transitions_total{from=claimed,to=stalled}': 1,
      'pawl_transitions_total{from=stalled,to=queued}': 1,
      'pawl_transitions_total{from=running,to=dead_lettered}': 1,
      'pawl_claims_total{type=work}': 3,
      'pawl_lease_renewals_total{}': 1,
      'pawl_lease_expiries_total{type=work}': 1,
      'pawl_retry_attempts_total{type=work}': 1,
      'pawl_job_failures_total{code=E_GPU_OOM}': 2,
      'pawl_dead_letters_total{reason=exhausted_retries}': 1,
    })
    expect(metrics.values.get('pawl_queue_wait_seconds{type=work}')).toEqual([0, 3, 0])
    expect(metrics.values.get('pawl_job_duration_seconds{type=work}')).toEqual([1.5, 0.5])
    for (const key of [...metrics.sums.keys(), ...metrics.values.keys()]) {
      expect(Object.keys(METRICS)).toContain(key.slice(0, key.indexOf('{')))
    }
  })

  it('has a duration for every attempt that its owner ended: of nothing, of no time told, and none of one that was lost', async () => {
    const metrics = new Sums()
    const fixture = new EngineFixture({ observer: observer({ metrics }) })
    const durations = () => metrics.values.get('pawl_job_duration_seconds{type=work}') ?? []
    const kind = kindOf({ retry: { base: 1, max: 1, jitter: 'none' } })
    const silent = await fixture.running({ kind })
    fixture.clock.advance(2_000)
    await fixture.must(silent.job.id, { type: 'complete', fence: silent.fence })
    expect(durations()).toEqual([2])
    await fixture.enqueue({ kind })
    const [quick] = await fixture.claim()
    await fixture.must(quick?.job.id ?? '', { type: 'complete', fence: quick?.fence ?? '', executionMs: 0 })
    expect(durations()).toEqual([2, 0])
    await fixture.running({ kind })
    fixture.clock.advance(60_000)
    await fixture.engine.tick(10)
    expect(durations()).toEqual([2, 0])
  })

  it('reaches tracing event by event, and counts conflicts', async () => {
    const metrics = new Sums()
    const seen: string[] = []
    const tracing = { transition: ({ type }: { readonly type: string }) => seen.push(type) }
    const fixture = new EngineFixture({ observer: observer({ metrics, tracing }) })
    const { job, fence } = await fixture.running()
    await fixture.say(job.id, { type: 'cancel', mode: 'soft' }, fixture.another())
    await fixture.must(job.id, { type: 'complete', fence })
    expect(seen).toEqual(['enqueued', 'claimed', 'started', 'succeeded'])
    expect(metrics.sums.get('pawl_commit_conflicts_total{}')).toBe(1)
  })

  it('harms no job, and no other measure, when the observer fails', async () => {
    const lines: string[] = []
    const log = linesTo(
      (line) => lines.push(line),
      () => 0,
    )
    const metrics: Metrics = {
      add: () => {
        throw new Error('full')
      },
      observe: () => {},
    }
    const fixture = new EngineFixture({ observer: observer({ log, metrics }) })
    const { job, fence } = await fixture.running()
    expect((await fixture.must(job.id, { type: 'complete', fence })).state).toBe('succeeded')
    // Enqueued: one; claimed: two; started: one; succeeded: one.
    expect(lines.filter((line) => line.includes('an observer failed'))).toHaveLength(5)
  })

  it('costs nothing where nobody listens', () => {
    expect(observer({})).toBe(noObserver)
  })
})
