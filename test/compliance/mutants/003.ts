/** What document 003 forbids. */
import { type Mutant, mutant } from './mutant.ts'

const DIALECT = 'core/dialects/003.ts'

const shown = (rules: string, state: string, status: string, other: string): Mutant =>
  mutant(rules, `what is ${state} shows as ${other}`, [
    DIALECT,
    `    ${state}: '${status}',\n`,
    `    ${state}: '${other}',\n`,
  ])
const constant = (rules: string, status: string, name: string): Mutant =>
  mutant(rules, `the constant of ${status} is another`, [
    DIALECT,
    `  ${status}: '${name}',\n`,
    `  ${status}: 'Status${status}ed',\n`,
  ])
/** A cell of the table that is not there. */
const gone = (rules: string, from: string, to: string, words: string, without: string): Mutant =>
  mutant(rules, `${from} does not know ${words}`, [
    DIALECT,
    `cells('${from}', '${to}', ${words})`,
    `cells('${from}', '${to}'${without && `, ${without}`})`,
  ])
/** One that nobody has written down. */
const made = (rules: string, from: string, word: string, to: string): Mutant =>
  mutant(rules, `${from} × ${word} is legal`, [
    DIALECT,
    "    ...cells('Failed', 'Queued', 'job_requeued'),\n",
    `    ...cells('Failed', 'Queued', 'job_requeued'),\n    ...cells('${from}', '${to}', '${word}'),\n`,
  ])
const told = (rules: string, event: string, word: string, other: string): Mutant =>
  mutant(rules, `${event} is told by ${other || 'nothing'}`, [
    DIALECT,
    `    ${event}: '${word}',\n`,
    other && `    ${event}: '${other}',\n`,
  ])

const STATES: readonly Mutant[] = [
  shown('003:11', 'queued', 'Queued', 'Running'),
  constant('003:11 003:78', 'Queued', 'StatusPending'),
  mutant('003:12', 'what runs shows as Queued', [DIALECT, "    running: 'Running',\n", "    running: 'Queued',\n"]),
  constant('003:12 003:78', 'Running', 'StatusRunning'),
  shown('003:13', 'waiting', 'Waiting', 'Running'),
  constant('003:13', 'Waiting', 'StatusWaiting'),
  mutant('003:14', 'what is parked shows as Waiting where asked for', [
    DIALECT,
    "    parked: 'Parked',\n",
    "    parked: 'Waiting',\n",
  ]),
  mutant('003:14', 'no wait is long', [
    'core/decide/wait.ts',
    'command.timeoutMs === undefined || command.timeoutMs > policy.parkAfterMs',
    'command.timeoutMs === 0',
  ]),
  mutant('003:15', 'what is retrying shows as Queued where asked for', [
    DIALECT,
    "    retrying: 'Retrying',\n",
    "    retrying: 'Queued',\n",
  ]),
  constant('003:15', 'Retrying', 'StatusRetrying'),
  shown('003:16', 'succeeded', 'Completed', 'Failed'),
  constant('003:16', 'Completed', 'StatusCompleted'),
  shown('003:17', 'failed', 'Failed', 'Cancelled'),
  constant('003:17', 'Failed', 'StatusFailed'),
  shown('003:18', 'cancelled', 'Cancelled', 'Failed'),
  constant('003:18', 'Cancelled', 'StatusCancelled'),
  mutant('003:12 003:20', 'what is claimed shows as Queued', [
    DIALECT,
    "    claimed: 'Running',\n",
    "    claimed: 'Queued',\n",
  ]),
  mutant('003:20', 'what is claimed shows as Running where asked for', [
    DIALECT,
    "    claimed: 'Leased',\n",
    "    claimed: 'Running',\n",
  ]),
]

const WORDS: readonly Mutant[] = [
  told('003:30', 'enqueued', 'job_created', 'job_queued'),
  mutant('003:30', 'what waits for admission is told as queued', [
    DIALECT,
    "event.type === 'enqueued' && event.to === 'queued' &&",
    "event.type === 'enqueued' &&",
  ]),
  mutant('003:31', 'what is queued at once is told as created', [
    DIALECT,
    "? 'job_queued' : step.word",
    '? step.word : step.word',
  ]),
  gone(
    '003:31 003:51',
    'none',
    'Queued',
    "'job_created', 'job_queued', 'job_requeued'",
    "'job_created', 'job_requeued'",
  ),
  told('003:53', 'requeued', 'job_requeued', ''),
  told('003:32 003:53 003:65', 'retry_scheduled', 'job_requeued', ''),
  { ...told('003:33 003:47 003:52 003:90', 'claimed', 'job_leased', ''), survived: true },
  told('003:33 003:90', 'claimed', 'job_leased', 'job_running'),
  told('003:34', 'started', 'job_running', ''),
  gone('003:34', 'Leased', 'Running', "'job_running'", ''),
  told('003:35 003:89', 'waiting', 'job_waiting', ''),
  gone('003:35 003:53', 'Running', 'Waiting', "'job_waiting'", ''),
  told('003:36 003:54 003:64 003:89', 'signalled', 'wait_completed', 'job_requeued'),
  told('003:89', 'wait_timed_out', 'wait_completed', ''),
  told('003:37 003:53', 'succeeded', 'job_completed', ''),
  gone('003:37 003:53', 'Running', 'Completed', "'job_completed'", ''),
  told('003:38 003:53', 'failed', 'job_failed', 'job_cancelled'),
  gone('003:38 003:53', 'Running', 'Failed', "'job_failed'", ''),
  told('003:39 003:53', 'cancelled', 'job_cancelled', ''),
  gone('003:39 003:53', 'Running', 'Cancelled', "'job_cancelled'", ''),
  mutant('003:41', 'plans and tools are not told', [
    DIALECT,
    "event.type === 'recorded' ? event.payload.note?.kind : undefined",
    'undefined',
  ]),
  mutant('003:41', 'other words are reported', [DIALECT, "otherWords: 'passed over'", "otherWords: 'reported'"]),
  mutant('003:41', 'a replay does not look at the result', [
    'worker/replay.ts',
    'same(end.text, output) ?',
    'end.text ?',
  ]),
  mutant('003:41', 'nobody notices that a verified log was changed', [
    'engine/attestation.ts',
    '=== hash) return []',
    '!== undefined) return []',
  ]),
  mutant('003:47 003:79', 'each line says that nothing was before it', [
    'core/dialects/history.ts',
    'after_rev: move === 1 ? afterRev : rev',
    'after_rev: 0',
  ]),
]

