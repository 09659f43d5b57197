import type { Policy } from '../../core/policy.ts'

const HOUR = 3_600_000

/** Long limits, so that a check meets only the timers it asks for. */
export const policyOf = (changes: Partial<Policy> = {}): Policy => ({
  dialect: undefined,
  leaseMs: 24 * HOUR,
  heartbeat: false,
  heartbeatMs: 15_000,
  missedHeartbeats: 2,
  attemptMs: 24 * HOUR,
  deadlineMs: undefined,
  startWithinMs: undefined,
  onDuplicate: undefined,
  parkAfterMs: HOUR,
  cancelGraceMs: 24 * HOUR,
  compensateWithinMs: 24 * HOUR,
  maxAttempts: 3,
  maxStalls: 3,
  budget: 'separate',
  retry: { baseMs: 1_000, factor: 2, maxMs: 60_000, jitter: 'none' },
  throttled: { baseMs: 10_000, factor: 2, maxMs: 600_000, jitter: 'none' },
  errors: {},
  retryFailures: true,
  onExhausted: 'dead_lettered',
  onInvalid: 'dead_lettered',
  onAttemptTimeout: 'fail',
  onStall: 'requeue',
  onNotStarted: 'timed_out',
  onWaitTimeout: 'resume',
  admission: false,
  idempotent: true,
  dedupe: 'live',
  ...changes,
})
