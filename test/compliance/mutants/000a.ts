/** What document 000, part A, forbids. */
import { inPostgres, type Mutant, mutant, survivor } from './mutant.ts'

const DIALECT = 'core/dialects/000a.ts'

const STATES: readonly Mutant[] = [
  mutant('000A:10', 'a queued job shows as assigned', [DIALECT, "    queued: 'queued',", "    queued: 'assigned',"]),
  mutant('000A:10 000A:19', 'a queued job is ready for nobody', [
    'core/timers.ts',
    "    case 'queued':\n    case 'retrying':\n      return job.runAt",
    "    case 'queued':\n    case 'retrying':\n      return undefined",
  ]),
  mutant('000A:11', 'a claimed job shows as running', [DIALECT, "claimed: 'assigned'", "claimed: 'running'"]),
  mutant('000A:11 000A:12', 'nobody is shown as the owner', [DIALECT, 'owner: job.owner?.workerId,', '']),
  mutant('000A:12', 'a running job shows as assigned', [
    DIALECT,
    "    running: 'running',\n    waiting",
    "    running: 'assigned',\n    waiting",
  ]),
  mutant('000A:13', 'a job that succeeded shows as failed', [
    DIALECT,
    "    succeeded: 'succeeded',\n    failed: 'failed',",
    "    succeeded: 'failed',\n    failed: 'failed',",
  ]),
  mutant('000A:13', 'artifacts are not shown', [DIALECT, '      artifacts: job.artifacts,\n', '']),
  mutant('000A:14', 'a job that failed shows as a dead letter', [
    DIALECT,
    "    failed: 'failed',\n    cancelled",
    "    failed: 'dead_lettered',\n    cancelled",
  ]),
  mutant('000A:14', 'an error that no retry helps is retried', [
    'core/decide/fail.ts',
    "  failure.class !== 'permanent' &&\n",
    '',
  ]),
  mutant('000A:15', 'a cancelled job shows as failed', [
    DIALECT,
    "    cancelled: 'cancelled',\n",
    "    cancelled: 'failed',\n",
  ]),
  mutant('000A:15 000A:42', 'a hard cancel of a job that has an owner is only a request', [
    'core/decide/cancel.ts',
    "if (mode === 'hard')",
    "if (mode === 'hard' && !isOwned(job))",
  ]),
  mutant('000A:16', 'a dead letter shows as failed', [
    DIALECT,
    "    dead_lettered: 'dead_lettered',\n",
    "    dead_lettered: 'failed',\n",
  ]),
  mutant('000A:16 000A:45 000A:46', 'every dead letter has the same reason', [
    DIALECT,
    "job.deadLetter?.reason ?? 'timeout'",
    "'timeout'",
  ]),
]

