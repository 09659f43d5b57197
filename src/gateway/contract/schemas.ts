/** What comes in over HTTP, as schemas: they validate, they document, and they are the client's types. */
import { z } from 'zod'
import { BY_HAND, RELEASE_REASONS } from '../../core/command.ts'
import { DEAD_LETTER_REASONS, STAGES } from '../../core/job.ts'
import { AT_ONCE, COUNTS, LENGTHS, LIMITS, SIZES } from '../../core/limits.ts'
import { NOTE_KINDS } from '../../core/note.ts'
import { DIALECT_NAMES, ERROR_CLASSES } from '../../core/policy.ts'
import { described, listOf, membersOnly, tableOf } from './collections.ts'
import {
  anything,
  duration,
  durationMs,
  expectedRev,
  id,
  jobId,
  key,
  listed,
  name,
  named,
  numbers,
  queueName,
  requestId,
  TRACEPARENT,
  TRACEPARENT_RULE,
  text,
  texts,
  time,
  workerName,
} from './fields.ts'
import { declaredLimits, jobFlow } from './limit-schema.ts'
import type { Opaque } from './outline.ts'

const curve = {
  base: duration.optional(),
  factor: z.number().optional(),
  max: duration.optional(),
  jitter: z.enum(['full', 'equal', 'none']).optional(),
}

const duplicates = membersOnly({
  for: z.union([z.enum(['live', 'forever']), duration]).optional(),
  onDuplicate: z.enum(['keep', 'replace', 'debounce']).optional(),
  within: duration.optional(),
  atMost: duration.optional(),
}).describe('how long a dedupe key is held, and what a second job under it does')

export const policy = membersOnly({
  dialect: z.enum(DIALECT_NAMES).optional(),
  lease: duration.optional(),
  heartbeat: z.union([duration, z.literal(false)]).optional(),
  missedHeartbeats: z.int().optional(),
  timeout: duration.optional(),
  deadline: duration.optional(),
  startWithin: duration.optional(),
  parkAfter: duration.optional(),
  cancelGrace: duration.optional(),
  compensateWithin: duration.optional(),
  retry: membersOnly({
    ...curve,
    attempts: z.int().optional(),
    stalls: z.int().optional(),
    budget: z.enum(['separate', 'shared']).optional(),
    throttled: membersOnly(curve).optional(),
  }).optional(),
  errors: tableOf(name, z.enum(ERROR_CLASSES), SIZES.errors).optional(),
  onExhausted: z.enum(['failed', 'dead_letter']).optional(),
  onInvalid: z.enum(['failed', 'dead_letter']).optional(),
  onTimeout: z.enum(['fail', 'timed_out']).optional(),
  onStall: z.enum(['requeue', 'retry', 'timed_out']).optional(),
  onNotStarted: z.enum(['stalled', 'timed_out']).optional(),
  onWaitTimeout: z.enum(['resume', 'timed_out']).optional(),
  admission: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  dedupe: duplicates.optional(),
  limits: declaredLimits.optional().describe('numbers for the limit keys of its jobs, in their order'),
  breaking: listOf(name, { most: SIZES.breaking }).optional().describe('codes that tell of what is behind a key'),
}).describe('how the job is leased, retried and ended; every word has a default')

export const priority = z.union([
  z.int().min(COUNTS.priority.min).max(COUNTS.priority.max),
  z.enum(['critical', 'interactive', 'normal', 'batch']),
])

export const newJob = membersOnly({
  type: listed,
  queue: queueName.optional().describe('the one its worker has announced unless given, else `default`'),
  input: anything.optional(),
  id: named.optional().describe('your own id for the job; unique, works wherever an id does'),
  idempotencyKey: key.optional().describe('this creation, for 24 hours; the header `Idempotency-Key` says the same'),
  dedupeKey: key.optional(),
  dedupe: duplicates.optional(),
  flow: jobFlow.optional().describe('what lets it in'),
  priority: priority.optional(),
  delay: duration.optional(),
  runAt: time.optional(),
  contextPtr: text(LENGTHS.pointer).optional().describe('opaque, never fetched'),
  topic: key.optional(),
  adapterId: key.optional(),
  env: texts(SIZES.env).optional(),
  labels: texts(SIZES.labels).optional(),
  parentId: jobId.optional(),
  workflowId: key.optional(),
  stepIndex: z.int().min(0).optional(),
  correlationId: id.optional(),
  traceparent: z
    .string()
    .regex(TRACEPARENT, TRACEPARENT_RULE)
    .optional()
    .describe('W3C; the request’s own header unless given'),
  policy: policy
    .optional()
    .describe('the one its worker has announced unless given; every word left out has its default'),
  requestId,
})

