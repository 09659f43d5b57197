/**
 * The events of one commit as compact JSON text: a list, each event a list of what cannot be told from where the job
 * stood before. Revisions and sequence numbers follow each other, `from` is the last `to`, the stamp (who, under which
 * request) is that of the event before it; the worker's usual word about its own lease has an implied stamp.
 *
 * With its base in front (`[base, event, …]`) the text can be read alone; without it (`[0, event, …]`) the reader
 * must know where the job stood. A place may be added at the end of a list, none may change its meaning.
 */

import type { Event, EventType } from '../../core/event.ts'
import type { Job, JobId, Spec, State, Time } from '../../core/job.ts'
import { impliedRequestId } from '../../core/receipt.ts'
import { LEADS_TO } from '../../core/transitions.ts'
import type { CommandType } from '../../core/verb.ts'
import { COMMAND_CODES, COMMAND_OF, EVENT_CODES, EVENT_OF, STATE_CODES } from './codes.ts'
import { list, maybeNumber, maybeText, number, type Packed, parsed, text, trimmed } from './packed.ts'
import { mustKnow, stateOf } from './parts.ts'
import { packPayload, unpackPayload } from './payload.ts'

/** Where a job stood before the events: what `encodeEvents` leaves out and `decodeEvents` puts back. */
export interface Base {
  readonly rev: number
  readonly seq: number
  readonly generation: number
  readonly attempt: number
  readonly at: Time
  readonly state: State | undefined
  /** Fence and worker of the current or last lease. */
  readonly fence: string
  readonly workerId: string
}

export const baseOf = (job: Job): Base => ({
  rev: job.rev,
  seq: job.seq,
  generation: job.generation,
  attempt: job.attempt,
  at: job.updatedAt,
  state: job.state,
  fence: job.lease?.fence ?? job.lastClaim?.fence ?? '',
  workerId: job.owner?.workerId ?? job.lastClaim?.owner.workerId ?? '',
})

export type Alone = 'alone' | 'following'

export function encodeEvents(events: readonly Event[], spec: Spec, before: Base, how: Alone): string {
  return (
    (how === 'following' ? encodeUsualEnd(events, spec, before) : undefined) ?? encodeAny(events, spec, before, how)
  )
}

/** What `encodeAny` makes of the usual end, a success with nothing odd about it, for a fifth of the price. */
function encodeUsualEnd(events: readonly Event[], spec: Spec, before: Base): string | undefined {
  const first = events[0]
  const second = events[1]
  if (first === undefined || second === undefined || events.length !== 2) return undefined
  if (first.type !== 'started' || second.type !== 'succeeded' || before.state !== 'claimed') return undefined
  const { result, stats, executionMs } = second.payload
  const { body } = result
  if (stats !== undefined || body === undefined || body.digest !== undefined || body.name !== 'output') return undefined
  if (Object.is(executionMs, -0) || second.rev !== before.rev + 2 || second.seq !== before.seq + 2) return undefined
  if (!isOwnersEnd(first, spec, before) || !isOwnersEnd(second, spec, before)) return undefined
  return usualEnd(first.at - before.at, second.at - first.at, body.size, executionMs)
}

/** The last one is remembered: what a batch runs within a millisecond ends in the same words. */
function usualEnd(claimedMs: number, startedMs: number, size: number, executionMs: number): string {
  if (
    last.claimedMs !== claimedMs ||
    last.startedMs !== startedMs ||
    last.size !== size ||
    last.executionMs !== executionMs
  ) {
    const text = `[0,["s",${claimedMs},"o"],["S",${startedMs},null,[["output",${size}],${executionMs}]]]`
    last = { claimedMs, startedMs, size, executionMs, text }
  }
  return last.text
}

let last = { claimedMs: -1, startedMs: -1, size: -1, executionMs: -1, text: '' }

const isOwnersEnd = (event: Event, spec: Spec, { fence, workerId, generation, attempt }: Base): boolean =>
  event.command === 'complete' &&
  event.digest === '' &&
  event.reason === undefined &&
  event.cause === undefined &&
  event.traceparent === spec.traceparent &&
  event.correlationId === spec.correlationId &&
  event.generation === generation &&
  event.attempt === attempt &&
  event.requestId === impliedRequestId(fence, 'complete') &&
  event.actor.length === ACTOR.length + workerId.length &&
  event.actor.startsWith(ACTOR) &&
  event.actor.endsWith(workerId)

const ACTOR = 'worker:'

