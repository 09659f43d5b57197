/**
 * Document 003: the formal, event-sourced machine (in Chinese). States × events; an illegal event is still obeyed by
 * its `DeriveStatusFromEvents`, the last one wins.
 */
import { type Dialect, present, type Row, type Status } from './dialect.ts'
import { INPUT_STAYS } from './input-stays.ts'

const cells = (from: Status, to: Status, ...words: readonly string[]): readonly Row[] =>
  words.map((word) => ({ from, to, word }))

const EXTENSION = 'the document invites explicit events for its two states that nothing leads to'
const KICK = 'told of a live job it would kick it out: a repeated signal is a replay and adds no event'

const ENDED: readonly Status[] = ['Completed', 'Failed', 'Cancelled']

/** Its `JobStatus` constants. */
const CONSTANTS: Readonly<Record<Status, string>> = {
  Queued: 'StatusPending',
  Running: 'StatusRunning',
  Waiting: 'StatusWaiting',
  Parked: 'StatusParked',
  Retrying: 'StatusRetrying',
  Completed: 'StatusCompleted',
  Failed: 'StatusFailed',
  Cancelled: 'StatusCancelled',
}

export const document003: Dialect = {
  name: '003',
  title: 'Formal Job State Machine — 形式化状态机',
  statuses: Object.keys(CONSTANTS),
  ended: ENDED,
  table: [
    ...cells('none', 'Queued', 'job_created', 'job_queued', 'job_requeued'),
    ...cells('Queued', 'Queued', 'job_requeued', 'wait_completed'),
    ...cells('Queued', 'Running', 'job_leased', 'job_running'),
    ...cells('Running', 'Queued', 'job_requeued'),
    ...cells('Running', 'Queued', 'wait_completed').map((row) => ({
      ...row,
      settled: KICK,
      deriveOnly: true as const,
    })),
    ...cells('Running', 'Waiting', 'job_waiting'),
    ...cells('Running', 'Completed', 'job_completed'),
    ...cells('Running', 'Failed', 'job_failed'),
    ...cells('Running', 'Cancelled', 'job_cancelled'),
    ...cells('Waiting', 'Queued', 'wait_completed'),
    ...cells('Waiting', 'Cancelled', 'job_cancelled'),
    ...cells('Parked', 'Queued', 'wait_completed'),
    ...cells('Parked', 'Cancelled', 'job_cancelled'),
    ...cells('Retrying', 'Queued', 'job_requeued', 'wait_completed'),
    ...cells('Retrying', 'Running', 'job_leased', 'job_running'),
    ...cells('Failed', 'Queued', 'job_requeued'),
    ...[
      ...cells('Running', 'Parked', 'job_parked'),
      ...cells('Waiting', 'Parked', 'job_parked'),
      ...cells('Running', 'Retrying', 'job_retrying'),
    ].map((row) => ({ ...row, settled: EXTENSION, deriveOnly: true as const })),
  ],
  shows: {
    pending: 'Queued',
    claimed: 'Running',
    running: 'Running',
    waiting: 'Waiting',
    parked: 'Waiting',
    stalled: 'Running',
    retrying: 'Queued',
    queued: 'Queued',
    succeeded: 'Completed',
    failed: 'Failed',
    cancelled: 'Cancelled',
    timed_out: 'Failed',
    denied: 'Failed',
    dead_lettered: 'Failed',
  },
  tells: {
    enqueued: 'job_created',
    claimed: 'job_leased',
    waiting: 'job_waiting',
    signalled: 'wait_completed',
    wait_timed_out: 'wait_completed',
    released: 'job_requeued',
    retry_scheduled: 'job_requeued',
    requeued: 'job_requeued',
    compensating: 'job_requeued',
    reopened: 'job_requeued',
    succeeded: 'job_completed',
    failed: 'job_failed',
    timed_out: 'job_failed',
    denied: 'job_failed',
    dead_lettered: 'job_failed',
    cancelled: 'job_cancelled',
  },
  notes: {},
  aside: (event) => (event.type === 'recorded' ? event.payload.note?.kind : undefined),
  knows: {
    claim: 'always',
    start: 'always',
    complete: 'always',
    fail: 'always',
    wait: 'always',
    signal: 'always',
    release: 'always',
    cancel: 'alongARow',
    reopen: 'alongARow',
  },
  forbids: [
    INPUT_STAYS,
    {
      field: 'deadline',
      asksFor: ({ deadlineMs }) => deadlineMs !== undefined,
      why: 'only Running jobs become Failed, and a deadline passes while a job is Queued or Waiting, too; limit the attempt with timeout',
    },
    {
      field: 'startWithin',
      asksFor: ({ startWithinMs }) => startWithinMs !== undefined,
      why: 'it has no move from Queued to Failed',
    },
    {
      field: 'onWaitTimeout',
      asksFor: ({ onWaitTimeout }) => onWaitTimeout !== 'resume',
      why: 'a wait is left by wait_completed or job_cancelled: it has no move from Waiting to Failed',
    },
    {
      field: 'admission',
      asksFor: ({ admission }) => admission,
      why: 'its jobs are Queued when they are created, and it has no move by which one is denied',
    },
  ],
  fields: ['Job', 'State', 'JobStatus', 'attempt_id', 'Event', 'next_state'],
  free: [],
  record: (job, status) =>
    present({
      Job: job.id,
      State: status,
      JobStatus: CONSTANTS[status],
      attempt_id: job.attempt === 0 ? undefined : `${job.generation}.${job.attempt}`,
    }),
  entry: (event, step) => ({ Job: event.jobId, Event: step.word, next_state: step.to }),
  log: {
    word: ['Event', 'event', 'type'],
    from: undefined,
    to: 'next_state',
    time: undefined,
    identity: undefined,
    identifies: 'the line',
    repeats: false,
    lastWins: true,
    otherWords: 'passed over',
    claim: undefined,
    job: 'Job',
  },
  constants: CONSTANTS,
  laws: (status, word) => {
    const blocked = status === 'Waiting' || status === 'Parked'
    return [
      ...(ENDED.includes(status) ? ['invariant 1: nothing about the status follows an ending'] : []),
      ...(blocked && !UNBLOCKS.includes(word) ? ['invariant 2: a wait is left by wait_completed first'] : []),
      ...(blocked && RECLAIMS.includes(word) ? ['invariant 4: a blocked job is not reclaimed'] : []),
    ]
  },
}

