/** What document 001 forbids. */
import { type Mutant, mutant, survivor } from './mutant.ts'

const DIALECT = 'core/dialects/001.ts'
const RULES = 'core/contract/rules.ts'

const STATUSES: readonly Mutant[] = [
  mutant('001:23', 'a status is missing', [RULES, ", 'failed', 'stalled'] as const", ", 'failed'] as const"]),
  mutant('001:23', 'there is a seventh status', [
    RULES,
    ", 'failed', 'stalled'] as const",
    ", 'failed', 'stalled', 'cancelled'] as const",
  ]),
  mutant('001:24', 'an operation has another name', [
    'library/contract.ts',
    'requeueStalled: (asked) => say',
    'requeue: (asked) => say',
  ]),
  mutant('001:24', 'the queue has another name for an operation', [
    'library/distributed-job-queue.ts',
    'async requeueStalled(asked: SystemTransition) {',
    'async requeue(asked: SystemTransition) {',
  ]),
  mutant('001:27', 'a queued job shows as stalled', [DIALECT, "    queued: 'queued',\n", "    queued: 'stalled',\n"]),
  mutant('001:27 001:66', 'a queued job is ready for nobody', [
    'core/timers.ts',
    "    case 'queued':\n    case 'retrying':\n      return job.runAt",
    "    case 'queued':\n    case 'retrying':\n      return undefined",
  ]),
  mutant('001:28', 'a claimed job shows as running', [
    DIALECT,
    "    claimed: 'claimed',\n    running: 'running',\n",
    "    claimed: 'running',\n    running: 'running',\n",
  ]),
  mutant('001:28', 'a claimed job belongs to several workers', [
    'store/sqlite/thread/claim.ts',
    '    sql.deleteFront.run(lane, last.readyAt, last.id, now)\n',
    '',
  ]),
  mutant('001:29', 'a running job shows as claimed', [
    DIALECT,
    "    running: 'running',\n",
    "    running: 'claimed',\n",
  ]),
  mutant('001:29 001:69', 'a start goes untold', [DIALECT, "    started: 'started',\n", '']),
  survivor('001:30 001:48', 'every result is the same', [
    DIALECT,
    '=> ptr ?? keptAt(id, body) ?? null',
    "=> 'anything'",
  ]),
  mutant('001:30 001:48', 'a result is never shown itself', [
    'core/dialects/view.ts',
    'output.length > LENGTHS.shownResult',
    'output.length >= 0',
  ]),
  mutant('001:31', 'a job that failed shows as stalled', [
    DIALECT,
    "    failed: 'failed',\n    cancelled: 'failed',",
    "    failed: 'stalled',\n    cancelled: 'failed',",
  ]),
  mutant('001:31 001:52', 'a job that failed has no error', [
    DIALECT,
    "      error: status === 'failed' ? errorOf(job) : undefined,\n",
    '',
  ]),
  mutant('001:32', 'a stalled job shows as claimed', [
    DIALECT,
    "    stalled: 'stalled',\n    retrying",
    "    stalled: 'claimed',\n    retrying",
  ]),
  mutant(
    '001:32',
    'an orphan is nobody’s for ever',
    ['core/timers.ts', 'return mustNotRunAgain(job) ? undefined : job.updatedAt', 'return undefined'],
    ['core/decide/requeue.ts', '{ runAt: d.at }', '{ runAt: d.at + 1e9 }'],
  ),
]

