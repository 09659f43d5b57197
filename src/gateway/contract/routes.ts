/**
 * The closed table of everything the gateway answers. Routing, authorisation, validation, load shedding, OpenAPI and
 * the client read it; a path or method that is not here does not exist. A route without scopes is a compile error.
 */
import { cancelled, denied, dispatches, jobRequest, jobResult, running, scheduled } from './document-002.ts'
import { limit, limitsQuery } from './limit-schema.ts'
import { KEPT_BY_OPERATIONS, operation, operationsQuery, redrive } from './operation-schema.ts'
import { policyRemoval, policyText } from './policy-schema.ts'
import {
  causesQuery,
  deadLettersQuery,
  dialectOnly,
  eventsQuery,
  historyQuery,
  jobEventsQuery,
  jobQuery,
  jobsQuery,
  nothing,
  pageQuery,
  resultQuery,
  trafficQuery,
} from './queries.ts'
import { get, list, OPERATORS, PRODUCERS, post, READERS, type Route, type Scope, WORKERS } from './route.ts'
import { nextQuery, schedule } from './schedule-schema.ts'
import {
  announcement,
  claims,
  KEPT_BY_ANNOUNCEMENTS,
  KEPT_BY_ANY_WORD,
  KEPT_BY_JOBS,
  KEPT_BY_WORDS,
  newJob,
  newJobQuery,
  newJobs,
  OPERATOR_WORDS,
  OWNER_WORDS,
  transitions,
  WORDS,
  type WordName,
  worker,
} from './schemas.ts'
import { newToken, SCOPES } from './token-schema.ts'

const ownerSummary: Readonly<Record<(typeof OWNER_WORDS)[number], string>> = {
  start: 'The handler has begun: claimed → running',
  heartbeat: 'Renew the lease; the answer tells of a requested cancel',
  progress: 'Where the work stands; counters add up',
  checkpoint: 'Resumable state for the next attempt',
  record: 'A step’s memo, a step undone, an artifact’s pointer, a note on a plan, a node or a tool',
  complete: 'The work is done: → succeeded',
  fail: 'The attempt failed: retried or ended, by error class, budget and policy',
  wait: 'Suspend until a signal or a timeout',
  release: 'Hand the job back without burning budget',
  compensated: 'Every step is undone: the intended ending happens',
}

const operatorSummary: Readonly<Record<(typeof OPERATOR_WORDS)[number], string>> = {
  admit: 'Let a pending job in: pending → queued',
  deny: 'Turn a job away that nobody has claimed: → denied',
  approve: 'Approve a pending job that a policy asks about; the policy lets it in, if it still says so',
  cancel: 'Cancel: softly (the handler is told) or hard (it ends now)',
  signal: 'Send a signal: wakes the job that waits for it, else is kept',
  reopen: 'A second chance: generation + 1, fresh budgets',
  reschedule: 'Run now or later, or at another priority',
  deadletter: 'Put the job aside with a reason',
}

/** Producers take back and answer what they asked for; a worker ends what it owns, and proves by its fence that it does. */
const SAYERS: Readonly<Record<(typeof OPERATOR_WORDS)[number], readonly Scope[]>> = {
  admit: OPERATORS,
  deny: OPERATORS,
  approve: OPERATORS,
  cancel: ['producer', 'worker', ...OPERATORS],
  signal: ['producer', ...OPERATORS],
  reopen: OPERATORS,
  reschedule: OPERATORS,
  deadletter: [...OPERATORS, 'worker'],
}

