/** `enqueue`: – → `queued`, or `pending` where admission applies. */
import type { Enqueue } from '../command.ts'
import type { Event } from '../event.ts'
import type { Job, Spec, Time } from '../job.ts'
import type { Policy } from '../policy.ts'
import { digestOf } from '../receipt.ts'

export const bornAs = ({ admission }: Policy): 'pending' | 'queued' => (admission ? 'pending' : 'queued')

export function enqueued(command: Enqueue, now: Time): Event {
  const { policy } = command.kind
  const runAt = Math.max(now, command.runAt ?? now)
  const state = bornAs(policy)
  return {
    jobId: command.id,
    rev: 1,
    seq: 1,
    type: 'enqueued',
    from: undefined,
    to: state,
    state,
    at: now,
    actor: command.actor,
    command: 'enqueue',
    requestId: command.requestId,
    digest: '',
    correlationId: command.correlationId ?? command.requestId,
    traceparent: command.traceparent,
    cause: command.cause,
    reason: undefined,
    generation: 0,
    attempt: 0,
    version: 1,
    payload: {
      spec: specOf(command, now),
      priority: command.priority,
      runAt,
      deadlineAt: policy.deadlineMs === undefined ? undefined : now + policy.deadlineMs,
      startBy: policy.startWithinMs === undefined ? undefined : runAt + policy.startWithinMs,
      failures: command.failures ?? 0,
      stalls: command.stalls ?? 0,
    },
  }
}

const specOf = (command: Enqueue, now: Time): Spec => ({
  kind: command.kind,
  alias: command.alias,
  input: command.input,
  contextPtr: command.contextPtr,
  topic: command.topic,
  adapterId: command.adapterId,
  env: command.env,
  labels: command.labels,
  parentId: command.parentId,
  workflowId: command.workflowId,
  stepIndex: command.stepIndex,
  dedupeKey: command.dedupeKey,
  correlationId: command.correlationId ?? command.requestId,
  traceparent: command.traceparent,
  createdAt: now,
})

/** The same id with the same words is the same job. Tracing may differ: a repeated call has a trace of its own. */
export function sameEnqueue(job: Job, command: Enqueue): boolean {
  const { spec } = job
  const was = { ...command, ...wordsOf(spec), id: job.id }
  return digestOf(withoutTime(was)) === digestOf(withoutTime(command)) && sameKind(spec.kind, command.kind)
}

const wordsOf = (spec: Spec) => ({
  alias: spec.alias,
  input: spec.input,
  contextPtr: spec.contextPtr,
  topic: spec.topic,
  adapterId: spec.adapterId,
  env: spec.env,
  labels: spec.labels,
  parentId: spec.parentId,
  workflowId: spec.workflowId,
  stepIndex: spec.stepIndex,
  dedupeKey: spec.dedupeKey,
})

/** When to run and how urgently may have been changed since: not part of what the job is. */
const withoutTime = (command: Enqueue): Enqueue => ({ ...command, runAt: undefined, priority: 0 })

const sameKind = (a: Spec['kind'], b: Spec['kind']): boolean =>
  a.tenant === b.tenant && a.queue === b.queue && a.type === b.type
