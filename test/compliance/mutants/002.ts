/** What document 002 forbids. */
import { type Mutant, mutant, overBus, survivor } from './mutant.ts'

const DIALECT = 'core/dialects/002.ts'
const ROUTES = 'gateway/handlers/document-002.ts'

const REQUESTS: readonly Mutant[] = [
  mutant('002:4', 'a job has another id than its request', [
    'core/dialects/job-request.ts',
    'const requestName = ({ id, spec }: Job): string => spec.alias ?? id',
    'const requestName = ({ id }: Job): string => id',
  ]),
  mutant('002:4', 'other words under the same id are the same job', [
    'core/decide/enqueue.ts',
    'return digestOf(withoutTime(was)) === digestOf(withoutTime(command)) && sameKind(spec.kind, command)',
    'return sameKind(spec.kind, command)',
  ]),
  mutant('002:5', 'the topic is lost', [
    'core/decide/enqueue.ts',
    '  topic: command.topic,\n',
    '  topic: undefined,\n',
  ]),
  overBus('002:5', 'all pools have one subject', [
    'bus/subjects.ts',
    "of('dispatch', badgeOf(squad), tailOf(squad.pool))",
    "of('dispatch', badgeOf(squad), tailOf(squad.pool), 'all')",
  ]),
  overBus('002:41 002:42', 'nobody hears what is published', ['bus/subjects.ts', "of('result')", "of('outcome')"]),
  mutant('002:5', 'the topic is not shown', [DIALECT, '    topic: spec.topic ?? spec.kind.type,\n', '']),
  survivor('002:6', 'lanes in the reverse order', [
    'core/lanes.ts',
    'a.urgency - b.urgency || a.pass',
    'b.urgency - a.urgency || a.pass',
  ]),
  mutant('002:6', 'every priority is interactive', [
    DIALECT,
    "priority <= PRIORITIES.critical ? 'critical' : priority <= PRIORITIES.normal ? 'interactive' : 'batch'",
    "'interactive'",
  ]),
  mutant('002:7', 'the pointer to the input is lost', [
    'core/decide/enqueue.ts',
    '  contextPtr: command.contextPtr,\n  topic: command',
    '  contextPtr: undefined,\n  topic: command',
  ]),
  mutant('002:7', 'the input is always ours', [
    DIALECT,
    'spec.contextPtr ?? keptAt(id, spec.input)',
    'keptAt(id, spec.input)',
  ]),
  mutant('002:8', 'the adapter is lost', [
    'core/decide/enqueue.ts',
    '  adapterId: command.adapterId,\n',
    '  adapterId: undefined,\n',
  ]),
  mutant('002:8', 'the adapter is not shown', [DIALECT, '    adapter_id: spec.adapterId,\n', '']),
  mutant('002:9', 'the environment is lost', [
    'core/decide/enqueue.ts',
    '  env: command.env,\n',
    '  env: undefined,\n',
  ]),
  mutant('002:9', 'the environment is not shown', [DIALECT, '    env: spec.env,\n', '']),
  mutant('002:10', 'the parent is not shown', [
    DIALECT,
    'generation === 0 ? spec.parentId : recordId(id, generation - 1)',
    'undefined',
  ]),
  mutant('002:10', 'the place in a workflow is lost', [
    'core/decide/enqueue.ts',
    '  stepIndex: command.stepIndex,\n  dedupeKey: command',
    '  stepIndex: undefined,\n  dedupeKey: command',
  ]),
]