/** What may follow a wait: its end, a cancel, or the same wait again under a longer name. */
const UNBLOCKS = ['wait_completed', 'job_cancelled', 'job_waiting', 'job_parked']
const RECLAIMS = ['job_requeued', 'job_leased', 'job_running']

const LEASED = 'the document names it as the extension for who is claimed and has not begun its loop'

/**
 * The other reading, which the document allows: `Parked` and `Retrying` are states of their own, and so is `Leased`; a job that
 * is queued at once is `job_queued`, one that waits for admission `job_created`, and the start of its loop is `job_running`.
 */
export const document003Explicit: Dialect = {
  ...document003,
  statuses: [...document003.statuses, 'Leased'],
  table: [
    ...document003.table
      .filter(({ word, to }) => word !== 'job_leased' || to !== 'Running')
      .map((row) =>
        row.settled === EXTENSION ? { from: row.from, to: row.to, word: row.word, settled: EXTENSION } : row,
      ),
    ...[
      ...cells('Queued', 'Leased', 'job_leased'),
      ...cells('Retrying', 'Leased', 'job_leased'),
      ...cells('Leased', 'Running', 'job_running'),
      ...cells('Leased', 'Queued', 'job_requeued'),
      ...cells('Leased', 'Retrying', 'job_retrying'),
      ...cells('Leased', 'Failed', 'job_failed'),
      ...cells('Leased', 'Cancelled', 'job_cancelled'),
    ].map((row) => ({ ...row, settled: LEASED })),
  ],
  shows: {
    ...document003.shows,
    claimed: 'Leased',
    parked: 'Parked',
    retrying: 'Retrying',
    stalled: { new: 'Leased', first: 'Leased', again: 'Leased', ran: 'Running' },
  },
  tells: {
    ...document003.tells,
    started: 'job_running',
    parked: 'job_parked',
    retry_scheduled: 'job_retrying',
  },
  entry: (event, step) => ({
    Job: event.jobId,
    Event: event.type === 'enqueued' && event.to === 'queued' && step.word === 'job_created' ? 'job_queued' : step.word,
    next_state: step.to,
  }),
  constants: { ...CONSTANTS, Leased: 'StatusRunning' },
  record: (job, status) => ({ ...document003.record(job, status === 'Leased' ? 'Running' : status), State: status }),
}
