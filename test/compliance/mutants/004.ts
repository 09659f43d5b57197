/** What document 004 forbids. */
import { type Mutant, mutant, survivor } from './mutant.ts'

const DIALECT = 'core/dialects/004.ts'
const ERRORS = 'core/errors.ts'
const PRESETS = 'core/presets.ts'
const KEY = 'core/flow/decide.ts'
const SIGNAL = 'core/flow/signal.ts'
const NUMBERS = 'core/flow/numbers.ts'

const told = (rules: string, event: string, word: string): Mutant =>
  mutant(rules, `no ${event} is told`, [DIALECT, `    ${event}: '${word}',\n`, ''])
const gone = (rules: string, row: string): Mutant =>
  mutant(rules, `there is no ${row}`, [DIALECT, `    row(${row}),\n`, ''])
const hidden = (rules: string, field: string, line: string): Mutant =>
  mutant(rules, `${field} is not shown`, [DIALECT, `      ${line}\n`, ''])
const taken = (rules: string, code: string, is: string, isNot: string): Mutant =>
  mutant(rules, `${code} is taken for ${isNot}`, [ERRORS, `['${code}', '${is}'],`, `['${code}', '${isNot}'],`])

const STATES: readonly Mutant[] = [
  gone('004:8 004:15', "'queued', 'running', 'start'"),
  gone('004:8 004:27', "'running', 'succeeded', 'complete'"),
  mutant('004:11 004:16', 'nothing leads to retry_pending', [
    DIALECT,
    "    { ...row('running', 'retry_pending', 'error'), when: 'transient' },\n",
    '',
  ]),
  gone('004:11', "'retry_pending', 'running', 'start'"),
  mutant('004:14', 'what is new shows as running', [
    DIALECT,
    "const untilStarted = { new: 'queued'",
    "const untilStarted = { new: 'running'",
  ]),
  gone('004:14 004:23', "'none', 'queued', 'accept'"),
  mutant('004:15', 'what runs shows as queued', [
    DIALECT,
    "    running: 'running',\n    waiting",
    "    running: 'queued',\n    waiting",
  ]),
  mutant('004:16', 'what waits for a retry shows as queued', [
    DIALECT,
    "again: 'retry_pending', ran: 'retry_pending' }",
    "again: 'queued', ran: 'queued' }",
  ]),
  mutant('004:17', 'what succeeded shows as failed', [
    DIALECT,
    "    succeeded: 'succeeded',\n    failed: 'failed',",
    "    succeeded: 'failed',\n    failed: 'failed',",
  ]),
  told('004:17 004:27', 'succeeded', 'complete'),
  mutant('004:18', 'what failed shows as canceled', [
    DIALECT,
    "    failed: 'failed',\n    cancelled",
    "    failed: 'canceled',\n    cancelled",
  ]),
  mutant('004:18 004:40', 'eight attempts', [
    PRESETS,
    "    maxAttempts: 7,\n    budget: 'shared',",
    "    maxAttempts: 8,\n    budget: 'shared',",
  ]),
  mutant('004:19', 'what was canceled shows as failed', [
    DIALECT,
    "    cancelled: 'canceled',\n",
    "    cancelled: 'failed',\n",
  ]),
  told('004:19 004:29', 'cancelled', 'cancel'),
  told('004:23', 'enqueued', 'accept'),
  told('004:24', 'started', 'start'),
  hidden('004:24', 'the worker', 'worker_id: job.owner?.workerId,'),
  hidden('004:25', 'updated_at', 'updated_at: iso(job.updatedAt),'),
  mutant('004:25', 'a heartbeat refreshes nothing', [
    'core/evolve/observed.ts',
    'return { ...job, rev: event.rev, updatedAt: event.at, lease, cancel, recent } as Job',
    'return { ...job, rev: event.rev, lease, cancel, updatedAt: job.updatedAt - 1 } as Job',
  ]),
  mutant('004:25', 'heartbeats are not told', [DIALECT, "heartbeat: ['heartbeat'], ", '']),
  hidden('004:26', 'progress', 'progress: job.progress?.done,'),
  hidden('004:26', 'the ETA', 'eta: iso(job.progress?.etaAt),'),
  mutant('004:26', 'counters do not count', [
    'core/evolve/added.ts',
    'if (more === undefined) return counters',
    'return counters',
  ]),
  mutant('004:27', 'the last statistics are lost', [
    'core/evolve.ts',
    'next.counters = added(next.counters, payload.stats)',
    '',
  ]),
  mutant('004:28', 'no error is retried', [
    'core/decide/fail.ts',
    '  job.spec.kind.policy.retryFailures &&\n',
    '  !job.spec.kind.policy.retryFailures &&\n',
  ]),
  mutant('004:28 004:41 004:43', 'what no retry helps is retried', [
    'core/decide/fail.ts',
    "  failure.class !== 'permanent' &&\n",
    '',
  ]),
  mutant('004:29 004:50', 'nobody cancels', [DIALECT, "    cancel: 'alongARow',\n", '']),
]