const RESULTS: readonly Mutant[] = [
  mutant('002:13', 'a result is another job’s', [
    DIALECT,
    '  return present({\n    job_id: recordId(job.id, job.generation),\n    status,',
    "  return present({\n    job_id: 'another',\n    status,",
  ]),
  mutant('002:13', 'a result of another job is taken', [
    ROUTES,
    'if (result.job_id !== undefined && result.job_id !== job.id',
    'if (result.job_id === null && result.job_id !== job.id',
  ]),
  mutant('002:14', 'every result is a success', [
    DIALECT,
    '    status,\n    result_ptr',
    "    status: 'SUCCEEDED',\n    result_ptr",
  ]),
  mutant('002:14', 'a worker’s TIMEOUT is FAILED', [
    'core/dialects/job-result.ts',
    'fault: { code: TIMEOUT_CODE, message }',
    'fault: { code: FAILED_CODE, message }',
  ]),
  mutant('002:15', 'a pointer that was given is not shown', [
    DIALECT,
    'job.result?.ptr ?? keptAt(job.id, job.result?.body)',
    'keptAt(job.id, job.result?.body)',
  ]),
  mutant('002:15', 'a value that pawl keeps has no URI', [
    DIALECT,
    'job.result?.ptr ?? keptAt(job.id, job.result?.body)',
    'job.result?.ptr ?? job.result?.body?.name',
  ]),
  mutant('002:16', 'the worker is not named', [DIALECT, '    worker_id: lastWorkerOf(job),\n', '']),
  mutant('002:16', 'every worker has the same name', [DIALECT, 'worker_id: lastWorkerOf(job)', "worker_id: 'worker'"]),
  mutant('002:16', 'the pool is told as the worker', [
    'core/dialects/worker-name.ts',
    'workerId?.startsWith(POOL) === true ? undefined : workerId',
    'workerId',
  ]),
  mutant('002:17', 'execution takes no time', [DIALECT, 'execution_ms: job.executionMs', 'execution_ms: 0']),
  mutant('002:17', 'what the worker measured is lost', [
    'core/evolve.ts',
    'next.executionMs += payload.executionMs',
    'next.executionMs += 0',
  ]),
  mutant('002:18', 'an error has no code', [DIALECT, '    error_code: job.error?.code ?? job.verdict?.rule,\n', '']),
  mutant('002:18', 'an error has no message', [
    DIALECT,
    '    error_message: job.error?.message ?? job.verdict?.reason,\n',
    '',
  ]),
]

const shown = (rule: string, state: string, status: string, other: string): Mutant =>
  mutant(rule, `what is ${state} shows as ${other}`, [
    DIALECT,
    `    ${state}: '${status}',\n`,
    `    ${state}: '${other}',\n`,
  ])
const gone = (rules: string, from: string, to: string): Mutant =>
  mutant(rules, `nothing leads from ${from} to ${to}`, [DIALECT, `    row('${from}', '${to}'),\n`, ''])
const untold = (rules: string, event: string, status: string, next: string): Mutant =>
  mutant(rules, `no ${event} is told`, [DIALECT, `    ${event}: '${status}',\n    ${next}`, `    ${next}`])

