/** From texts to records, events and answers of the port. */
import type { Event } from '../../../core/event.ts'
import { evolve } from '../../../core/evolve.ts'
import type { Job, JobId, Kind } from '../../../core/job.ts'
import { decodeEnqueued, type EnqueuedEvent } from '../../codec/enqueued.ts'
import { claimEvent, heartbeatEvent, type OpeningClaim, stretchEvents } from '../../codec/opening.ts'
import { decodeRecord } from '../../codec/record.ts'
import { original } from '../../codec/text.ts'
import type { ClaimedJob } from '../../store.ts'
import { INLINE, type JobText } from './job-text.ts'

/** A job as it was read. */
export interface StoredJob {
  readonly id: JobId
  readonly text: JobText
  readonly kind: Kind
}

/** A stretch of the log: the revision of its last event, its opening and its events. */
export interface Stretch {
  readonly rev: number
  readonly text: string
}

export function jobOf(stored: StoredJob): Job {
  const { text } = stored
  const first = firstEvent(stored)
  if (text.lease === undefined) {
    if (text.record !== '' || text.log === '') return recordOf(text.record, first)
    return tailEvents(text, first).reduce<Job>(evolve, evolve(undefined, first))
  }
  const claimed = isUntold(text) ? evolve(recordOf(text.record, first), claimOf(text, first)) : undefined
  const base = claimed ?? recordOf(text.record, first)
  const beats = beatsOf(text, first)
  return beats === undefined ? base : evolve(base, beats)
}

/** What a claim that has been answered before was given. */
export function claimedAgain(stored: StoredJob, input: string | undefined): ClaimedJob {
  const { text } = stored
  const first = firstEvent(stored)
  const [rev, , , at, leaseExpiresAt, , attempt] = JSON.parse(text.claim) as OpeningClaim
  const before = recordOf(isUntold(text) ? text.record : text.before, first)
  return { before, rev, attempt, leaseExpiresAt, at, input }
}

/** All events that its own text tells, and those of the stretches before. */
export function eventsOf(stored: StoredJob, stretches: readonly Stretch[]): Event[] {
  const { text } = stored
  const first = firstEvent(stored)
  const events: Event[] = [first]
  for (const stretch of stretches) events.push(...pastEvents(stretch, first))
  if (text.log !== '') events.push(...tailEvents(text, first))
  if (isUntold(text)) events.push(claimOf(text, first))
  const beats = beatsOf(text, first)
  if (beats !== undefined) events.push(beats)
  return events
}

const firstEvent = ({ id, text, kind }: StoredJob): EnqueuedEvent =>
  decodeEnqueued(text.head === '' ? undefined : text.head, {
    id,
    kind,
    at: Number(text.bornAt),
    priority: Number(text.priority),
  })

/** No text: nothing has happened to the job but its first event. */
const recordOf = (record: string, first: EnqueuedEvent): Job =>
  record === '' ? evolve(undefined, first) : decodeRecord(record, first.jobId, first.payload.spec)

/** A lease whose claim the log does not tell yet. */
const isUntold = ({ lease, claim }: JobText): boolean => lease !== undefined && claim !== '' && lease.logged === '0'

/** The claim that its lease alone knows of. */
export const untoldClaim = (text: JobText): OpeningClaim | undefined =>
  isUntold(text) ? (JSON.parse(text.claim) as OpeningClaim) : undefined

const claimOf = ({ claim }: JobText, { jobId, payload }: EnqueuedEvent): Event =>
  claimEvent(JSON.parse(claim) as OpeningClaim, jobId, payload.spec)

/** The heartbeats that only the lease has. */
function beatsOf(text: JobText, { jobId, payload }: EnqueuedEvent): Event | undefined {
  const { lease, rev, state, generation, attempt } = text
  if (lease === undefined || lease.beats === '0') return undefined
  const { beats, beatsFrom, beatsTo, expires, fence } = lease
  const beatId = JSON.parse(text.beat) as string
  const worker = JSON.parse(text.worker) as string
  return heartbeatEvent(
    [
      Number(rev),
      state,
      Number(beats),
      Number(beatsFrom),
      Number(beatsTo),
      Number(expires),
      beatId,
      Number(generation),
      Number(attempt),
      fence,
      worker,
    ],
    jobId,
    payload.spec,
  )
}

const tailEvents = ({ opening, log }: JobText, first: EnqueuedEvent): Event[] =>
  stretchEvents(opening === '' ? null : opening, log, first)

function pastEvents({ text }: Stretch, first: EnqueuedEvent): Event[] {
  const end = text.indexOf('\n')
  return stretchEvents(end === 0 ? null : text.slice(0, end), text.slice(end + 1), first)
}

/** The bodies that lie in the job's own text, by name. */
export function inlineBodies({ inputSize, input, output }: JobText): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  if (inputSize.startsWith(INLINE)) found.set('input', original(input))
  if (output.startsWith(INLINE)) found.set('output', original(output.slice(INLINE.length)))
  return found
}
