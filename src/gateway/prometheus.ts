/**
 * The engine's numbers for Prometheus. What happens is counted as it happens; what a scrape asks besides (how many jobs
 * each queue has, and how long its oldest waits) is a statement each, and what it answered holds for a while, however many
 * scrape. No id is ever a label, and of names that users make up so many are labels; later ones are `other`.
 */
import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import { isOwnedState, isTerminal, type Time } from '../core/job.ts'
import type { Engine } from '../engine/engine.ts'
import { METRICS, type MetricLabels, type MetricName, type Metrics } from '../engine/metrics.ts'
import { type Unclaimable, unclaimable } from '../engine/unclaimable.ts'
import { Workers } from '../engine/workers.ts'
import type { Backlog, Tally } from '../store/store.ts'
import { type Clock, realClock } from '../system/clock.ts'
import type { LedgerDesk, LedgerStanding } from '../system/meter.ts'
import { CAPS } from './caps.ts'

export interface PrometheusOptions {
  /**
   * Where the numbers go; one of the application's own has its other numbers, too.
   * @default one of its own
   */
  readonly registry?: Registry | undefined
  /**
   * Values of a label that are told by name.
   * @default 200
   */
  readonly values?: number | undefined
  /**
   * What time it is; tests bring their own.
   * @default the machine's clock
   */
  readonly clock?: Clock | undefined
}

/** A `Pawl`, as far as it is watched. */
export interface Watchable {
  readonly engine: Engine
  /** @internal Of a Redis with a ledger: how far that is. */
  readonly below?: { readonly ledger?: Pick<LedgerDesk, 'standing'> | undefined } | undefined
}

export interface PrometheusMetrics extends Metrics {
  /** From now on a scrape tells of these queues, too. A `Pawl` is one whose engine is told of. */
  watch(pawl: Watchable): void
  /** All that the registry has, as Prometheus reads it. */
  text(): Promise<string>
}

/** Seconds. Handlers from a millisecond to hours; 1 to 300 are those of document 004. */
const BUCKETS = [0.001, 0.005, 0.025, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 1_800, 3_600]
/** Less than anybody's interval, more than two scrapers need to come together. */
const HOLDS_MS = 5_000
/** Lanes a scrape looks at; each has its first job looked up in an index. */
const LANES = 2_000
export const OTHER = 'other'

export const LABELS: Readonly<Record<MetricName, readonly string[]>> = {
  pawl_transitions_total: ['from', 'to'],
  pawl_claims_total: ['type'],
  pawl_claim_conflicts_total: [],
  pawl_commit_conflicts_total: [],
  pawl_lease_renewals_total: [],
  pawl_lease_expiries_total: ['type'],
  pawl_retry_attempts_total: ['type'],
  pawl_job_failures_total: ['code'],
  pawl_dead_letters_total: ['reason'],
  pawl_job_duration_seconds: ['type'],
  pawl_queue_wait_seconds: ['type'],
  pawl_ledger_joins_total: ['reason'],
  pawl_ledger_loads_total: [],
  pawl_ledger_refused_appends_total: [],
  pawl_script_errors_total: ['script', 'code'],
}

/** For `open`'s `metrics`: counts what this process does, under the names that docs/metrics.md has. */
export function prometheus({
  registry = new Registry(),
  values = CAPS.metricValues.most,
  clock = realClock,
}: PrometheusOptions = {}): PrometheusMetrics {
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  for (const [name, { kind, help }] of Object.entries(METRICS)) {
    const options = { name, help, labelNames: [...LABELS[name as MetricName]], registers: [registry] }
    if (kind === 'counter') counters.set(name, new Counter(options))
    else histograms.set(name, new Histogram({ ...options, buckets: BUCKETS }))
  }
  const few = fewValues(values)
  const text = held(() => registry.metrics(), clock)
  return {
    add: (name, value, labels) => counters.get(name)?.inc(few(labels), value),
    observe: (name, value, labels) => histograms.get(name)?.observe(few(labels), value),
    watch({ engine, below }) {
      const ledger = below?.ledger
      const watch = watched(engine, values, clock)
      depth(registry, watch)
      inflight(registry, watch, few)
      oldest(registry, watch)
      stuck(registry, watch, values)
      if (ledger !== undefined)
        ledgerGauges(
          registry,
          held(() => ledger.standing(), clock),
        )
    },
    text,
  }
}

/** The first so many values of each label under their own names. */
function fewValues(most: number): (labels: MetricLabels) => Record<string, string> {
  const known = new Map<string, Set<string>>()
  const bounded = (label: string, value: string): string => {
    const values = known.get(label) ?? new Set()
    known.set(label, values)
    if (values.size < most) values.add(value)
    return values.has(value) ? value : OTHER
  }
  return (labels) => {
    const few: Record<string, string> = {}
    for (const label in labels) few[label] = bounded(label, labels[label] as string)
    return few
  }
}

/** Made at most once in a while, and by one at a time. */
function held<T>(make: () => Promise<T>, clock: Clock): () => Promise<T> {
  let made: { readonly value: Promise<T>; readonly at: number } | undefined
  return async () => {
    const now = clock.monotonicMs()
    if (made === undefined || now - made.at >= HOLDS_MS) made = { value: make(), at: now }
    const { value } = made
    try {
      return await value
    } catch (error) {
      if (made?.value === value) made = undefined
      throw error
    }
  }
}