const FIELDS: readonly Mutant[] = [
  mutant('001:36 001:50 001:54 001:56', 'a record always has an owner', [
    DIALECT,
    'owner: job.owner && { worker_id: job.owner.workerId },',
    "owner: { worker_id: job.owner?.workerId ?? 'nobody' },",
  ]),
  mutant('001:37 001:50 001:54 001:57', 'a record always has a lease', [
    DIALECT,
    'lease: job.lease && { expires_at: iso(job.lease.expiresAt) },',
    'lease: { expires_at: iso(job.lease?.expiresAt ?? 0) },',
  ]),
  mutant('001:38 001:42 001:46 001:53 001:58', 'a record always has a result', [
    DIALECT,
    'result: job.result && resultOf(job.id, job.result),',
    'result: job.result ? resultOf(job.id, job.result) : null,',
  ]),
  mutant('001:38 001:42 001:46 001:49 001:58', 'a record always has an error', [
    DIALECT,
    "error: status === 'failed' ? errorOf(job) : undefined,",
    'error: errorOf(job),',
  ]),
  mutant('001:40 001:44', 'a record never has an owner', [
    DIALECT,
    '      owner: job.owner && { worker_id: job.owner.workerId },\n',
    '',
  ]),
  mutant('001:41 001:45', 'a record never has a lease', [
    DIALECT,
    '      lease: job.lease && { expires_at: iso(job.lease.expiresAt) },\n',
    '',
  ]),
  mutant('001:48', 'a record never has a result', [
    DIALECT,
    '      result: job.result && resultOf(job.id, job.result),\n',
    '',
  ]),
  mutant('001:36 001:37 001:38', 'a queued record may have any field', [
    RULES,
    "queued: { owner: 'absent', lease: 'absent', result: 'absent', error: 'absent' }",
    "queued: { owner: 'cleared', lease: 'cleared', result: 'cleared', error: 'cleared' }",
  ]),
  mutant('001:40 001:41 001:42', 'a claimed record may have any field', [
    RULES,
    "claimed: { owner: 'present', lease: 'present', result: 'absent', error: 'absent' }",
    "claimed: { owner: 'cleared', lease: 'cleared', result: 'cleared', error: 'cleared' }",
  ]),
  mutant('001:44 001:45 001:46', 'a running record may have any field', [
    RULES,
    "running: { owner: 'present', lease: 'present', result: 'absent', error: 'absent' }",
    "running: { owner: 'cleared', lease: 'cleared', result: 'cleared', error: 'cleared' }",
  ]),
  mutant('001:49', 'a record may have succeeded and failed', [
    RULES,
    "result: 'present', error: 'absent' }",
    "result: 'present', error: 'cleared' }",
  ]),
  mutant('001:52 001:53', 'a failed record may have any result', [
    RULES,
    "result: 'absent', error: 'present' }",
    "result: 'cleared', error: 'cleared' }",
  ]),
  mutant('001:56 001:57 001:58', 'a stalled record may have any field', [
    RULES,
    "stalled: { owner: 'absent', lease: 'absent', result: 'absent', error: 'absent' }",
    "stalled: { owner: 'cleared', lease: 'cleared', result: 'cleared', error: 'cleared' }",
  ]),
]

const TRANSITIONS: readonly Mutant[] = [
  mutant('001:61', 'who does not know a job is given it, and cannot hand it back', [
    'core/decide/enqueue.ts',
    "state === 'queued' ? neededToClaim(command.kind) : undefined",
    'undefined',
  ]),
  mutant('001:61', 'what a worker holds and cannot hand back is left to its lease when it goes away', [
    'worker/worker.ts',
    "    this.#mode = 'draining'\n    this.#fill()\n",
    '',
  ]),
  mutant(
    '001:61',
    'there is a cancel',
    [DIALECT, "    fail: 'always',\n  },", "    fail: 'always',\n    cancel: 'always',\n  },"],
    ['core/dialects/telling.ts', ' && !path.steps.some(isInvented)', ''],
  ),
  mutant('001:61', 'a deadline is not refused', [
    DIALECT,
    'asksFor: ({ deadlineMs }) => deadlineMs !== undefined',
    'asksFor: () => false',
  ]),
  mutant('001:61', 'a budget of stalls is not refused', [
    DIALECT,
    'asksFor: ({ maxStalls }) => maxStalls !== 0',
    'asksFor: () => false',
  ]),
  mutant('001:61', 'a job that has ended stalls', [
    'core/transitions.ts',
    "stall: each(['claimed', 'running'],",
    "stall: each(['claimed', 'running', 'queued'],",
  ]),
  mutant('001:64 001:109', 'a dedupe key is nobody’s', [
    'core/keys.ts',
    'if (dedupeKey === undefined) return undefined',
    'return undefined',
  ]),
  mutant('001:64', 'the dedupe key is not shown', [DIALECT, '      dedupe_key: job.spec.dedupeKey,\n', '']),
  mutant('001:66', 'a claim from queued is against the rules', [RULES, "      ['queued', 'claimed'],\n", '']),
  mutant('001:67', 'a reclaim is against the rules', [RULES, "      ['stalled', 'claimed'],\n", '']),
  survivor('001:67', 'lost leases are counted', [
    'core/budget.ts',
    'if (dialect === undefined) return true',
    'return true',
  ]),
  mutant('001:69', 'a start leads from queued', [
    RULES,
    "rule('started', [['claimed', 'running']]",
    "rule('started', [['queued', 'running']]",
  ]),
  mutant('001:71', 'no heartbeat before the start', [RULES, "      ['claimed', 'claimed'],\n", '']),
  mutant('001:72', 'no heartbeat after the start', [RULES, "      ['running', 'running'],\n", '']),
  mutant('001:71 001:72', 'heartbeats go untold', [DIALECT, "notes: { heartbeat: ['heartbeat'] }", 'notes: {}']),
  mutant('001:74 001:76', 'a claimed job ends without a start', [
    'core/dialects/bond.ts',
    'exactRevision: true, endsOnlyWhileRunning: true,',
    'exactRevision: true,',
  ]),
  mutant('001:74', 'nothing leads to succeeded', [RULES, "[['running', 'succeeded']]", "[['claimed', 'succeeded']]"]),
  mutant('001:76', 'nothing leads to failed', [RULES, "[['running', 'failed']]", "[['claimed', 'failed']]"]),
  mutant('001:78 001:79', 'a live lease is taken for lost', ['core/decide/stall.ts', 'd.at < endsAt', 'd.at < 0']),
  mutant('001:78', 'what is claimed does not stall', [RULES, "    ['claimed', 'stalled'],\n", '']),
  mutant('001:79', 'what runs does not stall', [RULES, "    ['running', 'stalled'],\n", '']),
  mutant('001:81', 'nothing leads out of stalled', [RULES, "[['stalled', 'queued']]", "[['stalled', 'stalled']]"]),
  mutant('001:81', 'a requeue goes untold', [DIALECT, "    requeued: 'requeued',\n", '']),
]

