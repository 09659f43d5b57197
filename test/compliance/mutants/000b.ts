/** What document 000, part B, forbids. */
import { type Mutant, mutant, survivor } from './mutant.ts'

const DIALECT = 'core/dialects/000b.ts'

const STATES: readonly Mutant[] = [
  mutant('000B:89', 'a queued job shows as assigned', [
    DIALECT,
    "    queued: 'queued',\n",
    "    queued: 'assigned',\n",
  ]),
  mutant('000B:89', 'what is queued shows no state', [DIALECT, '      state,\n      timestamp', '      timestamp']),
  mutant('000B:90', 'a claimed job shows as queued', [
    DIALECT,
    "    claimed: 'assigned',\n    running: 'running',\n    waiting",
    "    claimed: 'queued',\n    running: 'running',\n    waiting",
  ]),
  mutant('000B:90', 'a claim starts the job', [
    'core/evolve.ts',
    'next.startedAt = undefined',
    'next.startedAt = event.at',
  ]),
  mutant('000B:91', 'a running job shows as assigned', [
    DIALECT,
    "    running: 'running',\n    waiting",
    "    running: 'assigned',\n    waiting",
  ]),
  mutant('000B:92', 'a job that succeeded shows as running', [
    DIALECT,
    "    succeeded: 'succeeded',\n    failed: 'failed',\n    cancelled: 'cancelled',\n    timed_out",
    "    succeeded: 'running',\n    failed: 'failed',\n    cancelled: 'cancelled',\n    timed_out",
  ]),
  mutant('000B:92', 'the result of a refused success is kept', [
    'core/ownership.ts',
    '!isOwned(job) || job.lease.fence !== command.fence',
    '!isOwned(job)',
  ]),
  mutant('000B:93', 'a job that failed shows as cancelled', [
    DIALECT,
    "    dead_lettered: 'failed',\n  },\n  tells",
    "    dead_lettered: 'cancelled',\n  },\n  tells",
  ]),
  mutant('000B:93', 'what failed is not among the dead letters', [
    'core/dialects/bond.ts',
    'forwardsFailed: true',
    'forwardsFailed: false',
  ]),
  mutant('000B:93', 'what is not tried again is not among the dead letters', [
    'core/ending.ts',
    "DEAD_LETTER_REASONS.find((reason) => reason === ending.reason) ?? 'exhausted_retries'",
    'DEAD_LETTER_REASONS.find((reason) => reason === ending.reason)\n  if (deadLetter === undefined) return ending',
  ]),
  mutant('000B:115', 'a letter has lost the reason it failed for', [
    'core/ending.ts',
    'DEAD_LETTER_REASONS.find((reason) => reason === ending.reason)',
    'DEAD_LETTER_REASONS.find(() => false)',
  ]),
  mutant('000B:94', 'a cancelled job shows as failed', [
    DIALECT,
    "    cancelled: 'cancelled',\n    timed_out",
    "    cancelled: 'failed',\n    timed_out",
  ]),
  mutant('000B:94 000B:101', 'nobody cancels', [DIALECT, "    cancel: 'alongARow',\n", '']),
]

const TRANSITIONS: readonly Mutant[] = [
  mutant('000B:97', 'there is no claim', [DIALECT, "    row('queued', 'assigned'),\n", '']),
  mutant('000B:97', 'a claim goes untold', [DIALECT, "    claimed: 'assigned',\n    started", '    started']),
  mutant('000B:91 000B:98', 'there is no start', [DIALECT, "    row('assigned', 'running'),\n", '']),
  mutant('000B:98', 'an input that breaks its schema is worked on', [
    'worker/schema.ts',
    "schema === undefined ? { ok: true, value } : checked(schema, value, 'input')",
    '({ ok: true, value })',
  ]),
  mutant('000B:99', 'nothing leads to succeeded', [DIALECT, "    row('running', 'succeeded'),\n", '']),
  mutant('000B:99', 'a success goes untold', [
    DIALECT,
    "    succeeded: 'succeeded',\n    failed: 'failed',\n    timed_out",
    "    failed: 'failed',\n    timed_out",
  ]),
  mutant('000B:100', 'nothing leads to failed', [DIALECT, "    row('running', 'failed'),\n", '']),
  mutant('000B:100', 'a failure goes untold', [
    DIALECT,
    "    dead_lettered: 'failed',\n    cancelled",
    '    cancelled',
  ]),
  mutant('000B:96 000B:101', 'no cancel of what is queued', [DIALECT, "    row('queued', 'cancelled'),\n", '']),
  mutant('000B:96', 'what is queued fails', [
    DIALECT,
    "    row('queued', 'cancelled'),\n",
    "    row('queued', 'cancelled'),\n    row('queued', 'failed'),\n",
  ]),
]