const RETRIES: readonly Mutant[] = [
  mutant('004:33', 'a key counts for 48 hours', ['engine/keys.ts', '24 * 60 * 60 * 1_000', '48 * 60 * 60 * 1_000']),
  mutant('004:33', 'a key counts for nothing', [
    'engine/keys.ts',
    'if (idempotencyKey !== undefined) {',
    'if (idempotencyKey === null) {',
  ]),
  mutant('004:34', 'what was done is done again', [
    'worker/memos.ts',
    'if (text === undefined) return undefined',
    "if (text === undefined || kind === 'step') return undefined",
  ]),
  mutant('004:34', 'a memo is read by another step', [
    'worker/memos.ts',
    'return `${name}#${ordinal}`',
    'return `step#1`',
  ]),
  taken('004:38', 'network_error', 'transient', 'permanent'),
  taken('004:38', 'rate_limited', 'transient', 'throttled'),
  taken('004:38', 'browser_crash', 'transient', 'permanent'),
  taken('004:38', 'timeout_soft', 'transient', 'permanent'),
  taken('004:38', 'qdrant_unavailable', 'transient', 'permanent'),
  taken('004:38', 'neo4j_write_lock', 'transient', 'permanent'),
  survivor('004:40', 'no exponent', ['core/retry.ts', 'curve.factor ** (n - 1)', 'curve.factor ** 0']),
  survivor('004:40', 'no delay at all', [
    'core/retry.ts',
    'return at + retryDelayMs(',
    'return at + 0 * retryDelayMs(',
  ]),
  mutant('004:40', 'no retry waits for more than 60 s', [PRESETS, 'maxMs: 64_000', 'maxMs: 60_000']),
  taken('004:41 004:43', 'invalid_url', 'permanent', 'transient'),
  taken('004:41 004:43', 'robots_disallowed', 'permanent', 'transient'),
  taken('004:41 004:43', 'parse_error_strict', 'permanent', 'transient'),
  taken('004:41 004:43', 'unsupported_mime', 'permanent', 'transient'),
  taken('004:41 004:43', 'bad_request', 'permanent', 'transient'),
  taken('004:44 004:46', 'captcha', 'throttled', 'transient'),
  taken('004:44 004:46', '403_waf', 'throttled', 'transient'),
  taken('004:44 004:46', '503_shield', 'throttled', 'transient'),
  mutant('004:46', 'who is asked to slow down does not', [
    'core/retry.ts',
    "failure.class === 'throttled' ? policy.throttled : policy.retry",
    'policy.retry',
  ]),
]

const ENDINGS: readonly Mutant[] = [
  gone('004:50', "'queued', 'canceled', 'cancel'"),
  mutant('004:50', 'what waits for a retry is canceled', [
    DIALECT,
    "    row('queued', 'canceled', 'cancel'),\n",
    "    row('queued', 'canceled', 'cancel'),\n    row('retry_pending', 'canceled', 'cancel'),\n",
  ]),
  hidden('004:51', 'canceled_at', "canceled_at: state === 'canceled' ? iso(job.endedAt) : undefined,"),
  hidden('004:51 004:57', 'counters', '...picked(job.counters, COUNTERS),'),
  mutant('004:51 004:78', 'artifacts are lost', [
    'core/evolve/observed.ts',
    '{ ...job.artifacts, [artifact.name]: artifact.ptr }',
    'job.artifacts',
  ]),
  mutant('004:57', 'a counter is missing', [DIALECT, "  'chunks_indexed',\n", '']),
  hidden('004:57', 'the duration', 'duration_seconds: job.executionMs / 1_000,'),
  mutant('004:61', 'who failed is not stored', [
    'core/decide/fail.ts',
    '    worker: workerOf(d.job),\n',
    '    worker: undefined,\n',
  ]),
  survivor('004:61', 'who has the job now is said to have failed', [
    DIALECT,
    'attempt, worker: worker_id } = failure',
    'attempt } = failure\n  const worker_id = job.owner?.workerId ?? job.lastClaim?.owner.workerId',
  ]),
  mutant('004:61', 'the domain is not shown', [
    DIALECT,
    "const CONTEXT = ['domain', 'url'] as const",
    "const CONTEXT = ['url'] as const",
  ]),
  mutant('004:61', 'the message is not shown', [
    DIALECT,
    'return { error_code: code, message, context',
    'return { error_code: code, context',
  ]),
  taken('004:63', 'E_URL_BAD', 'permanent', 'transient'),
  taken('004:63', 'E_ROBOTS', 'permanent', 'transient'),
  taken('004:63', 'E_403_WAF', 'throttled', 'permanent'),
  taken('004:63', 'E_GPU_OOM', 'transient', 'permanent'),
  taken('004:63', 'E_PARSE', 'permanent', 'transient'),
]