const SWAPS: readonly Mutant[] = [
  mutant('001:86', 'any revision of its own heartbeats will do', [
    'core/dialects/bond.ts',
    'exactRevision: true,',
    'exactRevision: false,',
  ]),
  mutant('001:86', 'a revision from the past will do', [
    'core/decide.ts',
    'expectedRev < base || expectedRev > job.rev',
    'expectedRev > job.rev',
  ]),
  mutant('001:86', 'an owner that was expected need not be there', [
    'library/distributed-job-queue.ts',
    'record.owner?.worker_id !== expected_owner',
    'false',
  ]),
  mutant('001:87', 'any fence will do', [
    'core/ownership.ts',
    '!isOwned(job) || job.lease.fence !== command.fence',
    '!isOwned(job)',
  ]),
  mutant('001:87', 'any worker speaks for the queue', [
    'library/distributed-job-queue.ts',
    'claim?.workerId === actor ? claim.fence : NOBODYS',
    'claim?.fence ?? NOBODYS',
  ]),
  mutant('001:88', 'nobody but the owner stalls a job', ['core/dialects/strict.ts', "  'stall',\n  'requeue',\n", '']),
  mutant('001:88', 'whoever stalls a job is called system', [
    'library/contract.ts',
    '=> ({ actor, requestId, expectedRev })',
    "=> ({ actor: 'system', requestId, expectedRev })",
  ]),
  mutant('001:90', 'a request needs no id', [
    'core/validate.ts',
    "  c.text('requestId', fields['requestId'], LENGTHS.id)\n",
    '',
  ]),
  mutant('001:90 001:116', 'the validator asks for no request id', [
    'core/contract/validate-transition.ts',
    "if (!isText(asked['request_id']))",
    'if (false)',
  ]),
  mutant('001:91 001:101', 'a repeated word is a new one', [
    'core/receipt.ts',
    'const receipt = remembered(job, command) ?? receiptOf(caused)',
    'const receipt = undefined as Receipt | undefined',
  ]),
  mutant('001:91', 'a request id may mean two things', [
    'core/receipt.ts',
    "{ kind: same ? 'replay' : 'reuse', receipt }",
    "{ kind: 'replay', receipt }",
  ]),
  mutant('001:91', 'a repeated claim is a new one', [
    'store/sqlite/thread/claim.ts',
    'if (repeated.length > 0) {',
    'if (repeated.length > 1_000) {',
  ]),
  mutant('001:92', 'a second complete is an error', [
    'core/receipt.ts',
    "return job.state === 'succeeded' &&",
    "return job.state === 'queued' &&",
  ]),
  mutant('001:92', 'a second fail is an error', [
    'core/receipt.ts',
    'return isEnded(job) &&\n',
    'return !isEnded(job) &&\n',
  ]),
]

