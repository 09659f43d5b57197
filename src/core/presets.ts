/** Defaults, and what each document says where it says something. */
import type { DialectName, Policy } from './policy.ts'

export const DEFAULTS: Policy = {
  dialect: undefined,
  leaseMs: 60_000,
  heartbeat: true,
  heartbeatMs: 15_000,
  missedHeartbeats: 2,
  attemptMs: 300_000,
  deadlineMs: undefined,
  startWithinMs: undefined,
  parkAfterMs: 60_000,
  cancelGraceMs: 30_000,
  compensateWithinMs: 3_600_000,
  maxAttempts: 7,
  maxStalls: 3,
  budget: 'separate',
  retry: { baseMs: 2_000, factor: 2, maxMs: 60_000, jitter: 'full' },
  throttled: { baseMs: 10_000, factor: 2, maxMs: 600_000, jitter: 'equal' },
  errors: {},
  retryFailures: true,
  onExhausted: 'dead_lettered',
  onInvalid: 'dead_lettered',
  onAttemptTimeout: 'fail',
  onStall: 'requeue',
  onNotStarted: 'stalled',
  onWaitTimeout: 'resume',
  admission: false,
  idempotent: true,
  dedupe: 'live',
  onDuplicate: undefined,
}

export const PRESETS: Readonly<Record<DialectName, Partial<Policy>>> = {
  /** "base=2" without a unit is its factor; two seconds to start from. A lost lease is an attempt. */
  '000A': { budget: 'shared', retry: { baseMs: 2_000, factor: 2, maxMs: 60_000, jitter: 'full' } },
  '000B': {
    budget: 'shared',
    onExhausted: 'failed',
    onInvalid: 'failed',
    retry: { baseMs: 500, factor: 2, maxMs: 60_000, jitter: 'full' },
  },
  /** `fail` is terminal and nothing waits for a retry: only stall and requeue, as often as it takes. */
  '001': {
    retryFailures: false,
    maxStalls: 0,
    onExhausted: 'failed',
    onInvalid: 'failed',
    leaseMs: 300_000,
    heartbeatMs: 120_000,
    missedHeartbeats: 3,
  },
  /** Every job is PENDING first; the reconciler times out what is stale or was never started; a retry is a new job. */
  '002': {
    admission: true,
    onStall: 'timed_out',
    onNotStarted: 'timed_out',
    onAttemptTimeout: 'timed_out',
    onWaitTimeout: 'timed_out',
    onExhausted: 'failed',
    onInvalid: 'failed',
    startWithinMs: 300_000,
    idempotent: false,
  },
  '003': { leaseMs: 30_000, heartbeatMs: 10_000, maxAttempts: 3, onExhausted: 'failed', onInvalid: 'failed' },
  /** Heartbeat every 10 s, missed for 90 s: `timeout_soft` and rescheduled; seven attempts in all, the last after 64 s. */
  '004': {
    leaseMs: 90_000,
    heartbeatMs: 10_000,
    missedHeartbeats: 9,
    maxAttempts: 7,
    budget: 'shared',
    onStall: 'retry',
    onExhausted: 'failed',
    onInvalid: 'failed',
    retry: { baseMs: 2_000, factor: 2, maxMs: 64_000, jitter: 'full' },
  },
}
