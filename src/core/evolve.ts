/**
 * The fold: what a record becomes when an event is applied to it. Total over the events `decide` makes; the record of
 * every job is the fold of its events, always.
 */
import { assert, unreachable, violated } from './assert.ts'
import type { Event, TransitionPayloads } from './event.ts'
import type {
  CancelRequest,
  DeadLetter,
  Failure,
  Job,
  LastClaim,
  Lease,
  Owner,
  Receipt,
  Result,
  State,
  Time,
  Verdict,
  Wait,
} from './job.ts'
import { SIZES } from './limits.ts'
import { nextTickAt, readyAt } from './timers.ts'

export function evolve(job: Job | undefined, event: Event): Job {
  if (event.type === 'enqueued') {
    assert(job === undefined, 'a job is enqueued once')
    return created(event.payload, event.to, event)
  }
  return next(job, event, COPIED)
}

/**
 * The same for a record that nobody else has seen, which may become the next one: a commit of two events copies once,
 * and a record has 45 fields.
 */
export function evolveOwn(job: Job, event: Event): Job {
  assert(event.type !== 'enqueued', 'a job is enqueued once')
  return next(job, event, OWN)
}

type Later = Exclude<Event, { type: 'enqueued' }>

const COPIED = false
const OWN = true

function next(job: Job | undefined, event: Later, own: boolean): Job {
  if (job === undefined) violated(`${event.type} needs a job`)
  if (event.rev <= job.rev) violated(`${event.type} at rev ${event.rev} comes after rev ${job.rev}`)
  return timed(apply(job, event, own))
}

/** The record a whole log amounts to. */
export function derive(events: readonly Event[]): Job {
  let job: Job | undefined
  for (const event of events) job = evolve(job, event)
  assert(job !== undefined, 'a log has at least one event')
  return job
}

/** What each state demands besides the common fields (I5). An entry that lacks one does not compile. */
type Entry =
  | { state: 'pending' | 'queued' | 'retrying'; runAt: Time }
  | { state: 'claimed' | 'running'; owner: Owner; lease: Lease }
  | { state: 'waiting' | 'parked'; wait: Wait }
  | { state: 'stalled' }
  | { state: 'succeeded'; result: Result; endedAt: Time }
  | { state: 'failed' | 'timed_out'; error: Failure; endedAt: Time }
  | { state: 'dead_lettered'; error: Failure; deadLetter: DeadLetter; endedAt: Time }
  | { state: 'cancelled'; endedAt: Time }
  | { state: 'denied'; verdict: Verdict; endedAt: Time }

type Changes = Partial<Omit<Job, 'state' | 'id' | 'spec' | Demanded>>

/** What depends on the state. */
type Demanded = 'runAt' | 'owner' | 'lease' | 'wait' | 'result' | 'error' | 'deadLetter' | 'verdict' | 'endedAt'

const NO_RECEIPTS: readonly Receipt[] = []
const NO_SIGNALS: Job['inbox'] = []
const NO_STEPS: readonly string[] = []
const NOTHING: Readonly<Record<string, never>> = {}

/**
 * Sets the two derived times. `apply` has just made this object, so nobody else can see it change. A copy instead made
 * a whole life (enqueue, claim, complete) 3.88 µs long rather than 3.66.
 */
function timed(job: { -readonly [K in keyof Job]: Job[K] }): Job {
  const fresh = job as Job
  job.readyAt = readyAt(fresh)
  job.nextTickAt = nextTickAt(fresh)
  return fresh
}

