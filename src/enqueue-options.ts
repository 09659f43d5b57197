import { DURATION_RULE, type Duration, parseDuration } from './core/duration.ts'
import { type Kind, PRIORITIES, type Priority } from './core/job.ts'
import type { Violation } from './core/refusal.ts'
import type { PolicyInput } from './core/resolve.ts'
import type { EnqueueRequest } from './engine/engine.ts'
import { Invalid } from './errors.ts'
import type { Transaction } from './store/store.ts'

export type PriorityName = keyof typeof PRIORITIES

export interface EnqueueOptions {
  /** Your own id: works wherever an id does. Same id and input: the same job; another input is refused. */
  readonly id?: string | undefined
  /** This call: repeated with it, the first answer comes back. */
  readonly requestId?: string | undefined
  /** This creation, for 24 hours. */
  readonly idempotencyKey?: string | undefined
  /** This piece of business: at most one live job has it. */
  readonly dedupeKey?: string | undefined
  readonly delay?: Duration | undefined
  readonly runAt?: Date | number | undefined
  readonly priority?: PriorityName | Priority | undefined
  /** The job lives and dies with this transaction. */
  readonly tx?: Transaction | undefined
  readonly topic?: string | undefined
  readonly contextPtr?: string | undefined
  readonly adapterId?: string | undefined
  readonly env?: Readonly<Record<string, string>> | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly correlationId?: string | undefined
  readonly traceparent?: string | undefined
  readonly parentId?: string | undefined
  readonly workflowId?: string | undefined
  readonly stepIndex?: number | undefined
  readonly tenant?: string | undefined
  readonly actor?: string | undefined
  /** For a type known by its name only, which no worker has announced. */
  readonly queue?: string | undefined
  readonly policy?: PolicyInput | undefined
}

/** `producer` is what stores need not write down. */
const ACTOR = 'producer'
export const DEFAULT_PRIORITY: Priority = PRIORITIES.normal

export function enqueueRequest(
  kind: Kind,
  input: string | undefined,
  dedupeKey: string | undefined,
  options: EnqueueOptions,
): EnqueueRequest {
  const found: Violation[] = []
  const request: EnqueueRequest = {
    requestId: options.requestId,
    actor: options.actor ?? ACTOR,
    kind,
    priority: priorityFrom(options.priority, found),
    input,
    id: options.id,
    idempotencyKey: options.idempotencyKey,
    dedupeKey: options.dedupeKey ?? dedupeKey,
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