function encodeAny(events: readonly Event[], spec: Spec, before: Base, how: Alone): string {
  const cursor = start(before, spec)
  const packed: Packed[] = [how === 'alone' ? packBase(before) : 0]
  for (const event of events) packed.push(packEvent(event, cursor))
  return JSON.stringify(packed)
}

/** `before` is needed only for a text that was written `following`. */
export function decodeEvents(stored: string, jobId: JobId, spec: Spec, before?: Base): Event[] {
  const [head, ...packed] = list(parsed(stored))
  const base = head === 0 ? before : unpackBase(head)
  const cursor = start(mustKnow(base, 'base'), spec)
  return packed.map((event) => unpackEvent(list(event), jobId, cursor))
}

/** The base of a text that was written `alone`; undefined for one that was written `following`. */
export function baseIn(stored: string): Base | undefined {
  const [head] = list(parsed(stored))
  return head === 0 ? undefined : unpackBase(head)
}

interface Cursor {
  rev: number
  seq: number
  generation: number
  attempt: number
  at: Time
  state: State | undefined
  fence: string
  workerId: string
  command: CommandType | undefined
  requestId: string
  digest: string
  actor: string
  correlationId: string
  traceparent: string | undefined
  cause: string | undefined
}

const start = (before: Base, spec: Spec): Cursor => ({
  rev: before.rev,
  seq: before.seq,
  generation: before.generation,
  attempt: before.attempt,
  at: before.at,
  state: before.state,
  fence: before.fence,
  workerId: before.workerId,
  command: undefined,
  requestId: '',
  digest: '',
  actor: '',
  correlationId: spec.correlationId,
  traceparent: spec.traceparent,
  cause: undefined,
})

const packBase = (s: Base): Packed =>
  trimmed([
    s.rev,
    s.seq,
    s.generation,
    s.attempt,
    s.at,
    s.state && STATE_CODES[s.state],
    s.fence === '' ? undefined : s.fence,
    s.workerId === '' ? undefined : s.workerId,
  ])

function unpackBase(packed: Packed): Base {
  const [rev, seq, generation, attempt, at, state, fence, workerId] = list(packed)
  return {
    rev: number(rev),
    seq: number(seq),
    generation: number(generation),
    attempt: number(attempt),
    at: number(at),
    state: state == null ? undefined : stateOf(state),
    fence: maybeText(fence) ?? '',
    workerId: maybeText(workerId) ?? '',
  }
}

/** `[type, ms since the last, stamp, payload, reason, what was not to be expected]` */
function packEvent(event: Event, cursor: Cursor): Packed {
  const stamp = packStamp(event, cursor)
  const sinceMs = event.at - cursor.at
  advance(cursor, event.type)
  const odd = packOdd(event, cursor)
  adopt(cursor, event)
  return trimmed([EVENT_CODES[event.type], sinceMs, stamp, packPayload(event), event.reason, odd])
}

function unpackEvent(packed: readonly Packed[], jobId: JobId, cursor: Cursor): Event {
  const [code, sinceMs, stamp, payload, reason, odd] = packed
  const type = mustKnow(EVENT_OF[text(code)], 'event')
  unpackStamp(stamp, cursor)
  const at = cursor.at + (maybeNumber(sinceMs) ?? 0)
  const from = cursor.state
  advance(cursor, type)
  unpackOdd(odd, cursor)
  const observation = !isTransition(type) || (odd != null && list(odd)[5] === 1)
  const event = {
    jobId,
    rev: cursor.rev,
    at,
    actor: cursor.actor,
    command: mustKnow(cursor.command, 'command'),
    requestId: cursor.requestId,
    digest: cursor.digest,
    correlationId: cursor.correlationId,
    traceparent: cursor.traceparent,
    cause: cursor.cause,
    reason: maybeText(reason),
    generation: cursor.generation,
    attempt: cursor.attempt,
    state: mustKnow(cursor.state, 'state'),
    version: 1,
    type,
    seq: observation ? undefined : cursor.seq,
    from: observation ? undefined : from,
    to: observation ? undefined : cursor.state,
    payload: unpackPayload(type, payload),
  } as Event
  adopt(cursor, event)
  return event
}

const isTransition = (type: EventType): type is keyof typeof LEADS_TO => type in LEADS_TO

/** Moves the cursor to where an event of this type usually leads: what is as expected need not be written. */
function advance(cursor: Cursor, type: EventType): void {
  cursor.rev += 1
  if (!isTransition(type)) return
  cursor.seq += 1
  cursor.state = LEADS_TO[type][0]
  if (type === 'claimed') cursor.attempt += 1
  if (type === 'reopened') cursor.generation += 1
}

