/** From rows to records, events and answers of the port. */
import type { Event } from '../../core/event.ts'
import { evolve } from '../../core/evolve.ts'
import { nonceIn } from '../../core/fence.ts'
import { idText } from '../../core/id.ts'
import type { Job, JobId, Kind, Spec, State, Time } from '../../core/job.ts'
import { digestOf } from '../../core/receipt.ts'
import { STATE_OF } from '../codec/codes.ts'
import { decodeEnqueued, type EnqueuedEvent } from '../codec/enqueued.ts'
import { baseOf, decodeEvents } from '../codec/events.ts'
import { decodeRecord } from '../codec/record.ts'
import { original } from '../codec/text.ts'
import type { ClaimedJob } from '../store.ts'
import {
  type JobCells,
  type JobRow,
  jobIn,
  type LogRow,
  type Opening,
  type OpeningBeats,
  type OpeningClaim,
  openingBeatsIn,
  openingClaimIn,
} from './job-row.ts'
import { CLAIMED, type ClaimedRows } from './rows.ts'

/** Kinds are told apart from jobs. */
export interface KindsByNumber {
  get(number: number): Kind
}

export function jobOf(row: JobRow, kinds: KindsByNumber): Job {
  const job = jobIn(row)
  const first = firstEvent(job, kinds)
  if (job.log !== null) return stretch(job.opening, job.log, first).reduce<Job>(evolve, evolve(undefined, first))
  if (job.fence === null) return recordOf(job.record, first)
  const claim = claimOf(job, job.fence)
  const base =
    job.record === null && claim !== undefined
      ? evolve(recordOf(job.before, first), claimEvent(claim, first.jobId, first.payload.spec))
      : recordOf(job.record, first)
  const beats = beatsOf(job, job.fence)
  return beats === undefined ? base : evolve(base, heartbeatEvent(beats, base.id, base.spec))
}

/** The jobs of a claim. */
export function claimedJobs({ runs, jobs }: ClaimedRows, kinds: KindsByNumber): ClaimedJob[] {
  const claimed: ClaimedJob[] = []
  let from = 0
  for (const { run, count } of runs) {
    const { priority, rev, attempt, at, expiresAt: leaseExpiresAt } = run
    const kind = kinds.get(run.kind)
    for (const end = from + count * CLAIMED.width; from < end; from += CLAIMED.width) {
      const head = jobs[from + CLAIMED.head] as string | null
      const record = jobs[from + CLAIMED.record] as string | null
      const input = jobs[from + CLAIMED.input] as string | null
      const id = idText(jobs[from + CLAIMED.id] as number)
      const born = { id, kind, at: jobs[from + CLAIMED.createdAt] as Time, priority }
      const before = recordOf(record, decodeEnqueued(head ?? undefined, born))
      claimed.push({ before, rev, attempt, leaseExpiresAt, at, input: input === null ? undefined : original(input) })
    }
  }
  return claimed
}

/** No text: nothing has happened to the job but its first event. */
const recordOf = (record: string | null, first: EnqueuedEvent): Job =>
  record === null ? evolve(undefined, first) : decodeRecord(record, first.jobId, first.payload.spec)

function firstEvent({ id, kind, at, priority, head }: JobCells, kinds: KindsByNumber): EnqueuedEvent {
  return decodeEnqueued(head ?? undefined, { id: idText(id), kind: kinds.get(kind), at, priority })
}

/** All events of these stretches, and those that the job's own rows have: the first, and the claim and heartbeats of a lease. */
export function eventsOf(row: JobRow, log: readonly LogRow[], kinds: KindsByNumber): Event[] {
  const job = jobIn(row)
  const first = firstEvent(job, kinds)
  const { jobId } = first
  const { spec } = first.payload
  const events: Event[] = [first]
  for (const [, opening, text] of log) events.push(...stretch(opening, text, first))
  if (job.fence === null) return events
  const claim = job.logged === 1 ? undefined : claimOf(job, job.fence)
  if (claim !== undefined) events.push(claimEvent(claim, jobId, spec))
  const beats = beatsOf(job, job.fence)
  if (beats !== undefined) events.push(heartbeatEvent(beats, jobId, spec))
  return events
}

function stretch(opening: string | null, log: string | null, first: EnqueuedEvent): Event[] {
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

/** The claim of a lease that a store's claim made; undefined for one that a commit wrote, whose log has the claim. */
function claimOf(job: JobCells, fence: string): OpeningClaim | undefined {
  const { claimRev, claimSeq, claimFrom, claimAt, claimExpiresAt, generation, attempt, worker, request, actor } = job
  if (claimAt === null || request === null || worker === null || actor === null) return undefined
  if (claimRev === null || claimSeq === null || claimFrom === null || claimExpiresAt === null) return undefined
  if (generation === null || attempt === null) return undefined
  const said = original(actor) === `worker:${original(worker)}` ? null : actor
  return [claimRev, claimSeq, claimFrom, claimAt, claimExpiresAt, generation, attempt, fence, worker, request, said]
}

/** The heartbeats that only the lease has; undefined where the log has all of them. */
function beatsOf(job: JobCells, fence: string): OpeningBeats | undefined {
  const { rev, state, beats, beatsFrom, beatsTo, expiresAt, beatId, generation, attempt, worker } = job
  if (beats === null || beats === 0 || beatsFrom === null || beatsTo === null || beatId === null) return undefined
  if (state === null || expiresAt === null || attempt === null || generation === null || worker === null) {
    return undefined
  }
  return [rev, state, beats, beatsFrom, beatsTo, expiresAt, beatId, generation, attempt, fence, worker]
}

/**
 * The event of a claim that the store performed by itself, from what its row kept. Field for field what core's `decideClaim` makes: a
 * field that is added there needs a place at the end of `OPENING_CLAIM`, else the log that is read is not the one that was written.
 */
function claimEvent(row: OpeningClaim, jobId: JobId, spec: Spec): Event {
  const claim = openingClaimIn(row)
  const { rev, seq, from, at, expiresAt: leaseExpiresAt, generation, attempt, fence } = claim
  const workerId = original(claim.worker)
  const requestId = original(claim.request)
  const actor = claim.actor === null ? `worker:${workerId}` : original(claim.actor)
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

function heartbeatEvent(row: OpeningBeats, jobId: JobId, spec: Spec): Event {
  const beats = openingBeatsIn(row)
  const { rev, state, count, from: firstAt, to: at, expiresAt: leaseExpiresAt, generation, attempt, fence } = beats
  const requestId = original(beats.beatId)
  const actor = `worker:${original(beats.worker)}`
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