const TRANSITIONS: readonly Mutant[] = [
  mutant('000A:69', 'nothing leads to queued', [DIALECT, "    row('none', 'queued', undefined),\n", '']),
  mutant('000A:69', 'a new job is assigned', [
    DIALECT,
    "row('none', 'queued', undefined)",
    "row('none', 'assigned', undefined)",
  ]),
  mutant('000A:19 000A:70', 'there is no claim', [DIALECT, "    row('queued', 'assigned', 'job_claimed'),\n", '']),
  mutant('000A:70', 'a claim leads to running', [
    DIALECT,
    "row('queued', 'assigned', 'job_claimed')",
    "row('queued', 'running', 'job_claimed')",
  ]),
  mutant('000A:20 000A:71', 'there is no start', [DIALECT, "    row('assigned', 'running', 'job_started'),\n", '']),
  mutant('000A:20', 'a start is no heartbeat', [
    'core/dialects/bond.ts',
    "'000A': { ...BOUND, startsWithHeartbeat: true },",
    "'000A': BOUND,",
  ]),
  mutant('000A:20 000A:71', 'a start goes untold', [DIALECT, "    started: 'job_started',\n", '']),
  mutant('000A:21 000A:72', 'nothing leads to succeeded', [
    DIALECT,
    "    row('running', 'succeeded', 'job_succeeded'),\n",
    '',
  ]),
  mutant('000A:21 000A:73', 'nothing leads to failed', [DIALECT, "    row('running', 'failed', 'job_failed'),\n", '']),
  mutant('000A:21 000A:74', 'nothing leads to cancelled', [
    DIALECT,
    "    row('running', 'cancelled', 'job_cancelled'),\n",
    '',
  ]),
  mutant('000A:72', 'what is assigned succeeds', [
    DIALECT,
    "row('running', 'succeeded', 'job_succeeded')",
    "row('assigned', 'succeeded', 'job_succeeded')",
  ]),
  mutant('000A:73', 'what is assigned fails', [
    DIALECT,
    "row('running', 'failed', 'job_failed')",
    "row('assigned', 'failed', 'job_failed')",
  ]),
  mutant('000A:74', 'a cancel goes untold', [
    DIALECT,
    "    cancelled: 'job_cancelled',\n    timed_out",
    '    timed_out',
  ]),
  mutant('000A:18', 'what is queued is cancelled', [
    DIALECT,
    "    row('running', 'cancelled', 'job_cancelled'),\n",
    "    row('running', 'cancelled', 'job_cancelled'),\n    row('queued', 'cancelled', 'job_cancelled'),\n",
  ]),
  mutant('000A:18', 'what is assigned is cancelled', [
    DIALECT,
    "    row('running', 'cancelled', 'job_cancelled'),\n",
    "    row('running', 'cancelled', 'job_cancelled'),\n    row('assigned', 'cancelled', 'job_cancelled'),\n",
  ]),
  mutant('000A:22 000A:75', 'no dead letter from queued', [
    DIALECT,
    "    row('queued', 'dead_lettered', 'job_dead_lettered'),\n",
    '',
  ]),
  mutant('000A:22 000A:76', 'no dead letter from assigned', [
    DIALECT,
    "    row('assigned', 'dead_lettered', 'job_dead_lettered'),\n",
    '',
  ]),
  mutant('000A:22 000A:77', 'no dead letter from running', [
    DIALECT,
    "    row('running', 'dead_lettered', 'job_dead_lettered'),\n",
    '',
  ]),
  mutant('000A:22 000A:75 000A:76 000A:77', 'nobody may put a job aside', [
    DIALECT,
    "    cancel: 'alongARow',\n    deadLetter: 'alongARow',\n",
    "    cancel: 'alongARow',\n",
  ]),
  mutant(
    '000A:79 000A:80 000A:81',
    'an ending is not final: it can be reopened',
    [DIALECT, "    deadLetter: 'alongARow',\n  },", "    deadLetter: 'alongARow',\n    reopen: 'always',\n  },"],
    ['core/dialects/telling.ts', ' && !path.fresh', ''],
  ),
  mutant('000A:78 000A:79 000A:81', 'what has ended is cancelled', [
    'core/transitions.ts',
    "'waiting', 'parked', 'stalled']\n\nconst FAIL",
    "'waiting', 'parked', 'stalled', 'succeeded', 'failed', 'dead_lettered']\n\nconst FAIL",
  ]),
  mutant('000A:78 000A:80', 'what has ended is put aside', [
    'core/transitions.ts',
    'deadLetter: each(LIVE_STATES,',
    "deadLetter: each([...LIVE_STATES, 'succeeded', 'cancelled'],",
  ]),
]