/** Moves the cursor to where the event did lead, for the one that follows. */
function adopt(cursor: Cursor, event: Event): void {
  cursor.at = event.at
  cursor.state = event.state
  cursor.rev = event.rev
  if (event.seq !== undefined) cursor.seq = event.seq
  else if (isTransition(event.type)) cursor.seq -= 1
  if (event.type !== 'claimed') return
  cursor.fence = event.payload.fence
  cursor.workerId = event.payload.owner.workerId
}

/** `[rev, seq, state, generation, attempt, 1 if an observation although the type is a transition's]` */
function packOdd(event: Event, cursor: Cursor): Packed {
  const demoted = event.seq === undefined && isTransition(event.type)
  const odd = trimmed([
    event.rev === cursor.rev ? undefined : event.rev,
    event.seq === cursor.seq || event.seq === undefined ? undefined : event.seq,
    event.state === cursor.state ? undefined : STATE_CODES[event.state],
    event.generation === cursor.generation ? undefined : event.generation,
    event.attempt === cursor.attempt ? undefined : event.attempt,
    demoted ? 1 : undefined,
  ])
  cursor.generation = event.generation
  cursor.attempt = event.attempt
  return odd.length === 0 ? undefined : odd
}

function unpackOdd(packed: Packed, cursor: Cursor): void {
  if (packed == null) return
  const [rev, seq, state, generation, attempt] = list(packed)
  cursor.rev = maybeNumber(rev) ?? cursor.rev
  cursor.seq = maybeNumber(seq) ?? cursor.seq
  cursor.state = state == null ? cursor.state : stateOf(state)
  cursor.generation = maybeNumber(generation) ?? cursor.generation
  cursor.attempt = maybeNumber(attempt) ?? cursor.attempt
}

/**
 * Absent: the stamp of the event before. Text: this command of the lease's owner, with the implied request id. A list:
 * `[command, request id, digest, actor, correlation id, traceparent, cause]`, absent places implied.
 */
function packStamp(event: Event, cursor: Cursor): Packed {
  if (
    cursor.command === event.command &&
    cursor.requestId === event.requestId &&
    cursor.digest === event.digest &&
    cursor.actor === event.actor &&
    cursor.correlationId === event.correlationId &&
    cursor.traceparent === event.traceparent &&
    cursor.cause === event.cause
  ) {
    return undefined
  }
  const base = impliedStamp(cursor, event.command)
  const list = trimmed([
    COMMAND_CODES[event.command],
    event.requestId === base.requestId ? undefined : event.requestId,
    event.digest === '' ? undefined : event.digest,
    event.actor === base.actor ? undefined : event.actor,
    event.correlationId === cursor.correlationId ? undefined : event.correlationId,
    event.traceparent === cursor.traceparent ? undefined : (event.traceparent ?? 0),
    event.cause,
  ])
  stampWith(cursor, event)
  return list.length === 1 ? COMMAND_CODES[event.command] : list
}

function unpackStamp(packed: Packed, cursor: Cursor): void {
  if (packed == null) return
  const [code, requestId, digest, actor, correlationId, traceparent, cause] =
    typeof packed === 'string' ? [packed] : list(packed)
  const command = mustKnow(COMMAND_OF[text(code)], 'command')
  const base = impliedStamp(cursor, command)
  stampWith(cursor, {
    command,
    requestId: maybeText(requestId) ?? base.requestId,
    digest: maybeText(digest) ?? '',
    actor: maybeText(actor) ?? base.actor,
    correlationId: maybeText(correlationId) ?? cursor.correlationId,
    traceparent: traceparent === 0 ? undefined : (maybeText(traceparent) ?? cursor.traceparent),
    cause: maybeText(cause),
  })
}

const impliedStamp = (cursor: Cursor, command: CommandType): { requestId: string; actor: string } => ({
  requestId: impliedRequestId(cursor.fence, command),
  actor: `worker:${cursor.workerId}`,
})

type Stamp = Pick<Cursor, 'requestId' | 'digest' | 'actor' | 'correlationId' | 'traceparent' | 'cause' | 'command'>

function stampWith(cursor: Cursor, stamp: Stamp): void {
  cursor.command = stamp.command
  cursor.requestId = stamp.requestId
  cursor.digest = stamp.digest
  cursor.actor = stamp.actor
  cursor.correlationId = stamp.correlationId
  cursor.traceparent = stamp.traceparent
  cursor.cause = stamp.cause
}