const CELLS: readonly Mutant[] = [
  made('003:51', 'none', 'job_leased', 'Running'),
  gone('003:52', 'Queued', 'Queued', "'job_requeued', 'wait_completed'", "'job_requeued'"),
  gone('003:52', 'Queued', 'Running', "'job_leased', 'job_running'", "'job_leased'"),
  gone('003:36 003:54', 'Waiting', 'Queued', "'wait_completed'", ''),
  gone('003:54', 'Waiting', 'Cancelled', "'job_cancelled'", ''),
  gone('003:55', 'Parked', 'Queued', "'wait_completed'", ''),
  gone('003:55', 'Parked', 'Cancelled', "'job_cancelled'", ''),
  gone('003:56', 'Retrying', 'Queued', "'job_requeued', 'wait_completed'", "'job_requeued'"),
  gone('003:56', 'Retrying', 'Running', "'job_leased', 'job_running'", "'job_running'"),
  made('003:57', 'Completed', 'job_requeued', 'Queued'),
  made('003:57', 'Completed', 'job_failed', 'Failed'),
  mutant('003:58', 'nothing is made of what failed', [
    DIALECT,
    "    ...cells('Failed', 'Queued', 'job_requeued'),\n",
    '',
  ]),
  made('003:58', 'Failed', 'job_leased', 'Running'),
  made('003:59', 'Cancelled', 'job_requeued', 'Queued'),
  made('003:59', 'Cancelled', 'job_completed', 'Completed'),
]

const FOLD: readonly Mutant[] = [
  mutant('003:74', 'a log of which nothing has come yet has a status', [
    'core/dialects/derive.ts',
    'fold.status === NONE ? undefined : fold.status',
    'fold.status',
  ]),
  mutant('003:74 003:78', 'a status has no constant', [
    'core/dialects/derive.ts',
    '    constant: status && dialect.constants?.[status],\n',
    '    constant: undefined,\n',
  ]),
  mutant('003:63', 'the first ending counts', [DIALECT, 'lastWins: true', 'lastWins: false']),
  mutant('003:63 003:88', 'what follows an ending is not reported', [
    DIALECT,
    "...(ENDED.includes(status) ? ['invariant 1: nothing about the status follows an ending'] : []),",
    '',
  ]),
  mutant('003:64', 'a repeated signal is another one', [
    'core/receipt.ts',
    'const receipt = remembered(job, command) ?? receiptOf(caused)',
    'const receipt = undefined as Receipt | undefined',
  ]),
  gone('003:32 003:65', 'Running', 'Queued', "'job_requeued'", ''),
  mutant('003:77', 'the last event is read first', [
    'core/dialects/derive.ts',
    'for (const line of lines ?? []) fold.read(line)',
    'for (const line of (lines ?? []).toReversed()) fold.read(line)',
  ]),
  mutant('003:77', 'every second event is not read', [
    'core/dialects/derive.ts',
    'for (const line of lines ?? []) fold.read(line)',
    'for (const line of lines ?? []) if (line.n % 2 === 1) fold.read(line)',
  ]),
  mutant('003:79', 'an orphan shows as Queued', [DIALECT, "    stalled: 'Running',\n", "    stalled: 'Queued',\n"]),
  mutant('003:80', 'what is parked shows as Parked', [
    DIALECT,
    "    parked: 'Waiting',\n    stalled",
    "    parked: 'Parked',\n    stalled",
  ]),
  mutant('003:80', 'what is retrying shows as Retrying', [
    DIALECT,
    "    retrying: 'Queued',\n    queued",
    "    retrying: 'Retrying',\n    queued",
  ]),
  mutant('003:88', 'what has ended is cancelled', [
    'core/transitions.ts',
    "'waiting', 'parked', 'stalled']\n\nconst FAIL",
    "'waiting', 'parked', 'stalled', 'succeeded']\n\nconst FAIL",
  ]),
  mutant('003:89', 'a wait is left by anything', [
    DIALECT,
    "...(blocked && !UNBLOCKS.includes(word) ? ['invariant 2: a wait is left by wait_completed first'] : []),",
    '',
  ]),
  mutant('003:91', 'a blocked job may be reclaimed', [
    DIALECT,
    "...(blocked && RECLAIMS.includes(word) ? ['invariant 4: a blocked job is not reclaimed'] : []),",
    '',
  ]),
  mutant('003:91', 'nothing is ever blocked', [
    'core/dialects/blocked.ts',
    "status === 'Waiting' || status === 'Parked'",
    'false',
  ]),
]

export const OF_003: readonly Mutant[] = [...STATES, ...WORDS, ...CELLS, ...FOLD]
