/**
 * The documents' tables, written down a second time from the documents themselves and from nothing else: what the
 * dialects are held against. `any other cell is illegal` is part of each.
 */
import type { DialectName } from '../../src/core/policy.ts'

export interface Transcript {
  readonly statuses: readonly string[]
  /** `from>to`, without what §8 has settled. Moves from `none` create the job. */
  readonly moves: readonly string[]
  /** `from>to` that the settlement adds. */
  readonly settled: readonly string[]
  readonly words: readonly string[]
  /** `status word` → the status it leads to; every other cell of statuses × words is illegal. */
  readonly cells: Readonly<Record<string, string>>
  /** A legal log that leads to each status. */
  readonly reaching: Readonly<Record<string, readonly unknown[]>>
}

const A = {
  claim: { type: 'job_claimed', payload: { attempts: 1 } },
  start: { type: 'job_started' },
}

/** 003, §3: the matrix as printed, `-` for its dash. */
export const MATRIX_003 = {
  events: [
    'job_created',
    'job_queued',
    'job_requeued',
    'job_leased',
    'job_running',
    'job_waiting',
    'wait_completed',
    'job_completed',
    'job_failed',
    'job_cancelled',
  ],
  rows: {
    none: ['Queued', 'Queued', 'Queued', '-', '-', '-', '-', '-', '-', '-'],
    Queued: ['-', '-', 'Queued', 'Running', 'Running', '-', 'Queued', '-', '-', '-'],
    Running: ['-', '-', 'Queued', '-', '-', 'Waiting', 'Queued', 'Completed', 'Failed', 'Cancelled'],
    Waiting: ['-', '-', '-', '-', '-', '-', 'Queued', '-', '-', 'Cancelled'],
    Parked: ['-', '-', '-', '-', '-', '-', 'Queued', '-', '-', 'Cancelled'],
    Retrying: ['-', '-', 'Queued', 'Running', 'Running', '-', 'Queued', '-', '-', '-'],
    Completed: ['-', '-', '-', '-', '-', '-', '-', '-', '-', '-'],
    Failed: ['-', '-', 'Queued', '-', '-', '-', '-', '-', '-', '-'],
    Cancelled: ['-', '-', '-', '-', '-', '-', '-', '-', '-', '-'],
  },
} as const

/** 003, §2, below its table: events that change no state. */
export const isAsideOf003 = (word: string): boolean => /^(plan_generated|node_started|tool_invocation_\w+)$/.test(word)

const cells003 = Object.fromEntries(
  Object.entries(MATRIX_003.rows).flatMap(([from, row]) =>
    row.flatMap((to, i) => (to === '-' ? [] : [[`${from} ${MATRIX_003.events[i]}`, to]])),
  ),
)