/** Gauges that a scrape asks the store for, by name. */
export const WATCHED = {
  pawl_jobs: { labels: ['queue', 'state'], help: 'Jobs of a queue that have not ended, by state.' },
  pawl_unclaimable_jobs: {
    labels: ['queue', 'type'],
    help: 'Jobs that wait in a queue which workers serve, of a type that none of those who are there knows.',
  },
  pawl_jobs_inflight: { labels: ['type'], help: 'Jobs of a type that a worker owns, wherever it is.' },
  pawl_queue_oldest_seconds: {
    labels: ['queue'],
    help: 'How long the oldest queued job of a queue has been waiting.',
  },
  pawl_ledger_log_entries: {
    labels: [],
    help: 'Redis with a ledger: entries of the log that Redis has in its memory.',
  },
  pawl_ledger_lag_entries: { labels: [], help: 'Redis with a ledger: entries that the ledger has not taken yet.' },
  pawl_ledger_lag_seconds: {
    labels: [],
    help: 'Redis with a ledger: how long the first entry that the ledger has not taken has been waiting.',
  },
  pawl_ledger_unfolded_entries: {
    labels: [],
    help: 'Redis with a ledger: entries that the ledger has, and its tables for reading have not.',
  },
} as const

interface Watch {
  /** Jobs that have not ended. Those that have are history, and kept for as long as somebody wants to look at them. */
  readonly tally: readonly Tally[]
  readonly backlog: readonly Backlog[]
  /** The most first. */
  readonly unclaimable: readonly Unclaimable[]
  readonly now: Time
  /** Queues that are told by name, by both gauges: so many are so many in all. */
  readonly named: ReadonlySet<string>
}

function watched(engine: Engine, most: number, clock: Clock): () => Promise<Watch> {
  return held(async () => {
    const all = await engine.events({ by: 'tally' })
    const { backlog, now } = await engine.events({ by: 'backlog', lanes: LANES })
    const tally = all.tally.filter(({ state, count }) => !isTerminal(state) && count > 0)
    // The fullest and those that wait longest, in turns.
    const fullest = tally.toSorted((a, b) => b.count - a.count)
    const oldest = backlog.toSorted((a, b) => a.since - b.since)
    const named = new Set<string>()
    for (let n = 0; n < Math.max(fullest.length, oldest.length); n += 1)
      for (const queue of [fullest[n]?.queue, oldest[n]?.queue])
        if (queue !== undefined && named.size < most) named.add(queue)
    // An engine that may not read workers has none to tell of.
    const workers = await new Workers(engine).present().catch(() => [])
    const none = unclaimable(tally, workers).toSorted((a, b) => b.count - a.count)
    return { tally, backlog, unclaimable: none, now, named }
  }, clock)
}

function depth(registry: Registry, watch: () => Promise<Watch>): void {
  gauge(registry, 'pawl_jobs', async (metric) => {
    metric.reset()
    const { tally, named } = await watch()
    for (const { queue, state, count } of tally) metric.inc({ queue: named.has(queue) ? queue : OTHER, state }, count)
  })
}

/** Counts owned jobs in the store, also those that were owned before this process was there. */
function inflight(registry: Registry, watch: () => Promise<Watch>, few: (labels: MetricLabels) => MetricLabels): void {
  gauge(registry, 'pawl_jobs_inflight', async (metric) => {
    metric.reset()
    const { tally } = await watch()
    for (const { jobType, state, count } of tally) metric.inc(few({ type: jobType }), isOwnedState(state) ? count : 0)
  })
}

function oldest(registry: Registry, watch: () => Promise<Watch>): void {
  gauge(registry, 'pawl_queue_oldest_seconds', async (metric) => {
    metric.reset()
    const { backlog, now, named } = await watch()
    const since = new Map<string, number>()
    for (const { queue, since: at } of backlog) {
      // The longest wait of each name, and of all that have none of their own.
      const name = named.has(queue) ? queue : OTHER
      since.set(name, Math.min(at, since.get(name) ?? at))
    }
    for (const [queue, at] of since) metric.set({ queue }, Math.max(0, now - at) / 1_000)
  })
}

/** One question for all of them. */
function ledgerGauges(registry: Registry, standing: () => Promise<LedgerStanding>): void {
  const numbers = {
    pawl_ledger_log_entries: ({ logged }) => logged,
    pawl_ledger_lag_entries: ({ unshipped }) => unshipped,
    pawl_ledger_lag_seconds: ({ unshippedMs }) => unshippedMs / 1_000,
    pawl_ledger_unfolded_entries: ({ unfolded }) => unfolded,
  } satisfies Partial<Record<keyof typeof WATCHED, (standing: LedgerStanding) => number>>
  for (const [name, number] of Object.entries(numbers))
    gauge(registry, name as keyof typeof numbers, async (metric) => metric.set(number(await standing())))
}

function stuck(registry: Registry, watch: () => Promise<Watch>, most: number): void {
  gauge(registry, 'pawl_unclaimable_jobs', async (metric) => {
    metric.reset()
    const { unclaimable: none, named } = await watch()
    const types = new Set<string>()
    for (const { queue, type, count } of none) {
      if (types.size < most) types.add(type)
      metric.inc({ queue: named.has(queue) ? queue : OTHER, type: types.has(type) ? type : OTHER }, count)
    }
  })
}

function gauge(registry: Registry, name: keyof typeof WATCHED, collect: (metric: Gauge) => Promise<void>): void {
  const { labels, help } = WATCHED[name]
  const own: Gauge = new Gauge({
    name,
    help,
    labelNames: [...labels],
    registers: [registry],
    collect: () => collect(own),
  })
}