/** Document 002 from its first line to its last, in its own words. */
const DOCUMENT_002: readonly Route[] = [
  {
    ...post('submit002', '/v1/dialects/002/jobs', PRODUCERS, 'enqueue', '002: a JobRequest → PENDING', jobRequest),
    answers: { 201: 'Created', 200: 'It exists already: the same job_id or key' },
  },
  get('show002', '/v1/dialects/002/jobs/{id}', [...READERS, 'worker'], '002: JobRequest, state and JobResult'),
  list('states002', '/v1/dialects/002/jobs/{id}/states', READERS, '002: the states it has had, in order', historyQuery),
  list(
    'results002',
    '/v1/dialects/002/jobs/{id}/results',
    READERS,
    '002: its JobResult, and those that came late',
    nothing,
  ),
  post(
    'schedule002',
    '/v1/dialects/002/jobs/{id}/scheduled',
    OPERATORS,
    'enqueue',
    '002: PENDING → SCHEDULED',
    scheduled,
  ),
  post('deny002', '/v1/dialects/002/jobs/{id}/denied', OPERATORS, 'enqueue', '002: SCHEDULED → DENIED', denied),
  {
    ...post('dispatch002', '/v1/dialects/002/dispatches', WORKERS, 'claim', '002: SCHEDULED → DISPATCHED', dispatches),
    size: 'lists',
  },
  post('run002', '/v1/dialects/002/jobs/{id}/running', WORKERS, 'owner', '002: DISPATCHED → RUNNING', running),
  post('result002', '/v1/dialects/002/jobs/{id}/result', WORKERS, 'owner', '002: a JobResult', jobResult),
  post(
    'cancel002',
    '/v1/dialects/002/jobs/{id}/cancelled',
    ['producer', ...OPERATORS],
    'enqueue',
    '002: → CANCELLED, from every state that is no ending',
    cancelled,
  ),
]

/** Who may enqueue may do so by the clock; who runs the place may stop it. */
const KEEPERS = ['producer', ...OPERATORS] as const

/** What runs by the clock. Defining one replaces it; what it has done, and a pause, stay. */
const SCHEDULES: readonly Route[] = [
  list('listSchedules', '/v1/schedules', READERS, 'Schedules, with their next times', pageQuery),
  get('showSchedule', '/v1/schedules/{schedule}', READERS, 'One schedule'),
  {
    ...post(
      'defineSchedule',
      '/v1/schedules/{schedule}',
      PRODUCERS,
      'enqueue',
      'Make or change one',
      schedule,
      KEPT_BY_JOBS,
    ),
    method: 'PUT',
  },
  {
    ...get('removeSchedule', '/v1/schedules/{schedule}', KEEPERS, 'Remove one; jobs that were made stay'),
    method: 'DELETE',
    urgency: 'enqueue',
  },
  get('nextOfSchedule', '/v1/schedules/{schedule}/next', READERS, 'Its next times', nextQuery),
  post(
    'pauseSchedule',
    '/v1/schedules/{schedule}/pause',
    KEEPERS,
    'enqueue',
    'Make no jobs; times are missed',
    nothing,
  ),
  post('resumeSchedule', '/v1/schedules/{schedule}/resume', KEEPERS, 'enqueue', 'Go on with the next time', nothing),
  {
    ...post('runSchedule', '/v1/schedules/{schedule}/run', PRODUCERS, 'enqueue', 'Its job, now and besides', nothing),
    answers: { 201: 'Created' },
  },
]

/** What jobs share that is limited. Setting a limit makes its key; removing it leaves what the job type declares. */
const LIMIT_ROUTES: readonly Route[] = [
  list('listLimits', '/v1/limits', READERS, 'Limit keys by name, with their states and what is taken', limitsQuery),
  get('showLimit', '/v1/limits/{key}', READERS, 'One limit key, with its last changes'),
  { ...post('setLimit', '/v1/limits/{key}', OPERATORS, 'enqueue', 'Set what holds for it', limit), method: 'PUT' },
  {
    ...get('removeLimit', '/v1/limits/{key}', OPERATORS, 'What its job type declares holds again'),
    method: 'DELETE',
    urgency: 'enqueue',
  },
  post('resetLimit', '/v1/limits/{key}/reset', OPERATORS, 'enqueue', 'As if it had never been pushed back', nothing),
  post('probeLimit', '/v1/limits/{key}/probe', OPERATORS, 'enqueue', 'Let one job find out now', nothing),
]

/** Who is admitted: what a tenant has set for its own jobs. Setting one replaces it; it is looked at before it is taken. */
const POLICIES: readonly Route[] = [
  list('listPolicies', '/v1/policies', OPERATORS, 'Policies that are set, without their texts', nothing),
  get('showPolicy', '/v1/policies/{policy}', OPERATORS, 'One of them'),
  {
    ...post('setPolicy', '/v1/policies/{policy}', ['admin'], 'enqueue', 'Set one, if it is a policy', policyText),
    method: 'PUT',
    size: 'lists',
    items: 'text',
    answers: { 200: 'It holds within seconds', 409: 'Another revision is there' },
  },
  {
    ...get('removePolicy', '/v1/policies/{policy}', ['admin'], 'Remove one', policyRemoval),
    method: 'DELETE',
    urgency: 'enqueue',
    answers: { 200: 'OK', 409: 'Another revision is there' },
  },
]

