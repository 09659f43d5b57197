/** From rows to the port's words. */
import type { Event } from '../../core/event.ts'
import { evolve } from '../../core/evolve.ts'
import { nonceIn } from '../../core/fence.ts'
import { idText } from '../../core/id.ts'
import type { Job, JobId, Kind, Spec, State, Time } from '../../core/job.ts'
import { digestOf } from '../../core/receipt.ts'
import { STATE_OF } from '../codec/codes.ts'
import { decodeEnqueued, type EnqueuedEvent } from '../codec/enqueued.ts'
import { decodeEvents, standing } from '../codec/events.ts'
import { decodeRecord } from '../codec/record.ts'
import { original } from '../codec/text.ts'
import type { ClaimedJob } from '../store.ts'
import type { ClaimedRows, JobRow, LeaseRow, LogRow, Opening, OpeningBeats, OpeningClaim } from './rows.ts'

/** Kinds are told apart from jobs. */
export interface KindsByNumber {
  get(number: number): Kind
}

export function jobOf(row: JobRow, kinds: KindsByNumber): Job {
  const [, , , , , record, lease, told] = row
  const first = firstEvent(row, kinds)
  if (told !== null) return stretch(told, first).reduce<Job>(evolve, evolve(undefined, first))
  if (lease === null) return recordOf(record, first)
  const claim = claimOf(lease)
  const base = record === null && claim !== undefined ? claimed(lease, claim, first) : recordOf(record, first)
  const beats = beatsOf(lease)
  return beats === undefined ? base : evolve(base, heartbeatEvent(beats, base.id, base.spec))
}

const claimed = (lease: LeaseRow, claim: OpeningClaim, first: EnqueuedEvent): Job =>
  evolve(recordOf(lease[15], first), claimEvent(claim, first.jobId, first.payload.spec))

const RUN = 7
const WIDE = 5

/** The jobs of a claim. */
export function claimedJobs({ runs, jobs }: ClaimedRows, kinds: KindsByNumber): ClaimedJob[] {
  const claimed: ClaimedJob[] = []
  let at = 0
  for (let r = 0; r < runs.length; r += RUN) {
    const [count, number, priority, rev, attempt, leaseExpiresAt, claimedAt] = runs.slice(r, r + RUN) as Seven
    const kind = kinds.get(number)
    for (const end = at + count * WIDE; at < end; at += WIDE) {
      const head = jobs[at + 2] as string | null
      const record = jobs[at + 3] as string | null
      const input = jobs[at + 4] as string | null
      const born = { id: idText(jobs[at] as number), kind, at: jobs[at + 1] as Time, priority }
      const before = recordOf(record, decodeEnqueued(head ?? undefined, born))
      const text = input === null ? undefined : original(input)
      claimed.push({ before, rev, attempt, leaseExpiresAt, at: claimedAt, input: text })
    }
  }
  return claimed
}

type Seven = [number, number, number, number, number, number, number]

/** No text: nothing has happened to the job but its first event. */
const recordOf = (record: string | null, first: EnqueuedEvent): Job =>
  record === null ? evolve(undefined, first) : decodeRecord(record, first.jobId, first.payload.spec)

export function firstEvent([id, kind, at, priority, head]: JobRow, kinds: KindsByNumber): EnqueuedEvent {
  return decodeEnqueued(head ?? undefined, { id: idText(id), kind: kinds.get(kind), at, priority })
}

/** All events of these stretches, and those the job's own rows tell: the first, and what a lease has not logged. */
export function eventsOf(job: JobRow, log: readonly LogRow[], kinds: KindsByNumber): Event[] {
  const first = firstEvent(job, kinds)
  const { jobId } = first
  const { spec } = first.payload
  const events: Event[] = [first]
  for (const [, opening, text] of log) events.push(...stretch([opening, text], first))
  const lease = job[6]
  if (lease === null) return events
  const claim = lease[4] === 1 ? undefined : claimOf(lease)
  if (claim !== undefined) events.push(claimEvent(claim, jobId, spec))
  const beats = beatsOf(lease)
  if (beats !== undefined) events.push(heartbeatEvent(beats, jobId, spec))
  return events
}

function stretch([opening, log]: readonly [string | null, string | null], first: EnqueuedEvent): Event[] {
  const { jobId } = first
  const { spec } = first.payload
  const events: Event[] = []
  if (opening !== null) {
    const [claim, beats] = JSON.parse(opening) as Opening
    if (claim !== null) events.push(claimEvent(claim, jobId, spec))
    if (beats !== null) events.push(heartbeatEvent(beats, jobId, spec))
  }
  if (log === null) return events
  // Not written to be read alone: then nothing happened before but the first event and the opening.
  const before = log.startsWith(FOLLOWING) ? standing(events.reduce<Job>(evolve, evolve(undefined, first))) : undefined
  return [...events, ...decodeEvents(log, jobId, spec, before)]
}

const FOLLOWING = '[0,'

function claimOf(lease: LeaseRow): OpeningClaim | undefined {
  const [, , fence, , , rev, seq, from, expiresAt, attempt, generation, , , , , , at, request, worker, actor] = lease
  if (at === null || request === null || worker === null || actor === null) return undefined
  if (rev === null || seq === null || from === null || expiresAt === null || attempt === null || generation === null) {
    return undefined
  }
  const said = original(actor) === `worker:${original(worker)}` ? null : actor
  return [rev, seq, from, at, expiresAt, generation, attempt, fence, worker, request, said]
}

function beatsOf(lease: LeaseRow): OpeningBeats | undefined {
  const [state, rev, fence, expiresAt, , , , , , attempt, generation, beats, from, to, beatId, , , , worker] = lease
  if (beats === 0 || from === null || to === null || beatId === null) return undefined
  if (attempt === null || generation === null || worker === null) return undefined
  return [rev, state, beats, from, to, expiresAt, beatId, generation, attempt, fence, worker]
}

/** What `decide` makes of a claim, and of heartbeats. */
function claimEvent(claim: OpeningClaim, jobId: JobId, spec: Spec): Event {
  const [rev, seq, from, at, leaseExpiresAt, generation, attempt, fence, stored, request, said] = claim
  const workerId = original(stored)
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

function heartbeatEvent(beats: OpeningBeats, jobId: JobId, spec: Spec): Event {
  const [rev, state, count, firstAt, at, leaseExpiresAt, beatId, generation, attempt, fence, worker] = beats
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
