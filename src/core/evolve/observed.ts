/** What an observation leaves on the record: the state stays. */
import { assert, unreachable } from '../assert.ts'
import { sizeOf } from '../body.ts'
import type { Event } from '../event.ts'
import type { CancelRequest, Job, Lease, Time } from '../job.ts'
import { sizeOfNewer } from '../newer.ts'
import { startByFrom } from '../timers.ts'
import { added } from './added.ts'
import { remember } from './remember.ts'

export function observed(job: Job, event: Exclude<Extract<Event, { seq: undefined }>, { type: 'compensating' }>): Job {
  switch (event.type) {
    case 'heartbeat': {
      assert(job.lease !== undefined, 'only an owned job has a heartbeat')
      // One that another word brings along (a start) is answered, when it is said again, as that word is.
      const own = event.command === 'heartbeat'
      const lease: Lease = {
        ...job.lease,
        expiresAt: event.payload.leaseExpiresAt,
        beats: job.lease.beats + event.payload.count,
        lastBeatId: own ? event.requestId : job.lease.lastBeatId,
      }
      const cancel = event.payload.cancelDelivered ? delivered(job.cancel, event.at) : job.cancel
      const recent = own ? job.recent : remember(job, event)
      return { ...job, rev: event.rev, updatedAt: event.at, lease, cancel, recent } as Job
    }
    case 'progressed':
      return note(job, event, {
        baseRev: job.baseRev,
        progress: event.payload.progress ?? job.progress,
        counters: added(job.counters, event.payload.counters),
        recent: remember(job, event),
      })
    case 'checkpointed':
      return note(job, event, {
        checkpoint: event.payload.body,
        bodySize: job.bodySize + sizeOf(event.payload.body) - sizeOf(job.checkpoint),
        recent: remember(job, event),
      })
    case 'recorded':
      return note(job, event, { ...recorded(job, event.payload), recent: remember(job, event) })
    case 'signal_stored':
      return note(job, event, {
        inbox: [...job.inbox, event.payload.signal],
        signals: event.payload.signal.n,
        bodySize: job.bodySize + sizeOf(event.payload.signal.body),
      })
    case 'cancel_requested':
      return note(job, event, { cancel: event.payload.cancel })
    case 'rescheduled':
      return {
        ...note(job, event, { priority: event.payload.priority, startBy: startByFrom(job, event.payload.runAt) }),
        runAt: event.payload.runAt,
      } as Job
    case 'replaced':
      return replaced(job, event)
    case 'approval_asked':
      return note(job, event, { approval: { ...event.payload.approval, given: undefined } })
    case 'approved': {
      assert(job.approval !== undefined, 'only what was asked for is approved')
      const given = { by: event.actor, at: event.at, reason: event.payload.reason }
      return note(job, event, { approval: { ...job.approval, given } })
    }
    case 'compensated':
      return note(job, event, { compensations: [] })
    case 'stripped':
      return note(job, event, { strippedAt: event.at, observations: job.observations })
    case 'compacted':
      return note(job, event, {
        baseRev: job.baseRev,
        counters: event.payload.counters,
        progress: event.payload.progress,
        checkpoint: event.payload.checkpoint,
        steps: event.payload.steps,
        compensations: event.payload.compensations,
        artifacts: event.payload.artifacts,
        observations: event.payload.observations,
        bodySize: event.payload.bodySize,
      })
    default:
      return unreachable(event)
  }
}

const note = (job: Job, event: Event, changes: Changes): Job =>
  ({
    ...job,
    rev: event.rev,
    baseRev: event.rev,
    updatedAt: event.at,
    observations: job.observations + 1,
    ...changes,
  }) as Job

/** What may change with any event. */
export type Changes = Partial<Omit<Job, 'state' | 'id' | Demanded>>

/** What depends on the state. */
type Demanded = 'runAt' | 'owner' | 'lease' | 'wait' | 'result' | 'error' | 'deadLetter' | 'verdict' | 'endedAt'

function recorded(job: Job, payload: Extract<Event, { type: 'recorded' }>['payload']): Changes {
  const { step, undone, artifact } = payload
  const registered = step?.compensate === true ? [...job.compensations, step.name] : job.compensations
  return {
    steps: job.steps + (step === undefined ? 0 : 1),
    bodySize: job.bodySize + sizeOf(step?.body),
    compensations: undone === undefined ? registered : registered.filter((name) => name !== undone),
    artifacts: artifact === undefined ? job.artifacts : { ...job.artifacts, [artifact.name]: artifact.ptr },
  }
}

function replaced(job: Job, event: Extract<Event, { type: 'replaced' }>): Job {
  const { newer, runAt } = event.payload
  const next = note(job, event, { newer, bodySize: job.bodySize + sizeOfNewer(newer) - sizeOfNewer(job.newer) })
  return runAt === undefined ? next : ({ ...next, runAt, startBy: startByFrom(job, runAt) } as Job)
}

function delivered(cancel: CancelRequest | undefined, at: Time): CancelRequest {
  assert(cancel !== undefined, 'only a requested cancel is delivered')
  return { ...cancel, deliveredAt: at }
}