/** All keys in one literal, in the order in which a store reads them: every record of a process has the same shape. */
function created(payload: TransitionPayloads['enqueued'], state: State, event: Event): Job {
  return timed({
    id: event.jobId,
    spec: payload.spec,
    priority: payload.priority,
    phase: 'run' as const,
    intended: undefined,
    generation: 0,
    attempt: 0,
    rev: event.rev,
    seq: 1,
    baseRev: event.rev,
    failures: payload.failures,
    stalls: payload.stalls,
    updatedAt: event.at,
    startedAt: undefined,
    deadlineAt: payload.deadlineAt,
    startBy: payload.startBy,
    cancel: undefined,
    inbox: NO_SIGNALS,
    signals: 0,
    progress: undefined,
    counters: NOTHING,
    artifacts: NOTHING,
    checkpoint: undefined,
    steps: 0,
    compensations: NO_STEPS,
    lastFailure: undefined,
    lastClaim: undefined,
    executionMs: 0,
    recent: NO_RECEIPTS,
    readyAt: undefined,
    nextTickAt: undefined,
    runAt: payload.runAt,
    owner: undefined,
    lease: undefined,
    wait: undefined,
    result: undefined,
    error: undefined,
    deadLetter: undefined,
    verdict: undefined,
    endedAt: undefined,
    state: state === 'pending' ? ('pending' as const) : ('queued' as const),
  })
}

function apply(job: Job, event: Later, own: boolean): Job {
  switch (event.type) {
    case 'admitted':
      return enter(job, event, { state: 'queued', runAt: event.payload.runAt }, { startBy: event.payload.startBy })
    case 'denied':
      return end(job, event, { state: 'denied', verdict: event.payload.verdict, endedAt: event.at }, 0)
    case 'claimed':
      return claimed(job, event, event.payload, own)
    case 'started':
      return started(job, event, own)
    case 'waiting':
      return leave(job, event, { state: 'waiting', wait: event.payload.wait }, event.payload.executionMs)
    case 'parked':
      assert(job.wait !== undefined, 'only a waiting job is parked')
      return enter(job, event, { state: 'parked', wait: job.wait }, {})
    case 'signalled':
      return enter(job, event, { state: 'queued', runAt: event.at }, signalled(job, event.payload))
    case 'wait_timed_out':
      return enter(job, event, { state: 'queued', runAt: event.at }, {})
    case 'released':
      return leave(job, event, { state: 'queued', runAt: event.payload.runAt }, event.payload.executionMs, {
        startBy: startByFrom(job, event.payload.runAt),
      })
    case 'retry_scheduled':
      return leave(job, event, { state: 'retrying', runAt: event.payload.runAt }, event.payload.executionMs, {
        failures: job.state === 'stalled' ? job.failures : job.failures + 1,
        lastFailure: event.payload.failure,
      })
    case 'stalled':
      return leave(job, event, { state: 'stalled' }, 0, { stalls: job.stalls + 1 })
    case 'requeued':
      return enter(job, event, { state: 'queued', runAt: event.payload.runAt }, {})
    case 'cancelled':
      return end(job, event, { state: 'cancelled', endedAt: event.at }, event.payload.executionMs, {
        cancel: event.payload.cancel,
      })
    case 'succeeded':
      return succeeded(job, event, event.payload, own)
    case 'failed':
    case 'timed_out':
      return end(
        job,
        event,
        { state: event.type, error: event.payload.failure, endedAt: event.at },
        event.payload.executionMs,
        {
          failures: job.failures + countedBy(job, event.payload.failure),
          lastFailure: event.payload.failure,
        },
      )
    case 'dead_lettered':
      return end(
        job,
        event,
        {
          state: 'dead_lettered',
          error: event.payload.failure,
          deadLetter: event.payload.deadLetter,
          endedAt: event.at,
        },
        event.payload.executionMs,
        { failures: job.failures + countedBy(job, event.payload.failure), lastFailure: event.payload.failure },
      )
    case 'compensating':
      return compensating(job, event, event.payload)
    case 'reopened':
      return enter(
        job,
        event,
        { state: event.to === 'pending' ? 'pending' : 'queued', runAt: event.payload.runAt },
        {
          generation: event.generation,
          phase: 'run',
          intended: undefined,
          failures: 0,
          stalls: 0,
          cancel: undefined,
          deadlineAt: event.payload.deadlineAt,
          startBy: event.payload.startBy,
        },
      )
    default:
      return observed(job, event)
  }
}