/** What is done to many jobs at once, by a job of pawl's own. */
const OPERATIONS: readonly Route[] = [
  {
    ...post(
      'startOperation',
      '/v1/operations',
      OPERATORS,
      'enqueue',
      'Redrive, cancel or purge (admins) all that a search finds; with a dry run, canaries, an edited input',
      operation,
      KEPT_BY_OPERATIONS,
    ),
    answers: { 202: 'It is under way' },
  },
  list('listOperations', '/v1/operations', READERS, 'Operations, newest first, with how far they are', operationsQuery),
  get('showOperation', '/v1/operations/{operation}', READERS, 'One of them, with what was refused'),
  post(
    'cancelOperation',
    '/v1/operations/{operation}/cancel',
    OPERATORS,
    'enqueue',
    'Stop it before its next page; what was done to jobs stays done',
    nothing,
  ),
  {
    ...post(
      'redriveDeadLetters',
      '/v1/dead-letters:redrive',
      OPERATORS,
      'enqueue',
      'An operation that redrives all dead letters that a search finds',
      redrive,
      KEPT_BY_OPERATIONS,
    ),
    answers: { 202: 'It is under way' },
  },
]

export const ROUTES: readonly Route[] = [
  {
    ...post('createJob', '/v1/jobs', PRODUCERS, 'enqueue', 'Enqueue a job; with wait its result', newJob, KEPT_BY_JOBS),
    query: newJobQuery,
    answers: { 201: 'Created', 200: 'It exists already: the same key or id; or it has ended', 202: 'Not ended yet' },
  },
  {
    ...post('createJobs', '/v1/jobs:batch', PRODUCERS, 'enqueue', 'Enqueue many jobs, one answer each', newJobs, {
      jobs: { '*': KEPT_BY_JOBS },
    }),
    items: 'jobs',
  },
  list('listJobs', '/v1/jobs', READERS, 'Find jobs, newest first; no payloads', jobsQuery),
  get('showJob', '/v1/jobs/{id}', [...READERS, 'worker'], 'One job, with its payload', jobQuery),
  list('listJobEvents', '/v1/jobs/{id}/events', READERS, 'The history of a job', jobEventsQuery),
  list('listLateWords', '/v1/jobs/{id}/late', READERS, 'What came too late from those who had owned it', nothing),
  {
    ...get('showResult', '/v1/jobs/{id}/result', READERS, 'The result; waits for it with waitMs', resultQuery),
    answers: { 200: 'It has ended', 202: 'Not yet' },
  },
  get('explainJob', '/v1/jobs/{id}/explain', READERS, 'Why is this job not running?'),
  ...OPERATOR_WORDS.map((word) =>
    post(
      `${word}Job`,
      `/v1/jobs/{id}/${word}`,
      SAYERS[word],
      'enqueue',
      operatorSummary[word],
      WORDS[word],
      KEPT_BY_WORDS[word],
    ),
  ),
  { ...post('claim', '/v1/claims', WORKERS, 'claim', 'Claim jobs (long poll, batch)', claims), size: 'lists' },
  ...OWNER_WORDS.map((word) =>
    post(`${word}Job`, `/v1/jobs/{id}/${word}`, WORKERS, 'owner', ownerSummary[word], WORDS[word], KEPT_BY_WORDS[word]),
  ),
  {
    ...post(
      'settle',
      '/v1/transitions:batch',
      ['producer', 'worker', 'operator', 'admin'],
      'owner',
      'Many words about many jobs, one answer each; each as its own route would take it',
      transitions,
      { transitions: { '*': KEPT_BY_ANY_WORD } },
    ),
    items: 'transitions',
  },
  get(
    'streamEvents',
    '/v1/events',
    [...READERS, 'worker'],
    'What happens, as it happens (SSE, resumable), or as JSON by time or correlation',
    eventsQuery,
  ),
  get(
    'streamHints',
    '/v1/hints',
    [...READERS, 'worker'],
    'Where there may be work, and which jobs have news, as it happens (SSE): what a worker polls less for',
  ),
  list('showTally', '/v1/tally', READERS, 'How many jobs there are, by queue, type and state', nothing),
  list(
    'showTraffic',
    '/v1/traffic',
    READERS,
    'State changes and failures over a window, counted since the gateway was first asked',
    trafficQuery,
  ),
  list('listQueues', '/v1/queues', [...READERS, 'worker'], 'Queues with their counts', pageQuery),
  list('showQueue', '/v1/queues/{queue}', [...READERS, 'worker'], 'One queue', nothing),
  post(
    'pauseQueue',
    '/v1/queues/{queue}/pause',
    OPERATORS,
    'enqueue',
    'Give nothing of this queue to workers',
    nothing,
  ),
  post('resumeQueue', '/v1/queues/{queue}/resume', OPERATORS, 'enqueue', 'Give again', nothing),
  get(
    'showType',
    '/v1/types/{type}',
    [...READERS, 'worker'],
    'Queue, policy and input of a type, as its worker announced them',
  ),
  {
    ...post(
      'announceType',
      '/v1/types/{type}',
      WORKERS,
      'enqueue',
      'A worker announces a type it runs',
      announcement,
      KEPT_BY_ANNOUNCEMENTS,
    ),
    method: 'PUT',
    size: 'lists',
  },
  list('listWorkers', '/v1/workers', READERS, 'Who works, on what', pageQuery),
  {
    ...post('reportWorker', '/v1/workers/{worker}', WORKERS, 'enqueue', 'A worker tells that it is there', worker),
    method: 'PUT',
    size: 'lists',
  },
  ...SCHEDULES,
  ...LIMIT_ROUTES,
  ...POLICIES,
  ...OPERATIONS,
  ...DOCUMENT_002,
  list('listDeadLetters', '/v1/dead-letters', READERS, 'Jobs put aside, with reasons', deadLettersQuery),
  list('listCauses', '/v1/dead-letters:causes', READERS, 'What dead letters have in common, with samples', causesQuery),
  get('showDeadLetter', '/v1/dead-letters/{id}', READERS, 'One of them', dialectOnly),
  post('reopenDeadLetter', '/v1/dead-letters/{id}/reopen', OPERATORS, 'enqueue', 'Reopen one', WORDS.reopen),
  get('showSession', '/v1/session', SCOPES, 'Who you are, and what you may'),
  {
    ...post('createSession', '/v1/session', SCOPES, 'enqueue', 'A token for a cookie: signs a browser in', nothing),
    // It looks through all tokens for the sessions there are.
    isHeavy: true,
    answers: { 201: 'Signed in' },
  },
  {
    ...get('endSession', '/v1/session', SCOPES, 'Signs the browser out; the cookie is good for nothing any more'),
    method: 'DELETE',
    urgency: 'enqueue',
  },
  list('listTokens', '/v1/tokens', ['admin'], 'Tokens, without their secrets', pageQuery),
  {
    ...post('createToken', '/v1/tokens', ['admin'], 'enqueue', 'A new token; its secret is shown once', newToken),
    answers: { 201: 'Created' },
  },
  {
    ...get('revokeToken', '/v1/tokens/{token}', ['admin'], 'Revoke a token; it stops working within seconds'),
    method: 'DELETE',
    urgency: 'enqueue',
  },
  list('listAudit', '/v1/audit', ['auditor'], 'What was done to the installation, newest first', pageQuery),
  get('showMachine', '/v1/machine', [...READERS, 'worker'], 'The transition table as data', dialectOnly),
  { ...get('openapi', '/openapi.json', [...READERS, 'worker'], 'This table as OpenAPI 3.1'), urgency: 'health' },
  { ...get('livez', '/livez', 'open', 'The process is alive'), urgency: 'health' },
  {
    ...get('readyz', '/readyz', 'open', 'The store answers'),
    urgency: 'health',
    answers: { 200: 'Ready', 503: 'Not ready' },
  },
  { ...get('metrics', '/metrics', ['metrics'], 'Prometheus metrics, of all tenants'), urgency: 'health' },
  { ...get('showIndex', '/', 'open', 'This list, for people (text, or HTML for a browser)'), urgency: 'health' },
  { ...get('showErrors', '/docs/errors', 'open', 'What the `type` of a problem points to'), urgency: 'health' },
]

const scopesOfWord = new Map(ROUTES.map(({ name, scopes }) => [name, scopes]))

/** Who may say this word is who may call its own route, in batches as well. */
export const maySay = (scope: Scope, word: WordName): boolean =>
  scopesOfWord.get(`${word}Job`)?.includes(scope) === true
