/**
 * What a store has done to a job by itself, and its log does not tell yet: the claim, and the heartbeats since the last
 * event that was none. It is written down with the next commit, in front of that commit's own events: a stretch of the log.
 */
import type { Event } from '../../core/event.ts'
import { evolve } from '../../core/evolve.ts'
import { nonceIn } from '../../core/fence.ts'
import type { Job, JobId, Spec, State, Time } from '../../core/job.ts'
import { digestOf } from '../../core/receipt.ts'
import { STATE_OF } from './codes.ts'
import type { EnqueuedEvent } from './enqueued.ts'
import { baseOf, decodeEvents } from './events.ts'
import { original } from './text.ts'

type Opening = readonly [claim: OpeningClaim | null, beats: OpeningBeats | null]

/** Written down as it is: what has a place keeps it. Texts as they are stored. */
export type OpeningClaim = readonly [
  rev: number,
  seq: number,
  from: string,
  at: Time,
  expiresAt: Time,
  generation: number,
  attempt: number,
  fence: string,
  worker: string,
  request: string,
  /** Absent: `worker:` and the worker's name. */
  actor: string | null,
]

/** Written down as it is: what has a place keeps it. Texts as they are stored. */
export type OpeningBeats = readonly [
  rev: number,
  state: string,
  count: number,
  from: Time,
  to: Time,
  expiresAt: Time,
  beatId: string,
  generation: number,
  attempt: number,
  fence: string,
  worker: string,
]

/** The events of a stretch: its opening, and the log of its commit. */
export function stretchEvents(opening: string | null, log: string | null, first: EnqueuedEvent): Event[] {
  const { jobId } = first
  const { spec } = first.payload
  const events: Event[] = []
  if (opening !== null) {
    const [claim, beats] = JSON.parse(opening) as Opening
    if (claim !== null) events.push(claimEvent(claim, jobId, spec))
    if (beats !== null) events.push(heartbeatEvent(beats, jobId, spec))
  }
  if (log === null) return events
  // Written `following`: its base is the job after its first event and the opening.
  const before = log.startsWith(FOLLOWING) ? baseOf(events.reduce<Job>(evolve, evolve(undefined, first))) : undefined
  return [...events, ...decodeEvents(log, jobId, spec, before)]
}

const FOLLOWING = '[0,'

/** The requests that an opening tells of. */
export function requestsIn(opening: string): readonly string[] {
  const [claim, beats] = JSON.parse(opening) as Opening
  const requests: string[] = []
  if (claim !== null) {
    const [, , , , , , , , , request] = claim
    requests.push(original(request))
  }
  if (beats !== null) {
    const [, , , , , , beatId] = beats
    requests.push(original(beatId))
  }
  return requests
}

/**
 * The event of a claim that the store performed by itself, from what it kept. Field for field what core's `decideClaim` makes: a
 * field that is added there needs a place at the end of `OpeningClaim`, else the log that is read is not the one that was written.
 */
export function claimEvent(row: OpeningClaim, jobId: JobId, spec: Spec): Event {
  const [rev, seq, from, at, leaseExpiresAt, generation, attempt, fence, worker, request, said] = row
  const workerId = original(worker)
  const requestId = original(request)
  const actor = said === null ? `worker:${workerId}` : original(said)
  return {
    ...stamp(jobId, spec, rev, at),
    actor,
    command: 'claim',
    requestId,
    digest: digestOf({ type: 'claim', actor, requestId, workerId, nonce: nonceIn(fence) }),
    generation,
    attempt,
    type: 'claimed',
    seq,
    from: STATE_OF[from] as State,
    to: 'claimed',
    state: 'claimed',
    payload: { owner: { workerId }, fence, leaseExpiresAt },
  }
}

export function heartbeatEvent(row: OpeningBeats, jobId: JobId, spec: Spec): Event {
  const [rev, state, count, firstAt, at, leaseExpiresAt, beatId, generation, attempt, fence, worker] = row
  const requestId = original(beatId)
  const actor = `worker:${original(worker)}`
  return {
    ...stamp(jobId, spec, rev, at),
    actor,
    command: 'heartbeat',
    requestId,
    digest: digestOf({ type: 'heartbeat', actor, requestId, fence }),
    generation,
    attempt,
    type: 'heartbeat',
    seq: undefined,
    from: undefined,
    to: undefined,
    state: STATE_OF[state] as State,
    payload: { leaseExpiresAt, count, firstAt, cancelDelivered: false },
  }
}

const stamp = (jobId: JobId, spec: Spec, rev: number, at: number) => ({
  jobId,
  rev,
  at,
  correlationId: spec.correlationId,
  traceparent: spec.traceparent,
  cause: undefined,
  reason: undefined,
  version: 1 as const,
})