function observed(job: Job, event: Exclude<Extract<Event, { seq: undefined }>, { type: 'compensating' }>): Job {
  switch (event.type) {
    case 'heartbeat': {
      assert(job.lease !== undefined, 'only an owned job has a heartbeat')
      const lease: Lease = {
        ...job.lease,
        expiresAt: event.payload.leaseExpiresAt,
        beats: job.lease.beats + event.payload.count,
        lastBeatId: event.requestId,
      }
      const cancel = event.payload.cancelDelivered ? delivered(job.cancel, event.at) : job.cancel
      return { ...job, rev: event.rev, updatedAt: event.at, lease, cancel } as Job
    }
    case 'progressed':
      return note(job, event, {
        baseRev: job.baseRev,
        progress: event.payload.progress ?? job.progress,
        counters: added(job.counters, event.payload.counters),
        recent: remember(job, event),
      })
    case 'checkpointed':
      return note(job, event, { checkpoint: event.payload.body, recent: remember(job, event) })
    case 'recorded':
      return note(job, event, { ...recorded(job, event.payload), recent: remember(job, event) })
    case 'signal_stored':
      return note(job, event, { inbox: [...job.inbox, event.payload.signal], signals: event.payload.signal.n })
    case 'cancel_requested':
      return note(job, event, { cancel: event.payload.cancel })
    case 'rescheduled':
      return {
        ...note(job, event, { priority: event.payload.priority, startBy: startByFrom(job, event.payload.runAt) }),
        runAt: event.payload.runAt,
      } as Job
    case 'compensated':
      return note(job, event, { compensations: [] })
    case 'compacted':
      return note(job, event, {
        baseRev: job.baseRev,
        counters: event.payload.counters,
        progress: event.payload.progress,
        checkpoint: event.payload.checkpoint,
        steps: event.payload.steps,
        compensations: event.payload.compensations,
        artifacts: event.payload.artifacts,
      })
    default:
      return unreachable(event)
  }
}

/**
 * A state change: what the old state demanded goes, what the new one demands comes. One copy and plain writes: the
 * same as a literal of four spreads made a whole life 4.5 µs long rather than 3.7.
 */
function enter(job: Job, event: Event, entry: Entry, changes: Changes): Job {
  const next = entering(job, event, COPIED) as Open & Record<string, unknown>
  next.state = entry.state
  for (const key in changes) next[key] = changes[key as keyof Changes]
  for (const key in entry) next[key] = entry[key as keyof Entry]
  return next as Job
}

/** What every state change does. What the old state demanded is gone afterwards: read it before. */
function entering(job: Job, event: Event, own: boolean): Open {
  const next: Open = own ? job : { ...job }
  next.runAt = undefined
  next.owner = undefined
  next.lease = undefined
  next.wait = undefined
  next.result = undefined
  next.error = undefined
  next.deadLetter = undefined
  next.verdict = undefined
  next.endedAt = undefined
  next.rev = event.rev
  next.seq = event.seq ?? job.seq
  next.baseRev = event.rev
  next.updatedAt = event.at
  return next
}

type Open = { -readonly [K in keyof Job]: Job[K] }

/** A state change that closes the lease, if there was one. */
const leave = (job: Job, event: Event, entry: Entry, executionMs: number, changes: Changes = {}): Job =>
  enter(job, event, entry, {
    recent: NO_RECEIPTS,
    lastClaim: claimClosed(job),
    executionMs: job.executionMs + executionMs,
    ...changes,
  })

const claimClosed = (job: Job): LastClaim | undefined =>
  job.lease === undefined
    ? job.lastClaim
    : { owner: job.owner, fence: job.lease.fence, leaseExpiresAt: job.lease.expiresAt }

/** An ending: no timer survives it. */
const end = (job: Job, event: Event, entry: Entry, executionMs: number, changes: Changes = {}): Job =>
  leave(job, event, entry, executionMs, { deadlineAt: undefined, startBy: undefined, ...changes })

/** An observation: the state stays. */
const note = (job: Job, event: Event, changes: Changes): Job =>
  ({ ...job, rev: event.rev, baseRev: event.rev, updatedAt: event.at, ...changes }) as Job

// The three changes of nearly every life write their fields themselves: by way of `enter` it was 4.4 µs long.