export const TRANSCRIPTS: Readonly<Record<DialectName, Transcript>> = {
  '000A': {
    statuses: ['queued', 'assigned', 'running', 'succeeded', 'failed', 'cancelled', 'dead_lettered'],
    moves: [
      'none>queued',
      'queued>assigned',
      'assigned>running',
      'running>succeeded',
      'running>failed',
      'running>cancelled',
      'queued>dead_lettered',
      'assigned>dead_lettered',
      'running>dead_lettered',
    ],
    settled: ['assigned>queued', 'running>queued'],
    words: [
      'job_claimed',
      'job_started',
      'job_lease_renewed',
      'job_heartbeat',
      'job_succeeded',
      'job_failed',
      'job_cancelled',
      'job_dead_lettered',
      'job_compensated',
    ],
    cells: {
      // The document has no event for the enqueueing: its logs begin with the claim.
      'none job_claimed': 'assigned',
      'none job_dead_lettered': 'dead_lettered',
      'queued job_claimed': 'assigned',
      'queued job_dead_lettered': 'dead_lettered',
      // Settled: the attempt is closed; these claims carry attempt 2.
      'assigned job_claimed': 'assigned',
      'running job_claimed': 'assigned',
      'assigned job_started': 'running',
      'assigned job_lease_renewed': 'assigned',
      'assigned job_heartbeat': 'assigned',
      'assigned job_dead_lettered': 'dead_lettered',
      'running job_lease_renewed': 'running',
      'running job_heartbeat': 'running',
      'running job_compensated': 'running',
      'running job_succeeded': 'succeeded',
      'running job_failed': 'failed',
      'running job_cancelled': 'cancelled',
      'running job_dead_lettered': 'dead_lettered',
    },
    reaching: {
      none: [],
      assigned: [A.claim],
      running: [A.claim, A.start],
      succeeded: [A.claim, A.start, { type: 'job_succeeded' }],
      failed: [A.claim, A.start, { type: 'job_failed' }],
      cancelled: [A.claim, A.start, { type: 'job_cancelled' }],
      dead_lettered: [{ type: 'job_dead_lettered' }],
    },
  },
  '000B': {
    statuses: ['queued', 'assigned', 'running', 'succeeded', 'failed', 'cancelled'],
    moves: [
      'none>queued',
      'queued>assigned',
      'assigned>running',
      'running>succeeded',
      'running>failed',
      'queued>cancelled',
      'assigned>cancelled',
      'running>cancelled',
    ],
    settled: ['assigned>queued', 'running>queued'],
    words: ['queued', 'assigned', 'running', 'succeeded', 'failed', 'cancelled'],
    cells: {
      'none queued': 'queued',
      'queued assigned': 'assigned',
      'queued cancelled': 'cancelled',
      'assigned running': 'running',
      'assigned cancelled': 'cancelled',
      'assigned queued': 'queued',
      'running succeeded': 'succeeded',
      'running failed': 'failed',
      'running cancelled': 'cancelled',
      'running queued': 'queued',
    },
    reaching: {
      none: [],
      queued: ['queued'],
      assigned: ['queued', 'assigned'],
      running: ['queued', 'assigned', 'running'],
      succeeded: ['queued', 'assigned', 'running', 'succeeded'],
      failed: ['queued', 'assigned', 'running', 'failed'],
      cancelled: ['queued', 'cancelled'],
    },
  },
  '001': {
    statuses: ['queued', 'claimed', 'running', 'succeeded', 'failed', 'stalled'],
    moves: [
      'none>queued',
      'queued>claimed',
      'stalled>claimed',
      'claimed>running',
      'running>succeeded',
      'running>failed',
      'claimed>stalled',
      'running>stalled',
      'stalled>queued',
    ],
    settled: [],
    words: ['enqueued', 'claimed', 'started', 'heartbeat', 'succeeded', 'failed', 'stalled', 'requeued'],
    cells: {
      'none enqueued': 'queued',
      'queued claimed': 'claimed',
      'stalled claimed': 'claimed',
      'claimed started': 'running',
      'claimed heartbeat': 'claimed',
      'running heartbeat': 'running',
      'running succeeded': 'succeeded',
      'running failed': 'failed',
      'claimed stalled': 'stalled',
      'running stalled': 'stalled',
      'stalled requeued': 'queued',
    },
    reaching: {
      none: [],
      queued: ['enqueued'],
      claimed: ['enqueued', 'claimed'],
      running: ['enqueued', 'claimed', 'started'],
      succeeded: ['enqueued', 'claimed', 'started', 'succeeded'],
      failed: ['enqueued', 'claimed', 'started', 'failed'],
      stalled: ['enqueued', 'claimed', 'stalled'],
    },
  },
  '002': {
    statuses: [
      'PENDING',
      'SCHEDULED',
      'DISPATCHED',
      'RUNNING',
      'SUCCEEDED',
      'FAILED',
      'CANCELLED',
      'DENIED',
      'TIMEOUT',
    ],
    moves: [
      'none>PENDING',
      'PENDING>SCHEDULED',
      'SCHEDULED>DISPATCHED',
      'DISPATCHED>RUNNING',
      'RUNNING>SUCCEEDED',
      'RUNNING>FAILED',
      'RUNNING>TIMEOUT',
      'DISPATCHED>TIMEOUT',
      'SCHEDULED>DENIED',
      'PENDING>CANCELLED',
      'SCHEDULED>CANCELLED',
      'DISPATCHED>CANCELLED',
      'RUNNING>CANCELLED',
    ],
    // "Worker: moves DISPATCHED/RUNNING -> SUCCEEDED/FAILED", which the diagram does not draw.
    settled: ['DISPATCHED>SUCCEEDED', 'DISPATCHED>FAILED'],
    words: ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED', 'DENIED', 'TIMEOUT'],
    cells: {
      'none PENDING': 'PENDING',
      'PENDING SCHEDULED': 'SCHEDULED',
      'SCHEDULED DISPATCHED': 'DISPATCHED',
      'SCHEDULED DENIED': 'DENIED',
      'DISPATCHED RUNNING': 'RUNNING',
      'DISPATCHED TIMEOUT': 'TIMEOUT',
      'DISPATCHED SUCCEEDED': 'SUCCEEDED',
      'DISPATCHED FAILED': 'FAILED',
      'RUNNING SUCCEEDED': 'SUCCEEDED',
      'RUNNING FAILED': 'FAILED',
      'RUNNING TIMEOUT': 'TIMEOUT',
      'PENDING CANCELLED': 'CANCELLED',
      'SCHEDULED CANCELLED': 'CANCELLED',
      'DISPATCHED CANCELLED': 'CANCELLED',
      'RUNNING CANCELLED': 'CANCELLED',
      // The same state twice.
      'PENDING PENDING': 'PENDING',
      'SCHEDULED SCHEDULED': 'SCHEDULED',
      'DISPATCHED DISPATCHED': 'DISPATCHED',
      'RUNNING RUNNING': 'RUNNING',
      'SUCCEEDED SUCCEEDED': 'SUCCEEDED',
      'FAILED FAILED': 'FAILED',
      'CANCELLED CANCELLED': 'CANCELLED',
      'DENIED DENIED': 'DENIED',
      'TIMEOUT TIMEOUT': 'TIMEOUT',
    },
    reaching: {
      none: [],
      PENDING: ['PENDING'],
      SCHEDULED: ['PENDING', 'SCHEDULED'],
      DISPATCHED: ['PENDING', 'SCHEDULED', 'DISPATCHED'],
      RUNNING: ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING'],
      SUCCEEDED: ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'SUCCEEDED'],
      FAILED: ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING', 'FAILED'],
      CANCELLED: ['PENDING', 'CANCELLED'],
      DENIED: ['PENDING', 'SCHEDULED', 'DENIED'],
      TIMEOUT: ['PENDING', 'SCHEDULED', 'DISPATCHED', 'TIMEOUT'],
    },
  },
  '003': {
    statuses: ['Queued', 'Running', 'Waiting', 'Parked', 'Retrying', 'Completed', 'Failed', 'Cancelled'],
    moves: [
      'none>Queued',
      'Queued>Running',
      'Running>Queued',
      'Running>Waiting',
      'Running>Completed',
      'Running>Failed',
      'Running>Cancelled',
      'Waiting>Queued',
      'Waiting>Cancelled',
      'Parked>Queued',
      'Parked>Cancelled',
      'Retrying>Queued',
      'Retrying>Running',
      'Failed>Queued',
    ],
    settled: ['Running>Parked', 'Waiting>Parked', 'Running>Retrying'],
    words: MATRIX_003.events,
    cells: cells003,
    reaching: {
      none: [],
      Queued: ['job_created'],
      Running: ['job_created', 'job_running'],
      Waiting: ['job_created', 'job_running', 'job_waiting'],
      Parked: ['job_created', 'job_running', 'job_waiting', 'job_parked'],
      Retrying: ['job_created', 'job_running', 'job_retrying'],
      Completed: ['job_created', 'job_running', 'job_completed'],
      Failed: ['job_created', 'job_running', 'job_failed'],
      Cancelled: ['job_created', 'job_running', 'job_cancelled'],
    },
  },
  '004': {
    statuses: ['queued', 'running', 'retry_pending', 'succeeded', 'failed', 'canceled'],
    moves: [
      'none>queued',
      'queued>running',
      'retry_pending>running',
      'running>succeeded',
      'running>failed',
      'running>canceled',
      'running>retry_pending',
      'queued>canceled',
    ],
    settled: [],
    words: ['accept', 'start', 'heartbeat', 'progress', 'complete', 'error', 'cancel'],
    cells: {
      'none accept': 'queued',
      'queued start': 'running',
      'retry_pending start': 'running',
      'running heartbeat': 'running',
      'running progress': 'running',
      'running complete': 'succeeded',
      // Without a code an error may pass.
      'running error': 'retry_pending',
      'queued cancel': 'canceled',
      'running cancel': 'canceled',
    },
    reaching: {
      none: [],
      queued: ['accept'],
      running: ['accept', 'start'],
      retry_pending: ['accept', 'start', 'error'],
      succeeded: ['accept', 'start', 'complete'],
      failed: ['accept', 'start', { event: 'error', code: 'E_ROBOTS' }],
      canceled: ['accept', 'cancel'],
    },
  },
}