const INVARIANTS: readonly Mutant[] = [
  mutant('000B:104', 'a claim leaves what it takes to others', [
    'store/sqlite/thread/claim.ts',
    '    sql.deleteFront.run(lane, last.readyAt, last.id, now)\n',
    '',
  ]),
  mutant('000B:104', 'any fence will do', [
    'core/ownership.ts',
    '!isOwned(job) || job.lease.fence !== command.fence',
    '!isOwned(job)',
  ]),
  mutant(
    '000B:105',
    'what has ended can be reopened',
    [DIALECT, "    deadLetter: 'alongARow',\n  },", "    deadLetter: 'alongARow',\n    reopen: 'always',\n  },"],
    ['core/dialects/telling.ts', ' && !path.fresh', ''],
  ),
  mutant('000B:105', 'what is written later happened earlier', [
    'core/draft.ts',
    'at: Math.max(now, job.updatedAt)',
    'at: job.updatedAt - 50',
  ]),
  mutant('000B:106', 'an idempotency key is nobody’s', [
    'engine/keys.ts',
    'if (idempotencyKey !== undefined) {',
    'if (idempotencyKey === null) {',
  ]),
  mutant('000B:106', 'what has ended gives up its key', [
    'engine/keys.ts',
    'until: now + IDEMPOTENCY_MS',
    'until: now',
  ]),
  mutant('000B:107', 'an entry has no actor', [DIALECT, '      actor: event.actor,\n', '']),
  mutant('000B:107', 'what nobody gave a reason for has none', [
    DIALECT,
    'event.reason ?? event.command',
    'event.reason',
  ]),
  mutant('000B:107', 'an entry has no time', [DIALECT, '      timestamp: iso(event.at),\n', '']),
]

const LEASES: readonly Mutant[] = [
  survivor('000B:110', 'renewal at the last moment', ['core/timers.ts', 'remainingMs / 2)', 'remainingMs * 0.95)']),
  mutant('000B:110', 'without heartbeats a lease may be shorter than the attempt', [
    'core/resolve.ts',
    '!policy.heartbeat && policy.leaseMs < policy.attemptMs',
    'false',
  ]),
  mutant('000B:110', 'a worker renews nothing', [
    'worker/lease-keeper.ts',
    'for (let i = 0; i < due.length; i += BATCH) await this.#beat(due.slice(i, i + BATCH))',
    '',
  ]),
  mutant('000B:111', 'who has lost its lease may still complete', [
    'core/ownership.ts',
    '!isOwned(job) || job.lease.fence !== command.fence',
    '!isOwned(job)',
  ]),
  mutant('000B:111', 'a late word leaves no note', ['core/late.ts', '  claim && {', '  undefined && {']),
]

const RETRIES: readonly Mutant[] = [
  survivor('000B:114', 'no exponent', ['core/retry.ts', 'curve.factor ** (n - 1)', 'curve.factor ** 0']),
  survivor('000B:114', 'no delay at all', [
    'core/retry.ts',
    'return at + retryDelayMs(',
    'return at + 0 * retryDelayMs(',
  ]),
  mutant('000B:114', 'no jitter', [
    'core/retry.ts',
    'return Math.round(delayMs * fraction(seed))',
    'return Math.round(delayMs)',
  ]),
  mutant('000B:114', 'a base of 2 s', ['core/presets.ts', 'baseMs: 500,', 'baseMs: 2_000,']),
  survivor('000B:115', 'a stage is missing', ['core/job.ts', "'output', ", '']),
  mutant('000B:115', 'every failure is of one stage', ['core/decide/fail.ts', "fault.stage ?? 'exec'", "'exec'"]),
]

const REST: readonly Mutant[] = [
  mutant('000B:118', 'transitions are not counted', [
    'engine/observer.ts',
    "metrics.add('pawl_transitions_total', 1, { from: event.from ?? 'none', to: event.to })",
    '',
  ]),
  mutant('000B:118', 'renewals are not counted', [
    'engine/heartbeat.ts',
    'if (renewed > 0) parts.observer.renewed(renewed)',
    '',
  ]),
  mutant('000B:119', 'no trace on events', [
    'core/draft.ts',
    'command.traceparent ?? job.spec.traceparent',
    'command.traceparent',
  ]),
  mutant('000B:119', 'no correlation on entries', [DIALECT, '      correlation_id: event.correlationId,\n', '']),
  mutant('000B:122', 'what cannot be helped is retried', [
    'core/decide/fail.ts',
    "  failure.class !== 'permanent' &&\n",
    '',
  ]),
  mutant('000B:122', 'what does not validate is retried', [
    'core/decide/fail.ts',
    "  failure.class !== 'validation' &&\n",
    '',
  ]),
  mutant('000B:122', 'what may pass is final', [
    'core/thrown.ts',
    "super('transient', 'TransientError'",
    "super('permanent', 'TransientError'",
  ]),
  mutant('000B:125', 'events are of version 2', ['library/machine.ts', 'version: 1', 'version: 2']),
  mutant('000B:125', 'a reader stumbles over what it does not know', [
    'core/dialects/log-line.ts',
    "  const payload = own(entry, 'payload')",
    "  if ('colour' in entry) return { ...EMPTY, n, fault: 'it has a colour' }\n  const payload = own(entry, 'payload')",
  ]),
]

export const OF_000B: readonly Mutant[] = [...STATES, ...TRANSITIONS, ...INVARIANTS, ...LEASES, ...RETRIES, ...REST]