function claimed(job: Job, event: Event, payload: TransitionPayloads['claimed'], own: boolean): Job {
  const next = entering(job, event, own)
  next.state = 'claimed'
  next.owner = payload.owner
  next.lease = {
    fence: payload.fence,
    grantedAt: event.at,
    expiresAt: payload.leaseExpiresAt,
    beats: 0,
    lastBeatId: undefined,
  }
  next.attempt = event.attempt
  next.startedAt = undefined
  next.recent = NO_RECEIPTS
  return next as Job
}

function started(job: Job, event: Event, own: boolean): Job {
  const { owner, lease } = job
  assert(lease !== undefined, 'only an owned job starts')
  const recent = remember(job, event)
  const next = entering(job, event, own)
  next.state = 'running'
  next.owner = owner
  next.lease = lease
  next.startedAt = event.at
  next.startBy = undefined
  next.recent = recent
  return next as Job
}

function succeeded(job: Job, event: Event, payload: TransitionPayloads['succeeded'], own: boolean): Job {
  const lastClaim = claimClosed(job)
  const next = entering(job, event, own)
  next.state = 'succeeded'
  next.result = payload.result
  next.endedAt = event.at
  next.deadlineAt = undefined
  next.startBy = undefined
  next.recent = NO_RECEIPTS
  next.lastClaim = lastClaim
  next.executionMs += payload.executionMs
  next.counters = added(next.counters, payload.stats)
  return next as Job
}

function compensating(job: Job, event: Event, payload: TransitionPayloads['compensating']): Job {
  const changes: Changes = {
    phase: 'compensate',
    intended: payload.intended,
    failures: 0,
    stalls: 0,
    deadlineAt: payload.deadlineAt,
    startBy: undefined,
    lastFailure: payload.intended.error ?? job.lastFailure,
    cancel: payload.intended.cancel ?? job.cancel,
  }
  return leave(job, event, { state: 'queued', runAt: payload.runAt }, payload.executionMs, changes)
}

const signalled = (job: Job, payload: TransitionPayloads['signalled']): Changes =>
  payload.stored
    ? { inbox: job.inbox.filter((signal) => signal.n !== payload.signal.n) }
    : { signals: payload.signal.n }

function recorded(job: Job, payload: Extract<Event, { type: 'recorded' }>['payload']): Changes {
  const { step, undone, artifact } = payload
  const registered = step?.compensate === true ? [...job.compensations, step.name] : job.compensations
  return {
    steps: job.steps + (step === undefined ? 0 : 1),
    compensations: undone === undefined ? registered : registered.filter((name) => name !== undone),
    artifacts: artifact === undefined ? job.artifacts : { ...job.artifacts, [artifact.name]: artifact.ptr },
  }
}

/** The last eight answers under this lease. */
const remember = (job: Job, event: Event): readonly Receipt[] => {
  const { requestId, command, digest, rev, state, at } = event
  const receipt = { requestId, command, digest, rev, state, at }
  return job.recent.length === 0 ? [receipt] : [...job.recent, receipt].slice(-SIZES.recent)
}

/** Who puts a job off puts off the time by which it must have started. */
function startByFrom({ startBy, spec }: Job, runAt: Time): Time | undefined {
  const { startWithinMs } = spec.kind.policy
  return startBy === undefined || startWithinMs === undefined ? startBy : Math.max(startBy, runAt + startWithinMs)
}

/** A handler's error uses up budget; an ending that nobody ran into does not. */
const countedBy = (job: Job, failure: Failure): number =>
  job.lease !== undefined && failure.attempt === job.attempt ? 1 : 0

function delivered(cancel: CancelRequest | undefined, at: Time): CancelRequest {
  assert(cancel !== undefined, 'only a requested cancel is delivered')
  return { ...cancel, deliveredAt: at }
}

function added(
  counters: Readonly<Record<string, number>>,
  more: Readonly<Record<string, number>> | undefined,
): Readonly<Record<string, number>> {
  if (more === undefined) return counters
  const sum: Record<string, number> = { ...counters }
  for (const [name, value] of Object.entries(more))
    sum[name] = (Object.hasOwn(sum, name) ? (sum[name] as number) : 0) + value
  return sum
}