const INVARIANTS: readonly Mutant[] = [
  mutant('000A:25', 'any fence will do', [
    'core/ownership.ts',
    '!isOwned(job) || job.lease.fence !== command.fence',
    '!isOwned(job)',
  ]),
  mutant('000A:25', 'a claim takes the job and leaves it in its lane', [
    'store/sqlite/thread/claim.ts',
    '    sql.deleteFront.run(lane, last.readyAt, last.id, now)\n',
    '',
  ]),
  mutant('000A:26', 'a running job is requeued', [
    'core/transitions.ts',
    '  requeue: {\n',
    "  requeue: {\n    running: [move('queued', 'at will', 'requeued')],\n",
  ]),
  mutant('000A:26', 'a live lease is taken for lost', ['core/decide/stall.ts', 'd.at < endsAt', 'd.at < 0']),
  mutant('000A:27 000A:64', 'transitions are counted twice', [
    'core/draft.ts',
    'const seq = d.job.seq + 1',
    'const seq = d.job.seq + 2',
  ]),
  mutant('000A:27 000A:64', 'the record does not count its transitions', [
    'core/evolve.ts',
    'next.seq = event.seq ?? job.seq',
    'next.seq = job.seq',
  ]),
  mutant('000A:28', 'a repeated word is a new one', [
    'core/receipt.ts',
    'const receipt = remembered(job, command) ?? receiptOf(caused)',
    'const receipt = undefined as Receipt | undefined',
  ]),
  mutant('000A:28', 'a word is remembered by its owner alone', [
    'core/receipt.ts',
    'remembered(job, command) ?? receiptOf(caused)',
    'remembered(job, command)',
  ]),
  mutant('000A:29', 'a lease lasts for ever', [
    'core/timers.ts',
    'policy.missedHeartbeats * policy.heartbeatMs + LEASE_MARGIN_MS)',
    'policy.missedHeartbeats * policy.heartbeatMs + LEASE_MARGIN_MS) * 1_000',
  ]),
  mutant('000A:29', 'who has lost its lease is still heard', [
    'core/ownership.ts',
    'if (!isOwned(job) || job.lease.fence !== command.fence) {',
    'if (!isOwned(job)) return undefined\n  if (job.lease.fence !== command.fence) {',
  ]),
]

const LEASES: readonly Mutant[] = [
  mutant('000A:32', 'leases of 29 s', ['core/resolve.ts', 'policy.leaseMs < 30_000', 'policy.leaseMs < 29_000']),
  mutant('000A:32', 'leases of 121 s', ['core/resolve.ts', 'policy.leaseMs > 120_000', 'policy.leaseMs > 121_000']),
  mutant('000A:32', 'renewal at the last moment', ['core/timers.ts', 'remainingMs / 2)', 'remainingMs * 0.95)']),
  mutant('000A:33', 'heartbeats every 9 s', [
    'core/resolve.ts',
    'policy.heartbeatMs < 10_000',
    'policy.heartbeatMs < 9_000',
  ]),
  mutant('000A:33', 'heartbeats every 31 s', [
    'core/resolve.ts',
    'policy.heartbeatMs > 30_000',
    'policy.heartbeatMs > 31_000',
  ]),
  mutant('000A:33', 'missed heartbeats count for nothing', [
    'core/timers.ts',
    'Math.min(policy.leaseMs, policy.missedHeartbeats * policy.heartbeatMs + LEASE_MARGIN_MS)',
    'policy.leaseMs',
  ]),
  mutant('000A:34', 'a lost lease ends the job', [
    'core/presets.ts',
    "'000A': { budget: 'shared',",
    "'000A': { budget: 'shared', maxStalls: 0, maxAttempts: 1,",
  ]),
  mutant('000A:34', 'lost leases use up no attempts', [
    'core/presets.ts',
    "'000A': { budget: 'shared',",
    "'000A': { budget: 'separate', maxStalls: 100,",
  ]),
  mutant('000A:34', 'an orphan stays one', [
    'core/decide.ts',
    "if (first.kind !== 'accepted' || first.job.state !== 'stalled') return first",
    'return first',
  ]),
]

const RETRIES: readonly Mutant[] = [
  survivor('000A:37', 'no exponent', ['core/retry.ts', 'curve.factor ** (n - 1)', 'curve.factor ** 0']),
  survivor('000A:37', 'no delay at all', [
    'core/retry.ts',
    'return at + retryDelayMs(',
    'return at + 0 * retryDelayMs(',
  ]),
  mutant('000A:37', 'no jitter', [
    'core/retry.ts',
    'return Math.round(delayMs * fraction(seed))',
    'return Math.round(delayMs)',
  ]),
  mutant('000A:37', 'no longest interval', [
    'core/retry.ts',
    'Math.min(curve.maxMs, curve.baseMs * curve.factor ** (n - 1))',
    'curve.baseMs * curve.factor ** (n - 1)',
  ]),
  mutant('000A:38', 'one attempt too many', [
    'core/budget.ts',
    'job.failures + job.stalls >= maxAttempts',
    'job.failures + job.stalls > maxAttempts',
  ]),
  mutant('000A:38', 'the policy is not asked how a spent job ends', [
    'core/decide/fail.ts',
    'return byPolicy(policy.onExhausted, exhaustedReason(failure), failure)',
    "return byPolicy('dead_lettered', exhaustedReason(failure), failure)",
  ]),
]

