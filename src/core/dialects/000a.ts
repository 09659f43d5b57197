/** Document 000, part A: distributed reliability. Leases, a dead-letter state, nine event types. */
import { type Event, eventId, type TransitionEvent } from '../event.ts'
import type { DeadLettered, Denied, Job, TimedOut } from '../job.ts'
import {
  type Dialect,
  type Fields,
  iso,
  present,
  type Row,
  recordId,
  type Status,
  type Step,
  traceIdOf,
} from './dialect.ts'
import { INPUT_STAYS } from './input-stays.ts'

const CLOSED = 'attempt closed: the lease is over, and the next claim carries a higher attempt'

const row = (from: Status, to: Status, word: string | undefined): Row => ({ from, to, word })
const closed = (from: Status): Row => ({ from, to: 'queued', word: undefined, settled: CLOSED })

/** As it was when the lease was lost: the document returns it to `queued` with the next move. */
const asItWas = { new: 'queued', first: 'assigned', again: 'assigned', ran: 'running' }

export const document000A: Dialect = {
  name: '000A',
  title: 'Job State Machine v1 (Distributed Reliability)',
  statuses: ['queued', 'assigned', 'running', 'succeeded', 'failed', 'cancelled', 'dead_lettered'],
  ended: ['succeeded', 'failed', 'cancelled', 'dead_lettered'],
  table: [
    row('none', 'queued', undefined),
    row('queued', 'assigned', 'job_claimed'),
    row('assigned', 'running', 'job_started'),
    row('running', 'succeeded', 'job_succeeded'),
    row('running', 'failed', 'job_failed'),
    row('running', 'cancelled', 'job_cancelled'),
    row('queued', 'dead_lettered', 'job_dead_lettered'),
    row('assigned', 'dead_lettered', 'job_dead_lettered'),
    row('running', 'dead_lettered', 'job_dead_lettered'),
    row('assigned', 'assigned', 'job_lease_renewed'),
    row('running', 'running', 'job_lease_renewed'),
    row('assigned', 'assigned', 'job_heartbeat'),
    row('running', 'running', 'job_heartbeat'),
    row('running', 'running', 'job_compensated'),
    closed('assigned'),
    closed('running'),
  ],
  shows: {
    pending: 'queued',
    claimed: 'assigned',
    running: 'running',
    waiting: 'running',
    parked: 'running',
    stalled: asItWas,
    retrying: 'queued',
    queued: 'queued',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'cancelled',
    timed_out: 'dead_lettered',
    denied: 'dead_lettered',
    dead_lettered: 'dead_lettered',
  },
  tells: {
    claimed: 'job_claimed',
    started: 'job_started',
    succeeded: 'job_succeeded',
    failed: 'job_failed',
    cancelled: 'job_cancelled',
    timed_out: 'job_dead_lettered',
    denied: 'job_dead_lettered',
    dead_lettered: 'job_dead_lettered',
  },
  notes: { heartbeat: ['job_heartbeat', 'job_lease_renewed'], compensated: ['job_compensated'] },
  knows: {
    claim: 'always',
    start: 'always',
    complete: 'always',
    fail: 'always',
    release: 'always',
    cancel: 'alongARow',
    deadLetter: 'alongARow',
  },
  forbids: [INPUT_STAYS],
  fields: [
    ...['id', 'job_id', 'type', 'ts', 'actor', 'correlation_id', 'cause', 'payload', 'version', 'trace_id'],
    ...['state', 'attempts', 'owner', 'lease', 'artifacts'],
    ...['reason_code', 'last_error', 'last_owner', 'last_lease_expires_at'],
  ],
  free: ['artifacts'],
  record: (job, state) =>
    present({
      job_id: recordId(job.id, job.generation),
      state,
      attempts: job.attempt,
      owner: job.owner?.workerId,
      lease: iso(job.lease?.expiresAt),
      artifacts: job.artifacts,
      correlation_id: job.spec.correlationId,
      trace_id: traceIdOf(job.spec.traceparent),
      ...letterOf(job),
    }),
  entry: (event, step, { nth, after }) => ({
    id: nth === 0 ? eventId(event) : `${eventId(event)}.${nth}`,
    job_id: recordId(event.jobId, event.generation),
    type: step.word,
    ts: iso(event.at),
    actor: event.actor,
    correlation_id: event.correlationId,
    cause: event.cause ?? wayBack(after) ?? null,
    payload: payloadOf(event, step),
    version: event.version,
  }),
  log: {
    word: ['type'],
    from: undefined,
    to: undefined,
    time: 'ts',
    identity: 'id',
    identifies: 'the line',
    repeats: false,
    lastWins: false,
    otherWords: 'reported',
    claim: 'job_claimed',
    job: 'job_id',
  },
}

/** What shows as a dead letter has all of the required fields, null where nothing ever ran. */
function letterOf(job: Job): Fields {
  if (job.state !== 'dead_lettered' && job.state !== 'timed_out' && job.state !== 'denied') return {}
  return {
    ...reasonOf(job),
    attempts: job.attempt,
    last_owner: job.lastClaim?.owner.workerId ?? null,
    last_lease_expires_at: iso(job.lastClaim?.leaseExpiresAt) ?? null,
  }
}

function reasonOf(job: DeadLettered | TimedOut | Denied): Fields {
  if (job.state === 'denied')
    return { reason_code: 'policy_violation', last_error: `denied by rule ${job.verdict.rule}` }
  return { reason_code: job.deadLetter?.reason ?? 'timeout', last_error: job.error.message }
}

/** It has no event for the way back to `queued`: what comes next says why the attempt before it was closed. */
const wayBack = (after: TransitionEvent | undefined): string | undefined =>
  after === undefined || after.type === 'enqueued' || after.type === 'admitted'
    ? undefined
    : `${after.type}${after.reason === undefined ? '' : `: ${after.reason}`}`

function payloadOf(event: Event, step: Step): Fields {
  const { attempt: attempts } = event
  return event.type === 'dead_lettered' && !step.implied
    ? { attempts, reason_code: event.payload.deadLetter.reason, last_error: event.payload.failure.message }
    : { attempts }
}
