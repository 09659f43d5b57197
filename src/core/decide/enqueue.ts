/** `enqueue`: – → `queued`, or `pending` where admission applies. */
import type { Enqueue } from '../command.ts'
import { neededToClaim } from '../dialects/bond.ts'
import type { Event, TransitionPayloads } from '../event.ts'
import { wordsInPlaceOf } from '../in-place.ts'
import type { Job, JobId, Kind, Spec, Time } from '../job.ts'
import type { Policy } from '../policy.ts'
import { digestOf, saysTheSame } from '../receipt.ts'
import { deadlineFrom, startByFor } from '../timers.ts'

export const bornAs = ({ admission }: Policy): 'pending' | 'queued' => (admission ? 'pending' : 'queued')

export function enqueued(command: Enqueue, now: Time): Event {
  const { policy } = command.kind
  const runAt = bornToRunAt(command, now)
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
      deadlineAt: deadlineFrom(policy, now),
      startBy: startByFor(policy, runAt),
      failures: command.failures ?? 0,
      stalls: command.stalls ?? 0,
      needs: state === 'queued' ? neededToClaim(command.kind) : undefined,
    },
  }
}

/** A debounced job waits for duplicates from its birth on, unless it says when to run. */
function bornToRunAt({ runAt, dedupeKey, kind }: Enqueue, now: Time): Time {
  const { onDuplicate } = kind.policy
  if (runAt !== undefined || dedupeKey === undefined || onDuplicate?.does !== 'debounce')
    return Math.max(now, runAt ?? now)
  return now + onDuplicate.withinMs
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
  flow: command.flow,
  correlationId: command.correlationId ?? command.requestId,
  traceparent: command.traceparent,
  createdAt: now,
})

/** The same id with the same words is the same job. Tracing may differ: a repeated call has a trace of its own. */
export function sameEnqueue({ id, spec }: Pick<Job, 'id' | 'spec'>, command: Enqueue): boolean {
  const was = { ...command, ...askedOf(spec), id }
  return digestOf(withoutTime(was)) === digestOf(withoutTime(command)) && sameKind(spec.kind, command)
}

/** A job as it was born, whatever has become of it. */
export type Birth = Pick<TransitionPayloads['enqueued'], 'spec' | 'priority' | 'runAt'>

/** Of a record that nothing has happened to, its own; of any other its first event has it. */
export const birthOf = ({ rev, spec, priority, runAt }: Job): Birth | undefined =>
  rev === 1 && runAt !== undefined ? { spec, priority, runAt } : undefined

/**
 * The same call again: the same job, asked for with the same urgency, for the same time, under the same policy. `runAt` of
 * the command is what its words come to at the time the job was born.
 */
export const sameCall = (id: JobId, { spec, priority, runAt }: Birth, command: Enqueue): boolean =>
  sameEnqueue({ id, spec }, { ...command, id }) &&
  priority === command.priority &&
  runAt === bornToRunAt(command, spec.createdAt) &&
  (leftOut(command, 'policy') || saysTheSame(spec.kind.policy, command.kind.policy))

const askedOf = (spec: Spec) => ({
  ...wordsInPlaceOf(spec),
  alias: spec.alias,
  input: spec.input,
  parentId: spec.parentId,
})

/** When to run and how urgently may have been changed since: not part of what the job is. */
const withoutTime = (command: Enqueue): Enqueue => ({ ...command, runAt: undefined, priority: 0 })

const sameKind = (was: Kind, command: Enqueue): boolean =>
  was.tenant === command.kind.tenant &&
  was.type === command.kind.type &&
  (leftOut(command, 'queue') || was.queue === command.kind.queue)

const leftOut = ({ unsaid }: Enqueue, what: 'queue' | 'policy'): boolean => unsaid?.includes(what) === true
