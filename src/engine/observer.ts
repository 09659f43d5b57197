import { attemptMs } from '../core/attempt.ts'
import { bondOf } from '../core/dialects/bond.ts'
import { movesOf } from '../core/dialects/moves.ts'
import type { Event } from '../core/event.ts'
import { withoutNonce } from '../core/fence.ts'
import type { Job } from '../core/job.ts'
import { reasonOf } from '../core/reason.ts'
import { isolated } from '../system/isolated.ts'
import { harmless, type Log } from '../system/log.ts'
import type { Metrics } from './metrics.ts'
import { shownProse } from './sealing.ts'

/**
 * The choke point: whatever is to be known about jobs from outside is told here, once per accepted commit. Observers
 * are told after the fact and cannot refuse; one that throws is its own problem, never the job's.
 */
export interface Observer {
  /** `before` is undefined for a new job. */
  committed(events: readonly Event[], before: Job | undefined, after: Job): void
  /** A commit was a conflict: the record had moved on since it was read. */
  conflicted(): void
  /** A claim got less than it asked for while others were claiming in its lanes. */
  contended(): void
  /** Leases renewed. */
  renewed(count: number): void
}

/**
 * For OpenTelemetry and its like: spans are made by the tracer that is given, from what is told here. It is told when this process
 * learns of the commit: where one commit enqueues and claims, the claim may be told first. `rev` has the order.
 */
export interface Tracing {
  transition(event: Event, before: Job | undefined, after: Job): void
}

export interface ObserverOptions {
  readonly log?: Log | undefined
  readonly metrics?: Metrics | undefined
  readonly tracing?: Tracing | undefined
}

export const noObserver: Observer = {
  committed: () => {},
  conflicted: () => {},
  contended: () => {},
  renewed: () => {},
}

/** Both are told, in this order. */
export const observers = (first: Observer, second: Observer | undefined): Observer =>
  second === undefined
    ? first
    : {
        committed(events, before, after) {
          first.committed(events, before, after)
          second.committed(events, before, after)
        },
        conflicted() {
          first.conflicted()
          second.conflicted()
        },
        contended() {
          first.contended()
          second.contended()
        },
        renewed(count) {
          first.renewed(count)
          second.renewed(count)
        },
      }

export function observer(options: ObserverOptions): Observer {
  if (options.log === undefined && options.metrics === undefined && options.tracing === undefined) return noObserver
  const log = options.log && harmless(options.log)
  const failed = (thrown: unknown): void => log?.error('an observer failed', { reason: reasonOf(thrown) })
  const metrics = options.metrics && harmlessMetrics(options.metrics, failed)
  const { tracing } = options
  return {
    committed(events, before, after) {
      if (log !== undefined) isolated(() => logTransitions(log, events, before, after), failed)
      for (const event of events) {
        if (event.seq === undefined) continue
        if (tracing !== undefined) isolated(() => tracing.transition(event, before, after), failed)
      }
      if (metrics !== undefined) measure(metrics, events, before, after)
    },
    conflicted: () => metrics?.add('pawl_commit_conflicts_total', 1, {}),
    contended: () => metrics?.add('pawl_claim_conflicts_total', 1, {}),
    renewed: (count) => metrics?.add('pawl_lease_renewals_total', count, {}),
  }
}

/** Metrics that may throw: one that does keeps none of the others from being counted. */
const harmlessMetrics = (metrics: Metrics, failed: (thrown: unknown) => void): Metrics => ({
  add: (...words) => isolated(() => metrics.add(...words), failed),
  observe: (...words) => isolated(() => metrics.observe(...words), failed),
})

/** Logs transitions. Of a job bound to a document with a log of its own, those that are transitions there, in its words. */
function logTransitions(log: Log, events: readonly Event[], before: Job | undefined, after: Job): void {
  const { policy } = after.spec.kind
  const moves =
    policy.dialect !== undefined && bondOf(policy).logsInItsWords ? movesOf(events, before, policy.dialect) : undefined
  events.forEach((event, i) => {
    const move = moves === undefined ? event : moves[i]
    if (event.seq !== undefined && move !== undefined) logTransition(log, event, after, move.from, move.to)
  })
}

/** Every line has every field. A transition without a reason happened because its command was given. */
function logTransition(log: Log, event: Event, { spec }: Job, from: string | undefined, to: string | undefined): void {
  log.info('transition', {
    job_id: event.jobId,
    type: spec.kind.type,
    queue: spec.kind.queue,
    tenant: spec.kind.tenant,
    event: event.type,
    from: from ?? 'none',
    to,
    reason: shownProse(event.reason ?? event.command),
    attempt: event.attempt,
    generation: event.generation,
    rev: event.rev,
    actor: event.actor,
    request_id: withoutNonce(event.requestId),
    correlation_id: event.correlationId,
  })
}

/** Labels are few and bounded: types, states, codes, reasons. Never an id. */
function measure(metrics: Metrics, events: readonly Event[], before: Job | undefined, after: Job): void {
  const { type } = after.spec.kind
  for (const event of events) {
    if (event.seq === undefined) continue
    metrics.add('pawl_transitions_total', 1, { from: event.from ?? 'none', to: event.to })
    switch (event.type) {
      case 'claimed':
        metrics.add('pawl_claims_total', 1, { type })
        metrics.observe('pawl_queue_wait_seconds', seconds(event.at - (before?.readyAt ?? event.at)), { type })
        break
      case 'stalled':
        metrics.add('pawl_lease_expiries_total', 1, { type })
        break
      case 'retry_scheduled':
        metrics.add('pawl_retry_attempts_total', 1, { type })
        metrics.add('pawl_job_failures_total', 1, { code: event.payload.failure.code })
        break
      case 'failed':
      case 'timed_out':
        metrics.add('pawl_job_failures_total', 1, { code: event.payload.failure.code })
        break
      case 'dead_lettered':
        metrics.add('pawl_job_failures_total', 1, { code: event.payload.failure.code })
        metrics.add('pawl_dead_letters_total', 1, { reason: event.payload.deadLetter.reason })
        break
      default:
    }
  }
  const workedMs = attemptMs(events, before, after)
  if (workedMs !== undefined) metrics.observe('pawl_job_duration_seconds', seconds(workedMs), { type })
}

const seconds = (ms: number): number => Math.max(0, ms) / 1_000
