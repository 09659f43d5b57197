/** Numbers for a collector: counters, distributions, states. */
export interface Metrics {
  add(name: MetricName, value: number, labels: MetricLabels): void
  /** One value of a distribution. */
  observe(name: MetricName, value: number, labels: MetricLabels): void
}

export type MetricLabels = Readonly<Record<string, string>>
export type MetricName = keyof typeof METRICS

/** Every metric the engine tells, for documentation and for collectors that must declare theirs. */
export const METRICS = {
  pawl_transitions_total: { kind: 'counter', help: 'State changes, by where from and where to.' },
  pawl_claims_total: { kind: 'counter', help: 'Jobs given to workers.' },
  pawl_claim_conflicts_total: {
    kind: 'counter',
    help: 'Claims that got less than they asked for while jobs that were due stood in their lanes, held by other claims.',
  },
  pawl_commit_conflicts_total: {
    kind: 'counter',
    help: 'Commits that found the record changed, and were decided again.',
  },
  pawl_lease_renewals_total: { kind: 'counter', help: 'Heartbeats accepted.' },
  pawl_lease_expiries_total: { kind: 'counter', help: 'Leases that ended without a word from their owner.' },
  pawl_retry_attempts_total: { kind: 'counter', help: 'Retries scheduled.' },
  pawl_job_failures_total: { kind: 'counter', help: 'Failures, by code.' },
  pawl_dead_letters_total: { kind: 'counter', help: 'Dead letters, by reason.' },
  pawl_job_duration_seconds: { kind: 'histogram', help: 'Time in handlers, per attempt.' },
  pawl_queue_wait_seconds: { kind: 'histogram', help: 'From claimable to claimed.' },
  pawl_ledger_joins_total: {
    kind: 'counter',
    help: 'Redis with a ledger: how often this process made the server fit its ledger, by what was wrong: empty, behind, forked, fenced, restarted, or calls that were lost.',
  },
  pawl_ledger_loads_total: {
    kind: 'counter',
    help: 'Redis with a ledger: joins for which all that lives was loaded from the ledger.',
  },
  pawl_ledger_refused_appends_total: {
    kind: 'counter',
    help: 'Redis with a ledger: stretches of the log that the ledger did not take: another process had shipped them, or the server had gone back.',
  },
  pawl_script_errors_total: {
    kind: 'counter',
    help: 'Redis: scripts that the server refused or that failed, by script and code (OOM: its memory is full; BEHIND: too much waits for the ledger).',
  },
} as const