const STATES: readonly Mutant[] = [
  shown('002:23 002:55', 'pending', 'PENDING', 'SCHEDULED'),
  mutant(
    '002:23 002:37 002:55',
    'a job is queued when it comes',
    ['core/presets.ts', "    admission: true,\n    onStall: 'timed_out',", "    onStall: 'timed_out',"],
    [DIALECT, 'asksFor: ({ admission }) => !admission', 'asksFor: () => false'],
  ),
  mutant('002:24', 'what is queued shows as PENDING', [DIALECT, "  new: 'SCHEDULED',", "  new: 'PENDING',"]),
  mutant(
    '002:24 002:25',
    'what is queued shows as claimed',
    [DIALECT, '    queued: highest,\n', "    queued: 'DISPATCHED',\n"],
    [DIALECT, '    claimed: highest,\n', "    claimed: 'SCHEDULED',\n"],
  ),
  mutant('002:25', 'what is claimed shows as RUNNING', [DIALECT, "  first: 'DISPATCHED',", "  first: 'RUNNING',"]),
  mutant('002:26', 'what runs shows as DISPATCHED', [
    DIALECT,
    "    running: 'RUNNING',\n    waiting",
    "    running: 'DISPATCHED',\n    waiting",
  ]),
  mutant('002:26 002:40', 'a start leads nowhere', [DIALECT, "    row('DISPATCHED', 'RUNNING'),\n", '']),
  mutant('002:27', 'what succeeded shows as FAILED', [
    DIALECT,
    "    succeeded: 'SUCCEEDED',\n    failed: 'FAILED',\n    cancelled",
    "    succeeded: 'FAILED',\n    failed: 'FAILED',\n    cancelled",
  ]),
  mutant('002:27 002:41', 'no success is told', [
    DIALECT,
    "    succeeded: 'SUCCEEDED',\n    failed: 'FAILED',\n    dead",
    "    failed: 'FAILED',\n    dead",
  ]),
  mutant('002:28', 'what failed shows as TIMEOUT', [
    DIALECT,
    "    failed: 'FAILED',\n    cancelled",
    "    failed: 'TIMEOUT',\n    cancelled",
  ]),
  mutant('002:28 002:42', 'no failure is told', [DIALECT, "    failed: 'FAILED',\n    dead", '    dead']),
  mutant('002:29', 'what was cancelled shows as FAILED', [
    DIALECT,
    "    cancelled: 'CANCELLED',\n    timed_out: 'TIMEOUT',\n    denied",
    "    cancelled: 'FAILED',\n    timed_out: 'TIMEOUT',\n    denied",
  ]),
  mutant('002:29 002:46', 'nobody cancels', [DIALECT, "    cancel: 'alongARow',\n", '']),
  mutant('002:30', 'what was denied shows as CANCELLED', [
    DIALECT,
    "    denied: 'DENIED',\n    dead_lettered: 'FAILED',\n  },\n  tells",
    "    denied: 'CANCELLED',\n    dead_lettered: 'FAILED',\n  },\n  tells",
  ]),
  mutant(
    '002:30 002:45 002:56',
    'nobody denies',
    [DIALECT, "    deny: 'always',\n", ''],
    ['core/dialects/strict.ts', "'admit', 'deny', 'askApproval'", "'admit', 'askApproval'"],
  ),
  mutant('002:31', 'a time limit shows as FAILED', [
    DIALECT,
    "    timed_out: 'TIMEOUT',\n    denied",
    "    timed_out: 'FAILED',\n    denied",
  ]),
  mutant(
    '002:31 002:43 002:44',
    'a lost lease is queued again',
    ['core/presets.ts', "    onStall: 'timed_out',\n    onNotStarted", '    onNotStarted'],
    [DIALECT, "asksFor: ({ onStall }) => onStall !== 'timed_out'", 'asksFor: () => false'],
  ),
]

const MOVES: readonly Mutant[] = [
  gone('002:33 002:37', 'none', 'PENDING'),
  gone('002:33 002:38', 'PENDING', 'SCHEDULED'),
  untold('002:38', 'admitted', 'SCHEDULED', "denied: 'DENIED',\n    claimed"),
  gone('002:33 002:39', 'SCHEDULED', 'DISPATCHED'),
  { ...untold('002:39', 'claimed', 'DISPATCHED', 'started'), survived: true },
  untold('002:40', 'started', 'RUNNING', 'succeeded'),
  gone('002:33 002:41', 'RUNNING', 'SUCCEEDED'),
  gone('002:33 002:42', 'RUNNING', 'FAILED'),
  gone('002:33 002:43', 'RUNNING', 'TIMEOUT'),
  gone('002:33 002:44', 'DISPATCHED', 'TIMEOUT'),
  gone('002:33 002:45', 'SCHEDULED', 'DENIED'),
  mutant(
    '002:46',
    'what runs is never cancelled',
    [
      DIALECT,
      "const ANY: readonly Status[] = ['PENDING', 'SCHEDULED', 'DISPATCHED', 'RUNNING']",
      "const ANY: readonly Status[] = ['PENDING', 'SCHEDULED', 'DISPATCHED']",
    ],
    [DIALECT, 'statuses: [...ANY,', "statuses: [...ANY, 'RUNNING',"],
  ),
  mutant(
    '002:48 002:49 002:51',
    'an ending is not final: it can be reopened',
    [DIALECT, "    deadLetter: 'alongARow',\n  },", "    deadLetter: 'alongARow',\n    reopen: 'always',\n  },"],
    ['core/dialects/telling.ts', ' && !path.fresh', ''],
  ),
  mutant('002:47 002:48 002:50 002:51', 'what has ended is cancelled', [
    'core/transitions.ts',
    "'waiting', 'parked', 'stalled']\n\nconst FAIL",
    "'waiting', 'parked', 'stalled', 'succeeded', 'failed', 'denied', 'timed_out']\n\nconst FAIL",
  ]),
  mutant('002:47 002:49 002:50', 'what has ended is put aside', [
    'core/transitions.ts',
    'deadLetter: each(LIVE_STATES,',
    "deadLetter: each([...LIVE_STATES, 'succeeded', 'cancelled', 'denied'],",
  ]),
]

