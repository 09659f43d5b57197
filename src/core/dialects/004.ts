/** Document 004: crawl and ingestion. No claim, one state to wait for a retry in, counters and error codes. */
import type { Job } from '../job.ts'
import { type Dialect, type Fields, iso, present, type Row, recordId, type Status } from './dialect.ts'
import { INPUT_STAYS } from './input-stays.ts'

const row = (from: Status, to: Status, word: string): Row => ({ from, to, word })

/** A worker that has not started yet is no worker to this document; a job that has run once waits for a retry. */
const untilStarted = { new: 'queued', first: 'queued', again: 'retry_pending', ran: 'retry_pending' }

const COUNTERS = [
  'urls_total',
  'urls_enqueued',
  'urls_processed',
  'documents_emitted',
  'chunks_indexed',
  'tokens_estimated',
] as const
const CONTEXT = ['domain', 'url'] as const

export const document004: Dialect = {
  name: '004',
  title: 'Job Lifecycle',
  statuses: ['queued', 'running', 'retry_pending', 'succeeded', 'failed', 'canceled'],
  ended: ['succeeded', 'failed', 'canceled'],
  table: [
    row('none', 'queued', 'accept'),
    row('queued', 'running', 'start'),
    row('retry_pending', 'running', 'start'),
    row('running', 'running', 'heartbeat'),
    row('running', 'running', 'progress'),
    row('running', 'succeeded', 'complete'),
    { ...row('running', 'retry_pending', 'error'), when: 'transient' },
    { ...row('running', 'failed', 'error'), when: 'permanent' },
    row('queued', 'canceled', 'cancel'),
    row('running', 'canceled', 'cancel'),
  ],
  shows: {
    pending: 'queued',
    claimed: untilStarted,
    running: 'running',
    waiting: 'running',
    parked: 'running',
    stalled: { ...untilStarted, ran: 'running' },
    retrying: untilStarted,
    queued: untilStarted,
    succeeded: 'succeeded',
    failed: 'failed',
    cancelled: 'canceled',
    timed_out: 'failed',
    denied: 'canceled',
    dead_lettered: 'failed',
  },
  tells: {
    enqueued: 'accept',
    reopened: 'accept',
    started: 'start',
    retry_scheduled: 'error',
    succeeded: 'complete',
    failed: 'error',
    timed_out: 'error',
    dead_lettered: 'error',
    cancelled: 'cancel',
    denied: 'cancel',
  },
  notes: { heartbeat: ['heartbeat'], progressed: ['progress'] },
  knows: {
    claim: 'always',
    start: 'always',
    complete: 'always',
    fail: 'always',
    cancel: 'alongARow',
  },
  forbids: [
    INPUT_STAYS,
    {
      field: 'startWithin',
      asksFor: ({ startWithinMs }) => startWithinMs !== undefined,
      why: 'only what runs can fail, so a job that was not started has no way to end; cancel it instead',
    },
    {
      field: 'onStall',
      asksFor: ({ onStall }) => onStall === 'requeue',
      why: 'missed heartbeats are an error of the attempt: a retry, or failed',
    },
  ],
  fields: [
    ...['job_id', 'type', 'state', 'attempt', 'worker_id', 'updated_at', 'canceled_at', 'error_code', 'message'],
    ...['progress', 'eta', 'context', ...CONTEXT, ...COUNTERS, 'duration_seconds', 'event', 'from', 'to', 'reason'],
  ],
  free: [],
  record: (job, state) =>
    present({
      job_id: recordId(job.id, job.generation),
      type: job.spec.kind.type,
      state,
      attempt: job.attempt,
      worker_id: job.owner?.workerId,
      updated_at: iso(job.updatedAt),
      progress: job.progress?.done,
      eta: iso(job.progress?.etaAt),
      canceled_at: state === 'canceled' ? iso(job.endedAt) : undefined,
      ...picked(job.counters, COUNTERS),
      duration_seconds: job.executionMs / 1_000,
      ...failureOf(job),
    }),
  entry: (event, step) =>
    present({
      job_id: recordId(event.jobId, event.generation),
      event: step.word,
      from: step.from === 'none' ? undefined : step.from,
      to: step.to,
      reason: event.reason ?? event.command,
      attempt: event.attempt,
    }),
  log: {
    word: ['event', 'type'],
    from: 'from',
    to: 'to',
    time: undefined,
    identity: undefined,
    identifies: 'the line',
    repeats: false,
    lastWins: false,
    otherWords: 'reported',
    claim: undefined,
    job: 'job_id',
  },
}

const picked = <T>(values: Readonly<Record<string, T>>, names: readonly string[]): Fields =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(values, name)).map((name) => [name, values[name]]))

/** `error_code`, `message` and `context` of the error it ended with, or of the last one so far. */
function failureOf(job: Job): Fields {
  const failure = job.error ?? job.lastFailure
  if (failure === undefined) return {}
  const { code, message, context, attempt, worker: worker_id } = failure
  return { error_code: code, message, context: present({ ...picked(context ?? {}, CONTEXT), attempt, worker_id }) }
}
