/** Document 002: gateway, scheduler, safety kernel. Statuses only ever go forward, and are their own event words. */
import type { Event } from '../event.ts'
import type { Job } from '../job.ts'
import { PRIORITIES } from '../job.ts'
import {
  type Dialect,
  type Fields,
  keptAt,
  present,
  type Reach,
  type Row,
  recordId,
  type Status,
  type Step,
} from './dialect.ts'
import { INPUT_STAYS } from './input-stays.ts'
import { lastWorkerOf } from './worker-name.ts'

const row = (from: Status, to: Status): Row => ({ from, to, word: to })
const WORKER = 'the worker is said to move DISPATCHED as well; the diagram leaves it out'
const ANY: readonly Status[] = ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING']

/** Nothing goes back: a job that is queued again keeps the highest status it has reached. */
const highest: Readonly<Record<Reach, Status>> = {
  new: 'SCHEDULED',
  first: 'DISPATCHED',
  again: 'RUNNING',
  ran: 'RUNNING',
}

export const document002: Dialect = {
  name: '002',
  title: 'Jobs and State Machine',
  statuses: [...ANY, 'SUCCEEDED', 'FAILED', 'CANCELLED', 'DENIED', 'TIMEOUT'],
  ended: ['SUCCEEDED', 'FAILED', 'CANCELLED', 'DENIED', 'TIMEOUT'],
  table: [
    row('none', 'PENDING'),
    row('PENDING', 'SCHEDULED'),
    row('SCHEDULED', 'DISPATCHED'),
    row('DISPATCHED', 'RUNNING'),
    row('RUNNING', 'SUCCEEDED'),
    row('RUNNING', 'FAILED'),
    row('RUNNING', 'TIMEOUT'),
    row('DISPATCHED', 'TIMEOUT'),
    row('SCHEDULED', 'DENIED'),
    ...ANY.map((from) => row(from, 'CANCELLED')),
    { ...row('DISPATCHED', 'SUCCEEDED'), settled: WORKER },
    { ...row('DISPATCHED', 'FAILED'), settled: WORKER },
  ],
  shows: {
    pending: 'PENDING',
    claimed: highest,
    running: 'RUNNING',
    waiting: 'RUNNING',
    parked: 'RUNNING',
    stalled: highest,
    retrying: highest,
    queued: highest,
    succeeded: 'SUCCEEDED',
    failed: 'FAILED',
    cancelled: 'CANCELLED',
    timed_out: 'TIMEOUT',
    denied: 'DENIED',
    dead_lettered: 'FAILED',
  },
  tells: {
    enqueued: 'PENDING',
    reopened: 'PENDING',
    admitted: 'SCHEDULED',
    denied: 'DENIED',
    claimed: 'DISPATCHED',
    started: 'RUNNING',
    succeeded: 'SUCCEEDED',
    failed: 'FAILED',
    dead_lettered: 'FAILED',
    cancelled: 'CANCELLED',
    timed_out: 'TIMEOUT',
  },
  notes: {},
  knows: {
    admit: 'always',
    deny: 'always',
    claim: 'always',
    start: 'always',
    complete: 'always',
    fail: 'always',
    cancel: 'alongARow',
    deadLetter: 'alongARow',
  },
  forbids: [
    INPUT_STAYS,
    {
      field: 'admission',
      asksFor: ({ admission }) => !admission,
      why: 'every job is PENDING until a scheduler has validated it',
    },
    {
      field: 'deadline',
      asksFor: ({ deadlineMs }) => deadlineMs !== undefined,
      why: 'TIMEOUT follows DISPATCHED and RUNNING only: a job that waits must not be lost to a backlog; limit the attempt with timeout',
    },
    {
      field: 'onStall',
      asksFor: ({ onStall }) => onStall !== 'timed_out',
      why: 'a lost lease is TIMEOUT: it has no way back to SCHEDULED',
    },
  ],
  fields: [
    ...['JobRequest', 'job_id', 'topic', 'priority', 'context_ptr', 'adapter_id', 'env', 'parent_job_id'],
    ...['workflow_id', 'step_index', 'state', 'JobResult', 'status', 'result_ptr', 'worker_id', 'execution_ms'],
    ...['error_code', 'error_message', 'actor', 'marks'],
  ],
  free: ['env'],
  record: (job, state) => present({ JobRequest: requestOf(job), state, JobResult: resultOf(job, state) }),
  entry: (event, step) =>
    present({
      job_id: recordId(event.jobId, event.generation),
      state: step.to,
      actor: performerOf(event, step),
      marks: markOf(event, step),
    }),
  log: {
    word: ['state', 'status'],
    from: undefined,
    to: undefined,
    time: undefined,
    identity: undefined,
    identifies: 'the line',
    repeats: true,
    lastWins: false,
    otherWords: 'reported',
    claim: undefined,
    job: 'job_id',
  },
}

/** Who gives a job to a worker. A worker asks for any that is there: which one it gets is not its choice. */
const SCHEDULER = 'system:scheduler'

/** A worker is known by its start: to dispatch is the scheduler's. Nobody, where nobody has done it. */
const performerOf = ({ actor }: Event, { to, implied }: Step): string | undefined =>
  implied ? undefined : to === 'DISPATCHED' ? SCHEDULER : actor

/** What the reconciler marks a job as by its TIMEOUT. One that its own worker tells is nobody's mark. */
function markOf({ actor, reason }: Event, { to }: Step): 'stale' | 'not-started' | undefined {
  if (to !== 'TIMEOUT' || !actor.startsWith('system:')) return undefined
  return reason === 'not_started' ? 'not-started' : 'stale'
}

function requestOf({ id, generation, spec, priority }: Job): Fields {
  return present({
    job_id: recordId(id, generation),
    // Its type is what the workers of its pool know it by.
    topic: spec.topic ?? spec.kind.type,
    priority: priority <= PRIORITIES.critical ? 'critical' : priority <= PRIORITIES.normal ? 'interactive' : 'batch',
    context_ptr: spec.contextPtr ?? keptAt(id, spec.input),
    adapter_id: spec.adapterId,
    env: spec.env,
    parent_job_id: generation === 0 ? spec.parentId : recordId(id, generation - 1),
    workflow_id: spec.workflowId,
    step_index: spec.stepIndex,
  })
}

/** There is a result once there is an ending. */
function resultOf(job: Job, status: Status): Fields | undefined {
  if (job.endedAt === undefined) return undefined
  return present({
    job_id: recordId(job.id, job.generation),
    status,
    result_ptr: job.result?.ptr ?? keptAt(job.id, job.result?.body),
    worker_id: lastWorkerOf(job),
    execution_ms: job.executionMs,
    error_code: job.error?.code ?? job.verdict?.rule,
    error_message: job.error?.message ?? job.verdict?.reason,
  })
}