const CLOCKS: readonly Mutant[] = [
  mutant('004:67', 'a heartbeat every 15 s', [
    PRESETS,
    '    leaseMs: 90_000,\n    heartbeatMs: 10_000,',
    '    leaseMs: 90_000,\n    heartbeatMs: 15_000,',
  ]),
  mutant('004:67', 'heartbeats come late', [
    'core/timers.ts',
    'Math.max(0, Math.min(policy.heartbeatMs, remainingMs / 2))',
    'Math.max(0, remainingMs / 2)',
  ]),
  mutant('004:68', 'lost after 60 s', [
    PRESETS,
    '    leaseMs: 90_000,\n    heartbeatMs: 10_000,',
    '    leaseMs: 60_000,\n    heartbeatMs: 10_000,',
  ]),
  mutant('004:25 004:68', 'a lost lease has another code', [
    ERRORS,
    "export const SOFT_TIMEOUT_CODE = 'timeout_soft'",
    "export const SOFT_TIMEOUT_CODE = 'lease_expired'",
  ]),
  mutant('004:69', 'the wall clock runs while a job waits', [
    'core/dialects/bond.ts',
    "'004': { ...BOUND, deadlineFromStart: true,",
    "'004': { ...BOUND,",
  ]),
  mutant('004:69', 'who waits is given 600 s', [
    'core/dialects/bond.ts',
    'synchronousMs: 300_000',
    'synchronousMs: 600_000',
  ]),
  mutant('004:69', 'a retry comes after its wall clock', [
    'core/timers.ts',
    'deadlineAt !== undefined && runAt >= deadlineAt &&',
    'deadlineAt === null &&',
  ]),
]

const RECORDS: readonly Mutant[] = [
  mutant('004:74', 'logs are purged by default', ['core/dialects/bond.ts', 'keptUntilAsked: true, ', '']),
  mutant('004:74', 'who asks for retention is not heard', [
    'engine/retention.ts',
    'setting === undefined && bondOf',
    'bondOf',
  ]),
  mutant('004:78', 'results are not stored', [
    'core/decide/complete.ts',
    '{ body: command.result ?? NO_RESULT }',
    '{ body: NO_RESULT }',
  ]),
  mutant('004:83', 'lines are in our words', ['core/dialects/bond.ts', ', logsInItsWords: true', '']),
  mutant('004:83', 'a line has no reason', [
    'engine/observer.ts',
    '    reason: shownProse(event.reason ?? event.command),\n',
    '',
  ]),
  mutant('004:83', 'a line has no attempt', ['engine/observer.ts', '    attempt: event.attempt,\n', '']),
  mutant('004:84', 'nothing is in flight', ['gateway/prometheus.ts', 'isOwnedState(state) ? count : 0', '0']),
  mutant('004:84', 'failures are not counted', [
    'engine/observer.ts',
    "        metrics.add('pawl_retry_attempts_total', 1, { type })\n        metrics.add('pawl_job_failures_total', 1, { code: event.payload.failure.code })\n",
    "        metrics.add('pawl_retry_attempts_total', 1, { type })\n",
  ]),
  mutant('004:84', 'retries are not counted', [
    'engine/observer.ts',
    "metrics.add('pawl_retry_attempts_total', 1, { type })",
    '',
  ]),
  mutant('004:84', 'durations are not observed', [
    'engine/observer.ts',
    'if (workedMs !== undefined)',
    'if (workedMs === null)',
  ]),
]

