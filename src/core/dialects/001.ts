/** Document 001, plan 02: claim, start, stall, requeue; `failed` is final, and nothing waits or is cancelled. */
import { ACTION_RULES, STATUSES } from '../contract/rules.ts'
import type { Event } from '../event.ts'
import type { Job, JobId, Result } from '../job.ts'
import { type Dialect, type Fields, iso, keptAt, present, recordId, type Step } from './dialect.ts'
import { INPUT_STAYS } from './input-stays.ts'

export const document001: Dialect = {
  name: '001',
  title: 'Plan 02: Job lifecycle semantics',
  statuses: STATUSES,
  ended: ['succeeded', 'failed'],
  table: Object.values(ACTION_RULES).flatMap(({ word, moves }) => moves.map(([from, to]) => ({ from, to, word }))),
  shows: {
    pending: 'queued',
    claimed: 'claimed',
    running: 'running',
    // No owner, no lease, not for anybody to claim: of the six only `stalled` allows that.
    waiting: 'stalled',
    parked: 'stalled',
    stalled: 'stalled',
    retrying: 'queued',
    queued: 'queued',
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'failed',
    timed_out: 'failed',
    denied: 'failed',
    dead_lettered: 'failed',
  },
  tells: {
    enqueued: 'enqueued',
    reopened: 'enqueued',
    claimed: 'claimed',
    started: 'started',
    stalled: 'stalled',
    requeued: 'requeued',
    released: 'requeued',
    retry_scheduled: 'requeued',
    signalled: 'requeued',
    wait_timed_out: 'requeued',
    succeeded: 'succeeded',
    failed: 'failed',
    timed_out: 'failed',
    dead_lettered: 'failed',
  },
  notes: { heartbeat: ['heartbeat'] },
  knows: {
    claim: 'always',
    start: 'always',
    complete: 'always',
    fail: 'always',
  },
  forbids: [
    INPUT_STAYS,
    {
      field: 'deadline',
      asksFor: ({ deadlineMs }) => deadlineMs !== undefined,
      why: 'only its owner fails a job, and only while it runs; limit the attempt with timeout, which the worker keeps',
    },
    {
      field: 'startWithin',
      asksFor: ({ startWithinMs }) => startWithinMs !== undefined,
      why: 'it has no move from queued or claimed to failed',
    },
    {
      field: 'retry.stalls',
      asksFor: ({ maxStalls }) => maxStalls !== 0,
      why: 'it has no move from stalled to failed: a lost lease is requeued, however often',
    },
    {
      field: 'retry.budget',
      asksFor: ({ budget }) => budget !== 'separate',
      why: 'it has no move from stalled to failed: lost leases are not counted',
    },
    {
      field: 'onStall',
      asksFor: ({ onStall }) => onStall !== 'requeue',
      why: 'it has one move from stalled besides the next claim: back to queued, for anybody to claim',
    },
    {
      field: 'admission',
      asksFor: ({ admission }) => admission,
      why: 'its jobs are queued when they are created, and it has no move by which one is denied',
    },
  ],
  fields: [
    ...['job_id', 'contract_version', 'dedupe_key', 'status', 'attempt', 'rev', 'owner', 'worker_id', 'lease'],
    ...['expires_at', 'result', 'error', 'message', 'code', 'type', 'from_status', 'to_status', 'at', 'actor'],
    'request_id',
  ],
  free: [],
  record: (job, status) =>
    present({
      job_id: recordId(job.id, job.generation),
      contract_version: 1,
      dedupe_key: job.spec.dedupeKey,
      status,
      attempt: job.attempt,
      rev: job.rev,
      owner: job.owner && { worker_id: job.owner.workerId },
      lease: job.lease && { expires_at: iso(job.lease.expiresAt) },
      result: job.result && resultOf(job.id, job.result),
      error: status === 'failed' ? errorOf(job) : undefined,
    }),
  value: 'result',
  entry: (event, step) => ({ ...entryOf(event, step), request_id: event.requestId }),
  log: {
    word: ['type'],
    from: 'from_status',
    to: 'to_status',
    time: 'at',
    identity: 'request_id',
    identifies: 'the request',
    repeats: false,
    lastWins: false,
    otherWords: 'reported',
    claim: undefined,
    job: 'job_id',
  },
}

/** Where it can be read; who came back with nothing has null. Where the text is at hand, `view` puts it there. */
const resultOf = (id: JobId, { ptr, body }: Result): string | null => ptr ?? keptAt(id, body) ?? null

/** One failed ending for five of ours: the code says which. */
function errorOf(job: Job): Fields {
  if (job.error !== undefined) return { message: job.error.message, code: job.error.code }
  if (job.verdict !== undefined) return { message: `Denied by rule ${job.verdict.rule}.`, code: 'denied' }
  return { message: job.cancel?.reason ?? 'Cancelled.', code: 'cancelled' }
}

const entryOf = (event: Event, step: Step): Fields =>
  present({
    job_id: recordId(event.jobId, event.generation),
    type: step.word,
    from_status: step.from === 'none' ? undefined : step.from,
    to_status: step.to,
    at: iso(event.at),
    actor: event.actor,
  })
