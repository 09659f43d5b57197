/**
 * Everything a memory store holds, and the two moves that keep its parts in step: `place` (a record has a new
 * revision) and `clear` (a record is gone). Every change of a record goes through them.
 *
 * Invariant: a job is on the agenda of its lane, or in the hall where it has a flow, exactly while it has a `readyAt`, on the agenda of ticks exactly while
 * it has a `nextTickAt`, on that of judgements exactly while it has a `judgeAt`, counted in the tally under its state, among those with a long end exactly while it is one, and
 * known by the correlation of each of its events.
 */
import { assert } from '../../core/assert.ts'
import { hasLongLog } from '../../core/compact.ts'
import type { Annotation, Event } from '../../core/event.ts'
import { idNumber } from '../../core/id.ts'
import type { Job, JobId, Kind, State, Time } from '../../core/job.ts'
import { askedOf } from '../../core/recast.ts'
import { judgeAt } from '../../core/timers.ts'
import type { ClaimedJob, FeedItem, Key, KeyPurpose, Setting, SettingCollection, Tally } from '../store.ts'
import { Agenda } from './agenda.ts'
import { MemoryHall } from './hall.ts'
import { keep } from './keep.ts'
import { Lanes } from './lanes.ts'
import { Sorted } from './sorted.ts'

export interface Shelf {
  job: Job
  readonly number: number
  events: Event[]
  readonly bodies: Map<string, string>
  readonly annotations: Annotation[]
  /** Names in `keys` that this job holds, or once held. */
  readonly keys: Set<string>
  /** Correlations by which it is known besides its own id: most jobs have no other. */
  correlations: Set<string> | undefined
  /** The job's events by request; made when the first request is looked for. */
  requests: Map<string, Event[]> | undefined
  /** The claim that granted the present lease, for as long as that lease is on the record. */
  claim: { readonly requestId: string; readonly fence: string; readonly answer: ClaimedJob } | undefined
  /** The entry in which renewals are gathered, as long as nothing else has happened since. */
  renewal: Event | undefined
}

export interface Held {
  readonly job: JobId
  readonly until: Time | undefined
}

/** When an event happened, and its position in the feed. */
interface Moment {
  readonly at: Time
  readonly position: number
}

interface Ended {
  readonly at: Time
  readonly number: number
}

export class Shelves {
  readonly jobs = new Map<JobId, Shelf>()
  /** The numbers of all jobs, ascending: the order of `find`. */
  readonly numbers = ascending()
  /** The items of the feed in the order of their times. */
  readonly moments = new Sorted<Moment>((a, b) => a.at - b.at || a.position - b.position)
  readonly longEnded = new Sorted<Ended>((a, b) => a.at - b.at || a.number - b.number)
  /** Numbers of jobs by correlation, then by tenant. */
  readonly #correlations = new Map<string, Map<string, Sorted<number>>>()
  readonly kinds = new Map<string, Kind>()
  readonly keys = new Map<string, Held>()
  readonly lanes = new Lanes()
  readonly hall = new MemoryHall({
    job: (id) => (this.jobs.get(id) as Shelf).job,
    isPaused: (queue) => this.isPaused(queue),
  })
  readonly ticks = new Agenda()
  readonly judgements = new Agenda()
  /** Which jobs still have the lease that a claim gave them. */
  readonly claims = new Map<string, Set<JobId>>()
  readonly settings = new Map<SettingCollection, Map<string, Setting>>()
  readonly tally = new Map<string, Tally>()
  /** Oldest first. The first has position `feedStart`. */
  readonly feed: FeedItem[] = []
  feedStart = 1
  purged = 0

