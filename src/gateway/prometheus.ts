/**
 * The engine's numbers for Prometheus. What happens is counted as it happens; what a scrape asks besides (how long the
 * oldest queued job waits) is one index lookup per queue, never a scan. No id is ever a label.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { Engine } from '../engine/engine.ts'
import { METRICS, type MetricLabels, type MetricName, type Metrics } from '../engine/metrics.ts'

export interface PrometheusMetrics extends Metrics {
  /** From now on a scrape tells of this engine's queues too. */
  watch(engine: Engine): void
  text(): Promise<string>
}

/** Seconds. Handlers from a millisecond to hours; 1 to 300 are those of document 004. */
const BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 1_800, 3_600]

export const LABELS: Readonly<Record<MetricName, readonly string[]>> = {
  pawl_transitions_total: ['from', 'to'],
  pawl_claims_total: ['type'],
  pawl_claim_conflicts_total: [],
  pawl_lease_renewals_total: [],
  pawl_lease_expiries_total: ['type'],
  pawl_retry_attempts_total: ['type'],
  pawl_job_failures_total: ['code'],
  pawl_dead_letters_total: ['reason'],
  pawl_jobs_inflight: ['type'],
  pawl_job_duration_seconds: ['type'],
  pawl_queue_wait_seconds: ['type'],
}

export function prometheus(): PrometheusMetrics {
  const registry = new Registry()
  const counters = new Map<string, Counter>()
  const gauges = new Map<string, Gauge>()
  const histograms = new Map<string, Histogram>()
  for (const [name, { kind, help }] of Object.entries(METRICS)) {
    const words = { name, help, labelNames: [...LABELS[name as MetricName]], registers: [registry] }
    if (kind === 'counter') counters.set(name, new Counter(words))
    else if (kind === 'gauge') gauges.set(name, new Gauge(words))
    else histograms.set(name, new Histogram({ ...words, buckets: BUCKETS }))
  }
  return {
    add(name, value, labels) {
      counters.get(name)?.inc(plain(labels), value)
      gauges.get(name)?.inc(plain(labels), value)
    },
    observe: (name, value, labels) => histograms.get(name)?.observe(plain(labels), value),
    watch: (engine) => oldest(registry, engine),
    text: () => registry.metrics(),
  }
}

const plain = (labels: MetricLabels): Record<string, string> => ({ ...labels })

function oldest(registry: Registry, engine: Engine): void {
  new Gauge({
    name: 'pawl_queue_oldest_seconds',
    help: 'How long the oldest queued job of a queue has been waiting.',
    labelNames: ['queue'],
    registers: [registry],
    async collect() {
      this.reset()
      const { tally } = await engine.events({ by: 'tally' })
      const queues = new Set(
        tally.filter(({ state, count }) => state === 'queued' && count > 0).map(({ queue }) => queue),
      )
      for (const queue of queues) {
        const { jobs, now } = await engine.find({ queues: [queue], states: ['queued'], order: 'oldest', limit: 1 })
        const readyAt = jobs[0]?.readyAt
        if (readyAt !== undefined) this.set({ queue }, Math.max(0, now - readyAt) / 1_000)
      }
    },
  })
}