export const newJobQuery = membersOnly({
  wait: z
    .union([z.literal(''), z.coerce.number().int().min(0).max(300_000)])
    .transform((value) => (value === '' ? 60_000 : value))
    .optional()
    .describe('milliseconds: answer with the result when it has ended, else 202 after so long; 60000 if only named'),
})

/** Checked one by one against `newJob`, whose words it documents: one bad item never fails its neighbours. */
export const newJobs = membersOnly({
  jobs: listOf(z.unknown().meta(described(newJob)), { min: 1, most: AT_ONCE.jobs }),
  atomic: z.boolean().default(false).describe('all of them, or none where one is refused'),
})

const owner = { fence: id, expectedRev, requestId }
const asked = { expectedRev, requestId }
const worked = { executionMs: durationMs.optional() }
const began = { startedAt: time.optional() }
/** By which rule of which policy a job is let in or turned away; a person has none unless they say so. */
const verdict = {
  rule: name.default(BY_HAND.rule).describe('the rule that decided'),
  policyHash: text(LENGTHS.id).default(BY_HAND.policyHash).describe('hash of the policies it is among'),
}
const progress = membersOnly({
  done: z.number(),
  total: z.number().optional(),
  message: z.string().max(LENGTHS.entry).optional(),
  etaAt: time.optional(),
})

/** One schema per word about a job: the body of its own route, and with `id` and `command` an item of a batch. */
export const WORDS = {
  start: membersOnly(owner),
  heartbeat: membersOnly(owner),
  progress: membersOnly({ ...owner, progress: progress.optional(), counters: numbers.optional() }),
  checkpoint: membersOnly({ ...owner, state: anything }),
  record: membersOnly({
    ...owner,
    step: membersOnly({ name, value: anything.optional(), compensate: z.boolean().default(false) }).optional(),
    undone: name.optional().describe('a step whose compensation has run'),
    memo: anything.optional().describe('what is kept under an undone step from now on'),
    artifact: membersOnly({ name, ptr: text(LENGTHS.pointer) }).optional(),
    note: membersOnly({ kind: z.enum(NOTE_KINDS), name })
      .optional()
      .describe('on a plan, a node or a tool; what it says is the value of the step'),
    spend: membersOnly({ amount: z.number().min(LIMITS.amount.min).max(LIMITS.amount.max), key: key.optional() })
      .optional()
      .describe('of the budgets of its limit keys, or of one'),
  }),
  complete: membersOnly({
    ...owner,
    ...worked,
    ...began,
    result: anything.optional(),
    resultPtr: text(LENGTHS.pointer).optional(),
    stats: numbers.optional(),
  }),
  fail: membersOnly({
    ...owner,
    ...worked,
    ...began,
    code: name,
    message: z.string().max(LENGTHS.message).default(''),
    class: z.enum(ERROR_CLASSES).optional(),
    stage: z.enum(STAGES).optional(),
    context: texts(SIZES.context).optional(),
    retryAfter: duration
      .optional()
      .describe('when to try again, instead of the backoff curve; up to a tenth later, at most a day'),
    key: key.optional().describe('which of its limit keys it tells of'),
    stack: z.string().max(65_536).optional(),
    details: anything.optional().describe('instead of `stack`, JSON of your own; kept exactly as sent'),
  }),
  wait: membersOnly({
    ...owner,
    ...worked,
    name,
    key: key.optional(),
    timeout: duration.optional(),
    onTimeout: z.enum(['resume', 'timed_out']).optional(),
    memo: key.optional(),
  }),
  release: membersOnly({
    ...owner,
    ...worked,
    reason: z
      .enum(RELEASE_REASONS)
      .default('handed_back')
      .describe('`unknown_type`: from now on the job is for who `serves` its type'),
    runAt: time.optional(),
    delay: duration.optional(),
  }),
  compensated: membersOnly({ ...owner, ...worked }),
  admit: membersOnly({ ...asked, ...verdict }),
  deny: membersOnly({ ...asked, ...verdict, reason: z.string().max(LENGTHS.message).optional() }),
  approve: membersOnly({
    ...asked,
    policyHash: text(LENGTHS.id).describe('`approval.policyHash` of the record: the policy that asks'),
    jobHash: text(LENGTHS.id).describe('`approval.jobHash` of the record: what it asks about'),
    reason: z.string().max(LENGTHS.message).optional(),
  }),
  cancel: membersOnly({
    ...asked,
    mode: z.enum(['soft', 'hard']).default('soft'),
    reason: z.string().max(LENGTHS.message).optional(),
    fence: id.optional(),
    next: z.literal('drop').optional().describe('what duplicates have brought goes with it'),
  }),
  signal: membersOnly({ ...asked, name, key: key.optional(), payload: anything.optional() }),
  reopen: membersOnly({ ...asked, runAt: time.optional(), reason: z.string().max(LENGTHS.message).optional() }),
  reschedule: membersOnly({
    ...asked,
    runAt: time.optional(),
    delay: duration.optional(),
    priority: priority.optional(),
  }),
  deadletter: membersOnly({
    ...asked,
    reason: z.enum(DEAD_LETTER_REASONS),
    stage: z.enum(STAGES).default('exec'),
    message: z.string().max(LENGTHS.message).optional(),
    fence: id.optional(),
  }),
} as const