  /** The record as it now is: a new one, or the next revision of one. `isRenewal`: by the store itself, which need not tell each. */
  place(job: Job, events: readonly Event[], isRenewal = false): Shelf {
    const before = this.jobs.get(job.id)?.job
    const shelf = this.jobs.get(job.id) ?? this.#shelf(job)
    this.#leave(before)
    shelf.job = keep({ ...job, spec: specAfter(before, job) ?? this.#sharing(job) })
    if (shelf.claim !== undefined && shelf.claim.fence !== shelf.job.lease?.fence) this.#forgetClaim(shelf)
    for (const event of events) this.#append(shelf, keep(withSpec(event, shelf.job)), isRenewal)
    this.#enter(shelf)
    if (job.spec.flow !== undefined) this.hall.placed(before, shelf.job, shelf.number)
    return shelf
  }

  /** While it is, nobody is given anything of that queue. */
  isPaused(queue: string): boolean {
    const text = this.settings.get('queue')?.get(queue)?.text
    const document: unknown = text === undefined ? undefined : JSON.parse(text)
    return typeof document === 'object' && document !== null && 'paused' in document && document.paused === true
  }

  clear(shelf: Shelf): void {
    const { id } = shelf.job
    this.#leave(shelf.job)
    if (shelf.job.spec.flow !== undefined) this.hall.placed(shelf.job, undefined, shelf.number)
    this.#forgetClaim(shelf)
    for (const name of shelf.keys) if (this.keys.get(name)?.job === id) this.keys.delete(name)
    this.numbers.remove(shelf.number)
    for (const correlationId of shelf.correlations ?? []) this.#uncorrelate(shelf, correlationId)
    this.jobs.delete(id)
    this.purged += 1
  }

  /** Drops items at the front of the feed whose jobs were purged. Positions of the others stay as they were. */
  trimFeed(): void {
    const first = this.feed.findIndex(({ jobId }) => this.jobs.has(jobId))
    const gone = first < 0 ? this.feed.length : first
    if (gone === 0) return
    this.feed.splice(0, gone)
    this.feedStart += gone
    // `moments` is in order of time, the feed in order of positions: an item between others that stay is dropped when those go.
    this.moments.leave(({ position }) => position < this.feedStart)
  }

  /** The numbers of the jobs that have said it; of one tenant, or of each. */
  correlated(correlationId: string, tenant: string | undefined): readonly Sorted<number>[] {
    const found = this.#correlations.get(correlationId)
    const own = this.jobs.get(correlationId)
    const all = tenant === undefined ? [...(found?.values() ?? [])] : [found?.get(tenant)]
    if (own !== undefined && (tenant === undefined || own.job.spec.kind.tenant === tenant)) {
      const alone = ascending()
      alone.add(own.number)
      all.push(alone)
    }
    return all.filter((numbers) => numbers !== undefined)
  }

  /** The events a request has caused. */
  caused(shelf: Shelf, requestId: string): readonly Event[] {
    shelf.requests ??= byRequest(shelf.events)
    return shelf.requests.get(requestId) ?? []
  }

  /** The job that holds a key now; a key that has run out is free. */
  holder(name: string, now: Time): JobId | undefined {
    const held = this.keys.get(name)
    return held === undefined || (held.until !== undefined && held.until <= now) ? undefined : held.job
  }

  hold(shelf: Shelf, name: string, until: Time | undefined): void {
    this.keys.set(name, { job: shelf.job.id, until })
    shelf.keys.add(name)
  }

  giveUp(shelf: Shelf, name: string): void {
    if (this.keys.get(name)?.job === shelf.job.id) this.keys.delete(name)
    shelf.keys.delete(name)
  }

  rememberClaim(shelf: Shelf, requestId: string, fence: string, answer: ClaimedJob): void {
    shelf.claim = { requestId, fence, answer }
    const granted = this.claims.get(requestId) ?? new Set()
    this.claims.set(requestId, granted.add(shelf.job.id))
  }

  #shelf(job: Job): Shelf {
    const number = idNumber(job.id)
    assert(number !== undefined, `a job id is pj_ and a number, not ${job.id}`)
    this.numbers.add(number)
    const shelf: Shelf = {
      job,
      number,
      events: [],
      bodies: new Map(),
      annotations: [],
      keys: new Set(),
      correlations: undefined,
      requests: undefined,
      claim: undefined,
      renewal: undefined,
    }
    this.jobs.set(job.id, shelf)
    return shelf
  }

  /** Siblings share one kind. */
  #sharing(job: Job): Job['spec'] {
    const text = JSON.stringify(job.spec.kind)
    const kind = this.kinds.get(text) ?? keep(job.spec.kind)
    this.kinds.set(text, kind)
    return keep({ ...job.spec, kind })
  }