const NUMBERS: readonly Mutant[] = [
  mutant('001:96', 'the attempt starts at 1', ['core/evolve/created.ts', '    attempt: 0,', '    attempt: 1,']),
  mutant('001:96', 'the attempt of a new record is not looked at', [
    'core/contract/validate-transition.ts',
    "rule.attempt === 'zero' && attempt !== 0",
    'false',
  ]),
  mutant('001:97', 'a claim is no attempt', [
    'core/evolve.ts',
    'next.attempt = event.attempt',
    'next.attempt = job.attempt',
  ]),
  mutant('001:97', 'a claim need not count', [RULES, "    'plusOne',\n", "    'same',\n"]),
  mutant('001:98', 'a start is an attempt', [
    'core/evolve.ts',
    "  next.state = 'running'\n",
    "  next.state = 'running'\n  next.attempt += 1\n",
  ]),
  mutant('001:98', 'a requeue is an attempt', [
    'core/evolve.ts',
    "    case 'requeued':\n      return enter(job, event, { state: 'queued', runAt: event.payload.runAt }, {})",
    "    case 'requeued':\n      return enter(job, event, { state: 'queued', runAt: event.payload.runAt }, { attempt: job.attempt + 1 })",
  ]),
  mutant('001:100', 'a heartbeat does not raise the revision', [
    'core/evolve/observed.ts',
    'return { ...job, rev: event.rev, updatedAt: event.at, lease, cancel, recent } as Job',
    'return { ...job, updatedAt: event.at, lease, cancel } as Job',
  ]),
  mutant('001:100', 'revisions grow by two', ['core/draft.ts', '    rev: job.rev + 1,', '    rev: job.rev + 2,']),
  mutant('001:101', 'a repetition is written down', [
    'core/decide.ts',
    "if (before?.kind === 'replay') return { kind: 'replayed', receipt: before.receipt }",
    '',
  ]),
]

const EVENTS: readonly Mutant[] = [
  mutant('001:104', 'heartbeats are told together', [
    'core/dialects/bond.ts',
    'logsHeartbeats: true, failedByOwner: true',
    'failedByOwner: true',
  ]),
  mutant('001:104', 'an entry does not say where it came from', [
    DIALECT,
    "    from_status: step.from === 'none' ? undefined : step.from,\n",
    '',
  ]),
  mutant('001:104', 'an entry does not name its request', [
    DIALECT,
    '({ ...entryOf(event, step), request_id: event.requestId })',
    'entryOf(event, step)',
  ]),
  mutant(
    '001:105',
    'a requeue has another word',
    [RULES, "rule('requeued', ", "rule('requeue', "],
    [DIALECT, "    requeued: 'requeued',\n", "    requeued: 'requeue',\n"],
  ),
  mutant(
    '001:105',
    'a start has another word',
    [RULES, "rule('started', ", "rule('start', "],
    [DIALECT, "    started: 'started',\n", "    started: 'start',\n"],
  ),
  mutant('001:109', 'keys that begin alike are one', ['core/keys.ts', ':${dedupeKey}`', ':${dedupeKey.slice(0, 1)}`']),
  mutant('001:12 001:117', 'what is left to plan 03 is not written down', [
    'core/dialects/contradictions.ts',
    "plan: '03 (",
    "plan: '0x (",
  ]),
  mutant('001:12 001:117', 'what is left to plan 04 is not written down', [
    'core/dialects/contradictions.ts',
    "plan: '04 (",
    "plan: '0x (",
  ]),
  mutant('001:114 001:118', 'the validator lets a job jump', [
    'core/contract/validate-transition.ts',
    'rule.moves.some((move) => move[0] === from && move[1] === to)',
    'true',
  ]),
  mutant('001:115', 'the validator lets the revision fall', [
    'core/contract/validate-transition.ts',
    'rev <= oldRev',
    'false',
  ]),
  mutant('001:115', 'the validator lets the attempt change', [
    'core/contract/validate-transition.ts',
    "if (rule.attempt === 'same' && isCount(base) && attempt !== base)",
    'if (false)',
  ]),
  mutant('001:116', 'the validator asks for no revision', [
    'core/contract/validate-transition.ts',
    "if (!isCount(cas['expected_rev'])) found",
    'if (false) found',
  ]),
  mutant('001:114 001:118', 'the validator asks for no fields', [
    'core/contract/validate-job.ts',
    "if (demand === 'present' && !has)",
    'if (false)',
  ]),
]

export const OF_001: readonly Mutant[] = [...STATUSES, ...FIELDS, ...TRANSITIONS, ...SWAPS, ...NUMBERS, ...EVENTS]
