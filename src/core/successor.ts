/**
 * A retry that is a new job (002): consumers that are not idempotent must not see the same id twice, and an ending is final
 * whoever would try again. It has the words of the old one, its parent, and what is left of its budget.
 */
import { assert } from './assert.ts'
import type { Enqueue } from './command.ts'
import { bondOf } from './dialects/bond.ts'
import type { Draft } from './draft.ts'
import { conclude } from './ending.ts'
import type { Event } from './event.ts'
import { wordsInPlaceOf } from './in-place.ts'
import type { Ending, Failure, Job } from './job.ts'
import { askedOf } from './recast.ts'
import { retryAt } from './retry.ts'
import type { Ruling } from './ruling.ts'

/** Only the same job knows what it has to undo: one with steps to undo ends by that, and has no successor. */
export const maySucceedItself = (job: Job): boolean =>
  bondOf(job.spec.kind.policy).retriesAsNewJob && job.phase === 'run' && job.compensations.length === 0

/** Ends the job by a time limit. With budget left it has a successor, where its document retries so. */
export function concludeTimedOut(
  d: Draft,
  job: Job,
  ending: Ending & { readonly error: Failure },
  budgetLeft: boolean,
  executionMs = 0,
): Ruling {
  const isSucceeded = budgetLeft && maySucceedItself(d.job)
  conclude(d, ending, executionMs)
  return isSucceeded ? { successor: successorOf(d, job, ending.error, undefined) } : undefined
}

/** Whether an event has enqueued such a one. Its word is that of who has ended the job before it, and not of who has asked for it. */
export const isRetry = ({ type, cause }: Pick<Event, 'type' | 'cause'>): boolean =>
  type === 'enqueued' && cause === RETRY

const RETRY = 'retry'

/** `job`: as it was before the ending that `d` has drafted. What it has cost is on the record by then. */
export function successorOf(
  d: Draft,
  job: Job,
  failure: Failure,
  retryAfterMs: number | undefined,
  level = 0,
): Omit<Enqueue, 'id'> {
  assert(d.job.endedAt !== undefined, 'a successor comes after an ending')
  const spec = askedOf(job)
  return {
    ...wordsInPlaceOf(spec),
    type: 'enqueue',
    actor: d.command.actor,
    requestId: `${job.id}/${job.generation}/retry`,
    correlationId: spec.correlationId,
    cause: RETRY,
    traceparent: spec.traceparent,
    kind: spec.kind,
    priority: job.priority,
    runAt: retryAt(job, failure, d.at, retryAfterMs, level),
    input: spec.input,
    parentId: job.id,
    failures: d.job.failures,
    stalls: d.job.stalls,
  }
}
