/** From requests to the jobs they ask for, not yet in any store. */
import { bodyRefWithoutDigest } from '../core/body.ts'
import type { Enqueue } from '../core/command.ts'
import { decide } from '../core/decide.ts'
import { idText } from '../core/id.ts'
import type { JobId, Time } from '../core/job.ts'
import { LENGTHS, MAX_DURATION_MS } from '../core/limits.ts'
import type { Violation } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import type { NewJob } from '../store/store.ts'
import type { EnqueueAnswer, EnqueueRequest } from './engine.ts'
import type { ExecutorParts } from './execute.ts'
import { birthsOf } from './flow-keys.ts'
import type { Numbers } from './id-blocks.ts'
import { keysOf } from './keys.ts'

/**
 * Jobs that could be, and of each which request it is. Commands made again for the few that are judged, instead of kept
 * for all, gained nothing (193,000 jobs/s, not 199,000).
 */
export interface Candidates {
  readonly items: readonly NewJob[]
  readonly asked: readonly Asked[]
}

export interface Asked {
  readonly place: number
  readonly command: Enqueue
}

/** A number for each that has none reserved. Synchronous where as many are at hand. */
export const numbersFor = ({ ids }: ExecutorParts, requests: readonly EnqueueRequest[]): Numbers | Promise<Numbers> =>
  ids.each(requests.length, (i) => {
    const { reservedId, kind } = requests[i] as EnqueueRequest
    return reservedId === undefined ? kind.tenant : undefined
  })

/** The jobs of those requests that core accepts; the others are answered here. */
export function candidatesOf(
  { clock }: ExecutorParts,
  requests: readonly EnqueueRequest[],
  next: Numbers,
  answers: EnqueueAnswer[],
): Candidates {
  const now = clock.now()
  const items: NewJob[] = []
  const asked: Asked[] = []
  for (let i = 0; i < requests.length; i += 1) {
    const request = requests[i] as EnqueueRequest
    const command = commandOf(request, request.reservedId ?? idText(next()), now)
    const decision = decide(undefined, command, now)
    const violations = ownViolations(request)
    if (decision.kind !== 'accepted' || violations.length > 0) {
      const more = decision.kind === 'refused' ? decision.refusal.violations : []
      answers[i] = invalid([...violations, ...more])
      continue
    }
    const { job, events } = decision
    const item = { job, event: events[0] as NewJob['event'], input: request.input, keys: keysOf(job, request, now) }
    items.push(job.spec.flow === undefined ? item : { ...item, flow: birthsOf(job) })
    asked.push({ place: i, command })
  }
  return { items, asked }
}

export function born({ observer, declarations }: ExecutorParts, { job, event }: NewJob): EnqueueAnswer {
  observer.committed([event], undefined, job)
  if (job.spec.flow !== undefined) declarations.note(job, event)
  return { ok: true, job, deduped: false, replayed: false }
}

/** A store has given numbers of this process to another as well (it lost what it had acknowledged): all that are reserved are dropped. */
export function forgetNumbers({ log, ids }: ExecutorParts, jobs: number): void {
  log.warn('job numbers were given to somebody else as well: new ones are taken', { jobs })
  ids.forget()
}

export const invalid = (violations: readonly Violation[]): EnqueueAnswer => ({
  ok: false,
  refusal: refuse('INVALID', { command: 'enqueue', violations }),
})

export const numberTaken = (reserved: JobId | undefined): EnqueueAnswer => {
  const message = `The number ${reserved} that was reserved for this job belongs to another by now.`
  return { ok: false, refusal: refuse('ID_TAKEN', { command: 'enqueue', message }) }
}

/** Every key is there even if it has nothing to say: one shape for all commands. */
const commandOf = (request: EnqueueRequest, id: string, now: Time): Enqueue => ({
  type: 'enqueue',
  actor: request.actor,
  // Nobody can repeat a request whose id they do not know; the job's own id serves, and is stored nowhere twice.
  requestId: request.requestId ?? id,
  correlationId: request.correlationId,
  cause: undefined,
  traceparent: request.traceparent,
  expectedRev: undefined,
  id,
  kind: request.kind,
  unsaid: request.unsaid,
  priority: request.priority,
  runAt: request.delayMs === undefined ? request.runAt : now + request.delayMs,
  alias: request.id,
  input: request.input === undefined ? undefined : bodyRefWithoutDigest('input', request.input),
  contextPtr: request.contextPtr,
  topic: request.topic,
  adapterId: request.adapterId,
  env: request.env,
  labels: request.labels,
  parentId: request.parentId,
  workflowId: request.workflowId,
  stepIndex: request.stepIndex,
  dedupeKey: request.dedupeKey,
  flow: request.flow,
  failures: undefined,
  stalls: undefined,
})

const NONE: readonly Violation[] = []
const KEY = /^[^\u0000-\u001f\u007f]+$/

/** What is wrong with members of the request that the command does not carry, so that core cannot judge them. */
function ownViolations({ delayMs, runAt, idempotencyKey, input }: EnqueueRequest): readonly Violation[] {
  if (delayMs === undefined && idempotencyKey === undefined && (input === undefined || typeof input === 'string')) {
    return NONE
  }
  const found: Violation[] = []
  if (delayMs !== undefined && !(Number.isFinite(delayMs) && delayMs >= 0 && delayMs <= MAX_DURATION_MS)) {
    found.push({ field: 'delay', rule: `must be a duration from 0 to ${MAX_DURATION_MS} ms` })
  }
  if (delayMs !== undefined && runAt !== undefined) found.push({ field: 'runAt', rule: 'a delay or a time, not both' })
  if (input !== undefined && typeof input !== 'string') found.push({ field: 'input', rule: 'must be text' })
  if (idempotencyKey !== undefined && !isKey(idempotencyKey)) {
    found.push({ field: 'idempotencyKey', rule: `must be plain text of 1 to ${LENGTHS.key} characters` })
  }
  return found
}

const isKey = (key: unknown): boolean =>
  typeof key === 'string' && key.length <= LENGTHS.key && KEY.test(key) && key.isWellFormed()
