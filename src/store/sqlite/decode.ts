/** From rows to records, events and answers of the port. */
import type { Event } from '../../core/event.ts'
import { evolve } from '../../core/evolve.ts'
import { toldKey } from '../../core/flow/membership.ts'
import { idText } from '../../core/id.ts'
import type { Job, Kind, Spec, Time } from '../../core/job.ts'
import { decodeEnqueued, type EnqueuedEvent } from '../codec/enqueued.ts'
import { claimEvent, heartbeatEvent, type OpeningBeats, type OpeningClaim, stretchEvents } from '../codec/opening.ts'
import { decodeRecord } from '../codec/record.ts'
import { original, storable } from '../codec/text.ts'
import type { ClaimedJob } from '../store.ts'
import { type JobCells, type JobRow, jobIn, type LogRow } from './job-row.ts'
import { CLAIMED, type ClaimedRows } from './rows.ts'

/** Kinds are told apart from jobs. */
export interface KindsByNumber {
  get(number: number): Kind
}

export function jobOf(row: JobRow, kinds: KindsByNumber): Job {
  const job = jobIn(row)
  const first = firstEvent(job, kinds)
  if (job.log !== null) return stretchEvents(job.opening, job.log, first).reduce<Job>(evolve, evolve(undefined, first))
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
export function claimedJobs({ runs, jobs, keys }: ClaimedRows, kinds: KindsByNumber): ClaimedJob[] {
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
      const flow = before.spec.flow === undefined ? undefined : toldOf(before.spec, keys)
      claimed.push({
        before,
        rev,
        attempt,
        leaseExpiresAt,
        at,
        input: input === null ? undefined : original(input),
        flow,
      })
    }
  }
  return claimed
}

/** The key that hears how the attempt ends. One of revision 0 is nothing that anybody has said. */
function toldOf(spec: Spec, keys: ClaimedRows['keys']): ClaimedJob['flow'] {
  const key = toldKey(spec)
  if (key === undefined) return undefined
  const tenant = storable(spec.kind.tenant)
  const name = storable(key)
  const found = keys.find((row) => row[0] === tenant && row[1] === name)
  if (found === undefined) return undefined
  const [, , rev, text] = found
  return rev === 0 ? undefined : { key, text: original(text), rev }
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
  for (const [, opening, text] of log) events.push(...stretchEvents(opening, text, first))
  if (job.fence === null) return events
  const claim = job.logged === 1 ? undefined : claimOf(job, job.fence)
  if (claim !== undefined) events.push(claimEvent(claim, jobId, spec))
  const beats = beatsOf(job, job.fence)
  if (beats !== undefined) events.push(heartbeatEvent(beats, jobId, spec))
  return events
}

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