const CANCELS: readonly Mutant[] = [
  mutant('000A:41', 'a soft cancel is delivered to nobody', [
    'core/decide/heartbeat.ts',
    'cancelDelivered: job.cancel !== undefined && job.cancel.deliveredAt === undefined,',
    'cancelDelivered: false,',
  ]),
  mutant('000A:41', 'a soft cancel is hard', ['core/decide/cancel.ts', "if (mode === 'hard')", 'if (mode)']),
  mutant(
    '000A:42',
    'who was cancelled may still complete',
    [
      'core/ownership.ts',
      'if (!isOwned(job) || job.lease.fence !== command.fence) {',
      'if (isOwned(job) && job.lease.fence !== command.fence) {',
    ],
    ['core/ownership.ts', "if (command.type !== 'stall' && now", "if (isOwned(job) && command.type !== 'stall' && now"],
    [
      'core/transitions.ts',
      '  complete: {\n',
      "  complete: {\n    cancelled: [move('succeeded', 'late', 'succeeded')],\n",
    ],
  ),
]

const LETTERS: readonly Mutant[] = [
  mutant('000A:45', 'a reason is missing', ['core/job.ts', "  'compensation_failed',\n", '']),
  mutant('000A:45', 'a reason is renamed', ['core/job.ts', "  'parse_error',\n", "  'unreadable',\n"]),
  mutant('000A:45', 'a dependency that was away is not the reason', [
    'core/decide/fail.ts',
    "DEPENDENCY_CODES.has(failure.code) ? 'dependency_unavailable' : 'exhausted_retries'",
    "'exhausted_retries'",
  ]),
  mutant('000A:46', 'the last owner is forgotten', [DIALECT, 'job.lastClaim?.owner.workerId ?? null', 'null']),
  mutant('000A:46', 'the last lease is forgotten', [DIALECT, 'iso(job.lastClaim?.leaseExpiresAt) ?? null', 'null']),
  mutant('000A:46', 'the last error is forgotten', [DIALECT, 'last_error: job.error.message', "last_error: ''"]),
  mutant('000A:46', 'attempts are not counted', [
    DIALECT,
    '    attempts: job.attempt,\n    last_owner',
    '    attempts: 0,\n    last_owner',
  ]),
  mutant('000A:46', 'the correlation is not shown', [DIALECT, '      correlation_id: job.spec.correlationId,\n', '']),
]

const EVENTS: readonly Mutant[] = [
  mutant('000A:49', 'a heartbeat is not told as the renewal it is', [
    DIALECT,
    "heartbeat: ['job_heartbeat', 'job_lease_renewed']",
    "heartbeat: ['job_heartbeat']",
  ]),
  mutant('000A:49', 'a dead letter is told as a failure', [
    DIALECT,
    "    dead_lettered: 'job_dead_lettered',\n  },",
    "    dead_lettered: 'job_failed',\n  },",
  ]),
  mutant('000A:49', 'undoing is not told', [DIALECT, ", compensated: ['job_compensated']", '']),
  mutant('000A:50', 'an event has no cause', [DIALECT, '    cause: event.cause ?? wayBack(after) ?? null,\n', '']),
  mutant('000A:50', 'two entries of one event have the same id', [
    DIALECT,
    'nth === 0 ? eventId(event) : `${eventId(event)}.${nth}`',
    'eventId(event)',
  ]),
  mutant('000A:50', 'an event has no version', [DIALECT, '    version: event.version,\n', '']),
  mutant('000A:51', 'correlations of jobs are not indexed', [
    'store/sqlite/encode.ts',
    'spec.correlationId === job.id ? null : hash53(correlationMark(spec.kind.tenant, spec.correlationId)),',
    'null,',
  ]),
  mutant('000A:51', 'a shortened log loses transitions', [
    'core/compact.ts',
    "new Set(['progressed', 'checkpointed', 'recorded', 'compacted'])",
    "new Set(['progressed', 'checkpointed', 'recorded', 'compacted', 'started'])",
  ]),
  mutant('000A:51', 'verbose events last', ['core/compact.ts', 'replaced.length < 2', 'replaced.length < 2_000']),
  mutant('000A:51', 'bodies last', [
    'store/memory/commit.ts',
    'if (change.strips === true)',
    'if (change.strips === undefined)',
  ]),
  mutant('000A:51', 'bodies of all types last equally long', [
    'engine/retention.ts',
    'byType.get(spec.kind.type) ?? bodiesMs) === ageMs',
    'bodiesMs ?? byType.get(spec.kind.type)) === ageMs',
  ]),
]