export type WordName = keyof typeof WORDS
export const OWNER_WORDS = [
  'start',
  'heartbeat',
  'progress',
  'checkpoint',
  'record',
  'complete',
  'fail',
  'wait',
  'release',
  'compensated',
] as const satisfies readonly WordName[]
export const OPERATOR_WORDS = [
  'admit',
  'deny',
  'approve',
  'cancel',
  'signal',
  'reopen',
  'reschedule',
  'deadletter',
] as const satisfies readonly WordName[]

/** Checked word by word against `WORDS`: one bad item never fails its neighbours. */
export const transitions = membersOnly({
  transitions: listOf(z.looseObject({ id: jobId, command: z.enum(Object.keys(WORDS) as [WordName, ...WordName[]]) }), {
    min: 1,
    most: AT_ONCE.words,
  }),
})

/** What each word keeps exactly as it was sent. */
export const KEPT_BY_WORDS: Readonly<Partial<Record<WordName, Exclude<Opaque, true>>>> = {
  checkpoint: { state: true },
  record: { step: { value: true }, memo: true },
  complete: { result: true },
  fail: { details: true },
  signal: { payload: true },
}
export const KEPT_BY_JOBS = { input: true } as const
/** In a batch nobody knows yet which word an item is: whatever any of them keeps is cut out. */
export const KEPT_BY_ANY_WORD: Exclude<Opaque, true> = Object.assign({}, ...Object.values(KEPT_BY_WORDS))

const capabilities = listOf(name, { most: SIZES.capabilities })

export const claims = membersOnly({
  workerId: workerName,
  queues: listOf(queueName, { most: AT_ONCE.queues }).describe('none: what this requestId was given, and nothing new'),
  /** Lanes in the order wanted, instead of every priority of every queue. */
  lanes: listOf(
    membersOnly({ queue: queueName, priority: z.int().min(COUNTS.priority.min).max(COUNTS.priority.max) }),
    {
      most: AT_ONCE.lanes,
    },
  ).optional(),
  serves: listOf(name, { most: AT_ONCE.types })
    .optional()
    .describe(
      'types it has handlers for: what others handed back as `unknown_type` is for who serves it; all unless given',
    ),
  pool: name.optional().describe('the pool it works in: what is routed there is for it, and for nobody outside'),
  capabilities: capabilities.optional().describe('what it can do: what requires more is not for it'),
  limit: z.int().min(1).max(AT_ONCE.jobs).default(1),
  limited: z
    .int()
    .min(0)
    .max(AT_ONCE.jobs)
    .optional()
    .describe('how many of them may have limit keys: as many as are begun at once; any unless given'),
  waitMs: z
    .int()
    .min(0)
    .max(60_000)
    .default(0)
    .describe('long poll: answer when there is something, or after this long'),
  priorities: listOf(z.int().min(COUNTS.priority.min).max(COUNTS.priority.max), {
    most: COUNTS.priority.max + 1,
  }).optional(),
  requestId: text(200).optional().describe('this call; repeated by the same token, it gets the jobs it got'),
  compact: z
    .boolean()
    .default(false)
    .describe('inputs as text, and each policy once, in `policies`; a job’s `policy` is the place of its own there'),
})

/** How jobs of a type are queued and judged. */
export const announcement = membersOnly({
  queue: queueName,
  policy: policy.optional(),
  inputSchema: anything.optional().describe('what may be handed in, as JSON Schema: the dashboard makes a form of it'),
})
export const KEPT_BY_ANNOUNCEMENTS = { inputSchema: true } as const

/** Parameters that stand in paths. */
export const PARAMETERS: Readonly<Record<string, z.ZodType<string>>> = {
  id: jobId,
  queue: listed,
  type: listed,
  worker: workerName,
  token: id,
  schedule: listed,
  operation: jobId,
  key,
}
export const worker = membersOnly({
  pool: name.optional().describe('the pool it works in'),
  capabilities: capabilities.optional().describe('what it can do'),
  queues: listOf(name, { most: AT_ONCE.queues }).default([]),
  types: listOf(name, { most: AT_ONCE.types })
    .optional()
    .describe('those it has handlers for; who does not tell may know any'),
  concurrency: z.int().min(0).max(1_000_000).default(0),
  running: z.int().min(0).max(1_000_000).default(0),
  host: z.string().max(LENGTHS.id).optional(),
  pid: z.int().min(0).optional(),
  version: z.string().max(LENGTHS.id).optional(),
})