/** Of a domain, and not of one job. */
const FLOW: readonly Mutant[] = [
  mutant('004:44 004:46', 'a domain that pushes back is asked by as many', [
    KEY,
    'allowed: half(have),',
    'allowed: have,',
  ]),
  mutant('004:44 004:46', 'anti-bot signals are nobody’s but the job’s', [
    SIGNAL,
    "kind === 'throttled' || THROTTLING_CODES",
    'THROTTLING_CODES',
  ]),
  mutant('004:46', 'the session stays as it was', [
    KEY,
    'session: key.session + 1,\n      base',
    'session: key.session,\n      base',
  ]),
  mutant('004:46', 'each of a burst counts', [KEY, 'claimedAt >= key.freshFrom', 'claimedAt >= 0']),
  mutant('004:46', 'handlers are told of no new session', [
    'core/flow/gate.ts',
    '  session: key.session,\n',
    '  session: 0,\n',
  ]),
  mutant('004:46', 'the cap is as the type has it', [
    NUMBERS,
    'maxMs: Math.max(curve.maxMs, raisedMs)',
    'maxMs: Math.min(curve.maxMs, raisedMs)',
  ]),
  mutant('004:46', 'the cap is raised once', [
    KEY,
    'level: levelUp(key.level),\n      session',
    'level: 1,\n      session',
  ]),
  mutant('004:46', 'a domain is never raised', [KEY, 'at - key.stepAt >= RAISE_MS', 'at < key.stepAt']),
  mutant('004:46', 'a domain is raised at once', [KEY, 'Math.min(most, raisedFrom(key, most))', 'most']),
  mutant('004:46', 'a domain is open without having been calm', [
    KEY,
    'if (key.allowed >= most) {\n    if (at - key.freshFrom >= calmMs(key.level))',
    'if (key.allowed >= half(most)) {\n    if (at - key.freshFrom >= 0)',
  ]),
  mutant('004:46', 'what was let in stays where a domain is slowed', [
    'core/flow/gate.ts',
    'return { slots, cap: slots, openAt: 0',
    'return { slots: concurrency, cap: concurrency, openAt: 0',
  ]),
  mutant('004:38', 'rate_limited slows nobody', [
    SIGNAL,
    "new Set(['rate_limited', 'E_429_RATE'])",
    "new Set(['E_429_RATE'])",
  ]),
  mutant('004:38 004:63', 'E_429_RATE holds nobody', [
    SIGNAL,
    "new Set(['rate_limited', 'E_429_RATE'])",
    "new Set(['rate_limited'])",
  ]),
  mutant('004:38 004:63', 'Retry-After holds the job alone', [
    SIGNAL,
    "return retryAfterMs === undefined ? { type: 'throttled' } : { type: 'retry_after', retryAfterMs }",
    "return retryAfterMs === undefined ? { type: 'throttled' } : undefined",
  ]),
  mutant('004:38 004:63', 'a dependency is asked for ever', [
    NUMBERS,
    '{ open: 5, slow: 2 }',
    '{ open: 500, slow: 200 }',
  ]),
  mutant('004:38 004:63', 'a dependency is given up at the first failure', [
    NUMBERS,
    '{ open: 5, slow: 2 }',
    '{ open: 1, slow: 1 }',
  ]),
  mutant('004:38', 'dependencies are nobody’s', [SIGNAL, ', ...DEPENDENCY_CODES])', '])']),
  mutant('004:38 004:63', 'two find out whether it is back', [
    'core/flow/gate.ts',
    'return { slots: 1, cap: concurrency',
    'return { slots: 2, cap: concurrency',
  ]),
  mutant('004:38 004:63', 'a cool-down is over at once', [NUMBERS, 'COOL_BASE_MS = 5 * SECOND', 'COOL_BASE_MS = 1']),
  mutant('004:38', 'a crash of the worker’s browser is the domain’s', [
    SIGNAL,
    "'network_error', ...",
    "'network_error', 'browser_crash', ...",
  ]),
  mutant('004:38', 'a lost lease is the domain’s', [
    SIGNAL,
    "'network_error', ...",
    "'network_error', 'timeout_soft', ...",
  ]),
  mutant('004:41 004:43', 'what is wrong with one page is the domain’s', [
    SIGNAL,
    'return BREAKING_CODES.has(outcome.code) ||',
    "return outcome.class === 'permanent' || BREAKING_CODES.has(outcome.code) ||",
  ]),
  mutant('004:41 004:43', 'a page that is refused for good slows its domain', [
    SIGNAL,
    "kind === 'throttled' ||",
    "kind === 'throttled' || kind === 'permanent' ||",
  ]),
  mutant('004:40', 'a slow domain has another curve for everything', [
    'core/retry.ts',
    "failure.class === 'throttled' ? policy.throttled",
    "failure.class === 'throttled' || level > 0 ? policy.throttled",
  ]),
]

export const OF_004: readonly Mutant[] = [...STATES, ...RETRIES, ...ENDINGS, ...CLOCKS, ...RECORDS, ...FLOW]