const PERFORMERS: readonly Mutant[] = [
  mutant('002:39 002:56', 'a worker dispatches to itself', [
    DIALECT,
    "to === 'DISPATCHED' ? SCHEDULER : actor",
    'actor',
  ]),
  mutant('002:57', 'whoever starts a job is not known', [
    DIALECT,
    "to === 'DISPATCHED' ? SCHEDULER : actor",
    "to === 'DISPATCHED' || to === 'RUNNING' ? SCHEDULER : actor",
  ]),
  mutant('002:39', 'somebody has dispatched what nobody touched', [DIALECT, 'implied ? undefined : to', 'to']),
  mutant('002:58', 'nobody is said to have marked what is stale', [
    DIALECT,
    'implied ? undefined : to',
    "implied || to === 'TIMEOUT' ? undefined : to",
  ]),
  mutant('002:55', 'a type without admission is not refused', [
    DIALECT,
    'asksFor: ({ admission }) => !admission',
    'asksFor: () => false',
  ]),
  mutant('002:56', 'what is PENDING can be claimed', [
    'core/timers.ts',
    "    case 'queued':\n    case 'retrying':\n      return job.runAt",
    "    case 'pending':\n    case 'queued':\n    case 'retrying':\n      return job.runAt",
  ]),
  mutant('002:56', 'the rule that rejected it is not kept', [
    DIALECT,
    'job.error?.code ?? job.verdict?.rule',
    'job.error?.code',
  ]),
  mutant(
    '002:57',
    'a worker moves nothing that is DISPATCHED',
    [DIALECT, "    { ...row('DISPATCHED', 'SUCCEEDED'), settled: WORKER },\n", ''],
    [
      'core/dialects/bond.ts',
      '    ...BOUND,\n    retries',
      '    ...BOUND,\n    endsOnlyWhileRunning: true,\n    retries',
    ],
  ),
  mutant('002:57', 'execution time is not reported', [
    'core/evolve.ts',
    'next.executionMs += payload.executionMs',
    'next.executionMs += 0',
  ]),
  mutant('002:58', 'the reconciler never comes', ['core/decide/stall.ts', 'd.at < endsAt', 'true']),
  mutant('002:58', 'what timed out is not tried again', [
    'core/successor.ts',
    'budgetLeft && maySucceedItself(d.job)',
    'false',
  ]),
]

const IDEMPOTENCY: readonly Mutant[] = [
  mutant('002:61', 'the same state twice is an error', [
    'core/receipt.ts',
    "return job.state === 'running' && job.lease.fence === command.fence",
    "return job.state === 'queued' && job.lease.fence === command.fence",
  ]),
  mutant('002:61', 'a job that runs is handed back', [
    DIALECT,
    "    fail: 'always',\n    cancel",
    "    fail: 'always',\n    release: 'always',\n    cancel",
  ]),
  mutant('002:61', 'a job that runs is admitted again', [
    'core/receipt.ts',
    "job.state === 'queued' && job.attempt === 0 &&",
    '',
  ]),
  mutant('002:62', 'a late result leaves no note', ['core/late.ts', '  claim && {', '  undefined && {']),
  mutant('002:62', 'of a late result only that it came is kept', [
    'core/late.ts',
    '    outcome: outcomeOf(command),\n',
    '    outcome: undefined,\n',
  ]),
  mutant('002:63', 'a retry is the same job', ['core/dialects/bond.ts', '    retriesAsNewJob: true,\n', '']),
  mutant('002:63', 'a retry has no parent', ['core/successor.ts', '    parentId: job.id,\n', '']),
  mutant('002:63', 'a retry has a budget of its own', [
    'core/successor.ts',
    '    failures: d.job.failures,\n',
    '    failures: 0,\n',
  ]),
]

export const OF_002: readonly Mutant[] = [...REQUESTS, ...RESULTS, ...STATES, ...MOVES, ...PERFORMERS, ...IDEMPOTENCY]
