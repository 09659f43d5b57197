import type { DuplicatesInput } from '../core/duplicates.ts'
import { DURATION_RULE, type Duration, parseDuration } from '../core/duration.ts'
import { type Kind, PRIORITIES, type Priority, type PriorityName } from '../core/job.ts'
import type { Violation } from '../core/refusal.ts'
import { unknownWords, wordsOf } from '../core/unknown-words.ts'
import type { EnqueueRequest } from '../engine/engine.ts'
import { unsaidIn } from '../engine/job-types.ts'
import type { Transaction } from '../store/store.ts'
import type { SpawnOptions } from '../worker/spawn.ts'
import type { CallOptions } from './call.ts'
import { Invalid } from './errors.ts'

export interface EnqueueOptions extends SpawnOptions, CallOptions {
  /**
   * This call: repeated with it, the first answer comes back.
   * @default none: every call is a new one
   */
  readonly requestId?: string | undefined
  /**
   * This creation, for 24 hours: the same call again gives the job it made, another under the same key is refused.
   * @default none
   */
  readonly idempotencyKey?: string | undefined
  /**
   * How long its dedupe key is held, and what duplicates do: for this job, in place of what its type says.
   * @default as its type says
   */
  readonly dedupe?: DuplicatesInput | undefined
  /**
   * The job lives and dies with this transaction, which must be open: a `pg` client, or what an adapter makes of yours.
   * @default one of its own
   */
  readonly tx?: Transaction | undefined
  /**
   * The job it belongs to, which is told of its end.
   * @default none
   */
  readonly parentId?: string | undefined
  /**
   * Who enqueues it, for the log.
   * @default that of `open`, else `producer`
   */
  readonly actor?: string | undefined
}

export const ENQUEUE_WORDS = wordsOf<EnqueueOptions>({
  id: true,
  dedupeKey: true,
  flow: true,
  delay: true,
  runAt: true,
  priority: true,
  queue: true,
  policy: true,
  tenant: true,
  labels: true,
  correlationId: true,
  workflowId: true,
  stepIndex: true,
  traceparent: true,
  topic: true,
  contextPtr: true,
  adapterId: true,
  env: true,
  requestId: true,
  idempotencyKey: true,
  dedupe: true,
  tx: true,
  parentId: true,
  actor: true,
  timeout: true,
  signal: true,
})

/** Throws where something is said about a new job that nobody would hear. */
export function demandKnown(what: string, options: object, known: readonly string[] = ENQUEUE_WORDS): void {
  const unknown = unknownWords(options, known)
  if (unknown.length > 0) throw new Invalid(what, unknown)
}

/** `producer` is what stores need not write down. */
export const PRODUCER = 'producer'
export const DEFAULT_PRIORITY: Priority = PRIORITIES.normal

export function enqueueRequest(
  kind: Kind,
  input: string | undefined,
  said: Pick<EnqueueRequest, 'dedupeKey' | 'flow'>,
  actor: string,
  options: EnqueueOptions,
): EnqueueRequest {
  const found: Violation[] = []
  const request: EnqueueRequest = {
    requestId: options.requestId,
    actor: options.actor ?? actor,
    kind,
    unsaid: unsaidIn(options),
    priority: priorityFrom(options.priority, found),
    input,
    id: options.id,
    idempotencyKey: options.idempotencyKey,
    dedupeKey: options.dedupeKey ?? said.dedupeKey,
    flow: options.flow === undefined ? said.flow : { keys: options.flow.keys ?? [], fair: options.flow.fair },
    runAt: timeFrom(options.runAt),
    delayMs: delayFrom(options.delay, found),
    contextPtr: options.contextPtr,
    topic: options.topic,
    adapterId: options.adapterId,
    env: options.env,
    labels: options.labels,
    parentId: options.parentId,
    workflowId: options.workflowId,
    stepIndex: options.stepIndex,
    correlationId: options.correlationId,
    traceparent: options.traceparent,
  }
  if (found.length > 0) throw new Invalid(`enqueue of ${kind.type}`, found)
  return request
}

export function priorityFrom(priority: PriorityName | Priority | undefined, found: Violation[]): Priority {
  if (priority === undefined) return DEFAULT_PRIORITY
  if (typeof priority === 'number') return priority
  if (Object.hasOwn(PRIORITIES, priority)) return PRIORITIES[priority]
  found.push({ field: 'priority', rule: `must be 0 to 9, or one of ${Object.keys(PRIORITIES).join(', ')}` })
  return DEFAULT_PRIORITY
}

export const timeFrom = (time: Date | number | undefined): number | undefined =>
  time instanceof Date ? time.getTime() : time

export function delayFrom(delay: Duration | undefined, found: Violation[]): number | undefined {
  if (delay === undefined) return undefined
  const ms = parseDuration(delay)
  if (ms === undefined) found.push({ field: 'delay', rule: DURATION_RULE })
  return ms === undefined ? undefined : Math.round(ms)
}