  #leave(job: Job | undefined): void {
    if (job === undefined) return
    if (job.spec.flow === undefined) this.lanes.leave(job)
    this.ticks.remove(job.id)
    this.judgements.remove(job.id)
    if (hasLongLog(job)) this.longEnded.remove({ at: job.endedAt ?? 0, number: idNumber(job.id) ?? 0 })
    this.#count(askedOf(job).kind, job.state, -1)
  }

  #enter({ job, number }: Shelf): void {
    if (job.spec.flow === undefined) this.lanes.enter(job, job.readyAt, number)
    this.ticks.set(job.id, job.nextTickAt, number)
    this.judgements.set(job.id, judgeAt(job), number)
    if (hasLongLog(job)) this.longEnded.add({ at: job.endedAt ?? 0, number })
    this.#count(askedOf(job).kind, job.state, 1)
  }

  #count({ tenant, queue, type }: Kind, state: State, by: number): void {
    const name = JSON.stringify([tenant, queue, type, state])
    const count = (this.tally.get(name)?.count ?? 0) + by
    assert(count >= 0, 'nothing leaves a state it was not in')
    if (count === 0) this.tally.delete(name)
    else this.tally.set(name, { tenant, queue, jobType: type, state, count })
  }

  #append(shelf: Shelf, event: Event, isRenewal: boolean): void {
    const last = shelf.events.at(-1)
    const merged = isRenewal && last !== undefined && last === shelf.renewal ? oneEntry(last, event) : undefined
    if (last !== undefined && merged !== undefined) {
      shelf.events.pop()
      // The last of the log is the last of its request.
      shelf.requests?.get(last.requestId)?.pop()
    }
    const entry = merged === undefined ? event : keep(merged)
    shelf.events.push(entry)
    shelf.renewal = isRenewal ? entry : undefined
    addRequest(shelf.requests, entry)
    this.#correlate(shelf, event.correlationId)
    const { tenant, queue, type } = askedOf(shelf.job).kind
    const position = this.feedStart + this.feed.length
    const { jobId, rev } = event
    this.feed.push(keep({ position: String(position), jobId, rev, type: event.type, tenant, queue, jobType: type }))
    this.moments.add({ at: event.at, position })
  }

  #correlate(shelf: Shelf, correlationId: string): void {
    if (correlationId === shelf.job.id || shelf.correlations?.has(correlationId) === true) return
    shelf.correlations = (shelf.correlations ?? new Set()).add(correlationId)
    const { tenant } = shelf.job.spec.kind
    const tenants = this.#correlations.get(correlationId) ?? new Map<string, Sorted<number>>()
    const numbers = tenants.get(tenant) ?? ascending()
    numbers.add(shelf.number)
    this.#correlations.set(correlationId, tenants.set(tenant, numbers))
  }

  #uncorrelate({ job, number }: Shelf, correlationId: string): void {
    const tenants = this.#correlations.get(correlationId)
    const numbers = tenants?.get(job.spec.kind.tenant)
    numbers?.remove(number)
    if (numbers?.size === 0) tenants?.delete(job.spec.kind.tenant)
    if (tenants?.size === 0) this.#correlations.delete(correlationId)
  }

  #forgetClaim(shelf: Shelf): void {
    if (shelf.claim === undefined) return
    const granted = this.claims.get(shelf.claim.requestId)
    granted?.delete(shelf.job.id)
    if (granted?.size === 0) this.claims.delete(shelf.claim.requestId)
    shelf.claim = undefined
  }
}

const ascending = (): Sorted<number> => new Sorted((a, b) => a - b)

/** The name that a key is kept under. An alias is a key like any other, but it is never given up. */
export const keyName = (tenant: string, purpose: KeyPurpose | 'alias', key: string): string =>
  JSON.stringify([tenant, purpose, key])

export const keyNameOf = (job: Job, key: Key): string => keyName(job.spec.kind.tenant, key.purpose, key.key)

function byRequest(events: readonly Event[]): Map<string, Event[]> {
  const requests = new Map<string, Event[]>()
  for (const event of events) addRequest(requests, event)
  return requests
}

function addRequest(requests: Map<string, Event[]> | undefined, event: Event): void {
  if (requests === undefined) return
  const caused = requests.get(event.requestId)
  if (caused === undefined) requests.set(event.requestId, [event])
  else caused.push(event)
}

/** What a job is by now, where it was there before: as it was, unless admission has made something else of it, or that is over. */
const specAfter = (before: Job | undefined, job: Job): Job['spec'] | undefined =>
  before?.recast === undefined && job.recast === undefined ? before?.spec : job.spec

/** The first event and the record share what was asked for. */
const withSpec = (event: Event, { spec }: Job): Event =>
  event.type === 'enqueued' ? { ...event, payload: { ...event.payload, spec } } : event

/** Renewals of one attempt that follow each other are one entry of the log. The one that delivered a cancel stays apart: its own time is on the record. */
function oneEntry(last: Event, next: Event): Event | undefined {
  if (last.type !== 'heartbeat' || next.type !== 'heartbeat') return undefined
  if (last.attempt !== next.attempt || last.generation !== next.generation) return undefined
  if (last.payload.cancelDelivered || next.payload.cancelDelivered) return undefined
  const count = last.payload.count + next.payload.count
  return { ...next, payload: { ...next.payload, count, firstAt: last.payload.firstAt } }
}
