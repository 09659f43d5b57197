/** Records and events from rows: what the database keeps in columns becomes the events it stands for, and core folds. */

import { assert } from '../../../core/assert.ts'
import type { Event } from '../../../core/event.ts'
import { evolve } from '../../../core/evolve.ts'
import { fenceOf } from '../../../core/fence.ts'
import { idText } from '../../../core/id.ts'
import type { Job, JobId, Kind, Spec, State } from '../../../core/job.ts'
import { leaseEnd, leaseWindowMs } from '../../../core/timers.ts'
import { decodeEnqueued, type EnqueuedEvent } from '../../codec/enqueued.ts'
import { baseOf, decodeEvents } from '../../codec/events.ts'
import { priorityOf } from '../../codec/lane.ts'
import { decodeRecord } from '../../codec/record.ts'
import { original } from '../../codec/text.ts'

/** Columns of `job`. */
export interface Birth {
  readonly id: number
  readonly createdAt: number
  readonly kind: Kind
  readonly lane: number
  readonly head: string | null
}

export interface Whereabouts extends Birth {
  readonly doc: string | null
  /** A claim that is not in the log yet, and heartbeats that are not. */
  readonly claim: string | null
  readonly beats: string | null
  /** The whole log, where the record is its fold. */
  readonly log: string | null
}

export function enqueuedEvent(birth: Birth): EnqueuedEvent {
  const { id, createdAt, kind, lane, head } = birth
  return decodeEnqueued(head ?? undefined, { id: idText(id), kind, at: createdAt, priority: priorityOf(lane) })
}

export function recordOf(row: Whereabouts): Job {
  const born = enqueuedEvent(row)
  if (row.log !== null) {
    let job = evolve(undefined, born)
    for (const commit of JSON.parse(row.log) as LoggedCommit[]) {
      for (const event of eventsOf(job, commit)) job = evolve(job, event)
    }
    return job
  }
  let job = loggedRecord(row, born)
  for (const event of unlogged(job, row.claim, row.beats)) job = evolve(job, event)
  return job
}

/** Events that only the lease has, until a commit writes them down: the claim, then runs of heartbeats. */
export function unlogged(before: Job, claim: string | null, beats: string | null): readonly Event[] {
  if (claim === null && beats === null) return NONE
  return extraEvents(
    stoodOf(before),
    claim === null ? null : (JSON.parse(claim) as ClaimStamp),
    beats === null ? null : (JSON.parse(beats) as BeatRun[]),
  )
}

/** As `unlogged`, of a row: its record is the one before those events. */
export function unloggedIn(row: Whereabouts): readonly Event[] {
  if (row.claim === null && row.beats === null) return NONE
  return unlogged(loggedRecord(row, enqueuedEvent(row)), row.claim, row.beats)
}

const loggedRecord = ({ doc }: Whereabouts, born: EnqueuedEvent): Job =>
  doc === null ? evolve(undefined, born) : decodeRecord(doc, born.jobId, born.payload.spec)

export type LoggedCommit = readonly [claim: ClaimStamp | null, beats: readonly BeatRun[] | null, events: string]
export type ClaimStamp = readonly [worker: string, actor: string, nonce: string, request: string, at: number]
export type BeatRun = readonly [count: number, firstAt: number, at: number, request: string, expiresAt: number]

/** The events of one row of history. `before` is needed where the text is not written alone, and then it is right. */
export function eventsOf(before: Job | undefined, [claim, beats, text]: LoggedCommit): readonly Event[] {
  assert(before !== undefined, 'history is read from its beginning')
  const first = extraEvents(stoodOf(before), claim, beats)
  let job = before
  for (const event of first) job = evolve(job, event)
  const events = decodeEvents(text, job.id, job.spec, baseOf(job))
  return first.length === 0 ? events : [...first, ...events]
}

const NONE: readonly Event[] = []

/** As much of a job as it takes to make the events of a store's own claims and heartbeats. */
export interface Stood {
  readonly id: JobId
  readonly spec: Spec
  readonly rev: number
  readonly seq: number
  readonly generation: number
  readonly attempt: number
  readonly state: State
  readonly workerId: string
}

const stoodOf = ({ id, spec, rev, seq, generation, attempt, state, owner }: Job): Stood => ({
  id,
  spec,
  rev,
  seq,
  generation,
  attempt,
  state,
  workerId: owner?.workerId ?? '',
})

export function extraEvents(
  before: Stood,
  claim: ClaimStamp | null,
  beats: readonly BeatRun[] | null,
): readonly Event[] {
  const events: Event[] = []
  let stood = before
  if (claim !== null) {
    const event = claimedEvent(stood, claim)
    events.push(event)
    const { rev, attempt } = event
    stood = { ...stood, rev, attempt, seq: stood.seq + 1, state: 'claimed', workerId: original(claim[0]) }
  }
  for (const run of beats ?? []) {
    const event = heartbeatEvent(stood, run)
    events.push(event)
    stood = { ...stood, rev: event.rev }
  }
  return events
}

function claimedEvent(before: Stood, [worker, actor, nonce, request, at]: ClaimStamp): Event {
  const attempt = before.attempt + 1
  return {
    ...quiet(before),
    rev: before.rev + 1,
    at,
    actor: original(actor),
    command: 'claim',
    requestId: original(request),
    attempt,
    state: 'claimed',
    type: 'claimed',
    seq: before.seq + 1,
    from: before.state,
    to: 'claimed',
    payload: {
      owner: { workerId: original(worker) },
      fence: fenceOf(before.generation, attempt, nonce),
      leaseExpiresAt: leaseEnd(at, leaseWindowMs(before.spec.kind.policy)),
    },
  }
}

function heartbeatEvent(before: Stood, [count, firstAt, at, request, leaseExpiresAt]: BeatRun): Event {
  return {
    ...quiet(before),
    rev: before.rev + count,
    at,
    actor: `worker:${before.workerId}`,
    command: 'heartbeat',
    requestId: original(request),
    attempt: before.attempt,
    state: before.state,
    type: 'heartbeat',
    seq: undefined,
    from: undefined,
    to: undefined,
    payload: { leaseExpiresAt, count, firstAt, cancelDelivered: false },
  }
}

/** The members that events of a store's own claims and heartbeats never have. */
const quiet = (job: Stood) => ({
  jobId: job.id,
  digest: '',
  correlationId: job.spec.correlationId,
  traceparent: job.spec.traceparent,
  cause: undefined,
  reason: undefined,
  generation: job.generation,
  version: 1 as const,
})