const CLAIMS: readonly Mutant[] = [
  inPostgres('000A:55 000A:63', 'a claim locks no rows', [
    'store/postgres/claim/claim_take.sql',
    ' limit wanted for update skip locked',
    ' limit wanted',
  ]),
  mutant('000A:54', 'a repeated claim is a new one', [
    'store/sqlite/thread/claim.ts',
    'if (repeated.length > 0) {',
    'if (repeated.length > 1_000) {',
  ]),
  mutant('000A:54 000A:55 000A:63', 'a claim leaves what it takes to others', [
    'store/sqlite/thread/claim.ts',
    '    sql.deleteFront.run(lane, last.readyAt, last.id, now)\n',
    '',
  ]),
  mutant('000A:55 000A:63', 'all fences of a claim are one', [
    'core/decide/claim.ts',
    'fence: fenceOf(job.generation, attempt, command.nonce)',
    "fence: fenceOf(job.generation, attempt, '0000000000000000')",
  ]),
]

const METRICS: readonly Mutant[] = [
  mutant('000A:58', 'claims are not counted', [
    'engine/observer.ts',
    "metrics.add('pawl_claims_total', 1, { type })",
    '',
  ]),
  mutant('000A:58', 'expiries are not counted', [
    'engine/observer.ts',
    "metrics.add('pawl_lease_expiries_total', 1, { type })",
    '',
  ]),
  mutant('000A:58', 'durations are not observed', [
    'engine/observer.ts',
    'if (workedMs !== undefined)',
    'if (workedMs === null)',
  ]),
  mutant('000A:58', 'renewals are not counted', [
    'engine/heartbeat.ts',
    'if (renewed > 0) parts.observer.renewed(renewed)',
    '',
  ]),
  mutant('000A:59', 'no trace on events', [
    'core/draft.ts',
    'command.traceparent ?? job.spec.traceparent',
    'command.traceparent',
  ]),
  mutant('000A:59', 'no correlation on events', [
    'core/draft.ts',
    'command.correlationId ?? job.spec.correlationId',
    "command.correlationId ?? ''",
  ]),
  mutant('000A:64', 'transitions are not counted', [
    'engine/observer.ts',
    "metrics.add('pawl_transitions_total', 1, { from: event.from ?? 'none', to: event.to })",
    '',
  ]),
  mutant('000A:62', 'time runs backwards in a log', [
    'core/draft.ts',
    'at: Math.max(now, job.updatedAt)',
    'at: now - 50',
  ]),
  mutant(
    '000A:62 000A:63',
    'a lost lease is nobody’s',
    ['core/decide.ts', "if (first.kind !== 'accepted' || first.job.state !== 'stalled') return first", 'return first'],
    ['core/timers.ts', 'return mustNotRunAgain(job) ? undefined : job.updatedAt', 'return undefined'],
  ),
]

export const OF_000A: readonly Mutant[] = [
  ...STATES,
  ...TRANSITIONS,
  ...INVARIANTS,
  ...LEASES,
  ...RETRIES,
  ...CANCELS,
  ...LETTERS,
  ...EVENTS,
  ...CLAIMS,
  ...METRICS,
]
