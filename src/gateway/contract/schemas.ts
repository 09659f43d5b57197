/** What comes in over HTTP, as schemas: they validate, they document, and they are the client's types. */
import { z } from 'zod'
import { DURATION, parseDuration } from '../../core/duration.ts'
import { DEAD_LETTER_REASONS, STAGES, STATES } from '../../core/job.ts'
import { COUNTS, LENGTHS, MAX_DURATION_MS, SIZES } from '../../core/limits.ts'
import { COMMA_RULE, isPlain, PLAIN_RULE, SEGMENT_RULE } from '../../core/name.ts'
import { DIALECT_NAMES, ERROR_CLASSES } from '../../core/policy.ts'

export const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

const text = (max: number) => z.string().min(1).max(max).refine(isPlain, PLAIN_RULE)
const name = text(LENGTHS.name)
const key = text(LENGTHS.key)
const id = text(LENGTHS.id)
/** Of something that has a path. */
const named = id.refine((value) => value !== '.' && value !== '..', SEGMENT_RULE)
/** Of a queue or a type. */
const listed = name
  .refine((value) => value !== '.' && value !== '..', SEGMENT_RULE)
  .refine((value) => !value.includes(','), COMMA_RULE)
const durationMs = z.number().min(0).max(MAX_DURATION_MS)
const duration = z
  .union([durationMs, z.string().regex(DURATION)])
  .refine((value) => (parseDuration(value) ?? 0) <= MAX_DURATION_MS, `at most ${MAX_DURATION_MS} ms`)
  .describe("milliseconds, or '30s', '4m59s', '2h', '1d12h'")
const time = z.iso.datetime().describe('ISO 8601, UTC')
const table = <V extends z.ZodType>(value: V, most: number) =>
  z
    .record(name, value)
    .refine((entries) => Object.keys(entries).length <= most, `at most ${most} entries`)
    .and(z.custom((entries) => !Object.hasOwn(Object(entries), '__proto__'), 'must not have __proto__'))
const numbers = table(z.number(), SIZES.counters)
const words = (most: number) => table(z.string().max(LENGTHS.entry), most)
const anything = z.unknown().describe('JSON of your own; kept exactly as sent')
const expectedRev = z.int().min(0).optional().describe('refused unless the record is still at this revision')
const requestId = id.optional().describe('this call; repeated, it gets the answer it got')

export const jobId = named.describe('a job id (`pj_…`), or the id its producer chose')

const curve = {
  base: duration.optional(),
  factor: z.number().optional(),
  max: duration.optional(),
  jitter: z.enum(['full', 'equal', 'none']).optional(),
}

export const policy = z
  .strictObject({
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
    retry: z
      .strictObject({
        ...curve,
        attempts: z.int().optional(),
        stalls: z.int().optional(),
        budget: z.enum(['separate', 'shared']).optional(),
        throttled: z.strictObject(curve).optional(),
      })
      .optional(),
    errors: z.record(name, z.enum(ERROR_CLASSES)).optional(),
    onExhausted: z.enum(['failed', 'dead_letter']).optional(),
    onInvalid: z.enum(['failed', 'dead_letter']).optional(),
    onTimeout: z.enum(['fail', 'timed_out']).optional(),
    onStall: z.enum(['requeue', 'retry', 'timed_out']).optional(),
    onNotStarted: z.enum(['stalled', 'timed_out']).optional(),
    onWaitTimeout: z.enum(['resume', 'timed_out']).optional(),
    admission: z.boolean().optional(),
    idempotent: z.boolean().optional(),
    dedupeFor: z.union([z.enum(['live', 'forever']), duration]).optional(),
  })
  .describe('how the job is leased, retried and ended; every word has a default')

export const priority = z.union([
  z.int().min(COUNTS.priority.min).max(COUNTS.priority.max),
  z.enum(['critical', 'interactive', 'normal', 'batch']),
])

export const newJob = z.strictObject({
  type: listed,
  queue: listed.optional().describe('the one its worker has announced unless given, else `default`'),
  input: anything.optional(),
  id: named.optional().describe('your own id for the job; unique, works wherever an id does'),
  idempotencyKey: key.optional().describe('this creation, for 24 hours; the header `Idempotency-Key` says the same'),
  dedupeKey: key.optional(),
  priority: priority.optional(),
  delay: duration.optional(),
  runAt: time.optional(),
  contextPtr: text(LENGTHS.pointer).optional().describe('opaque, never fetched'),
  topic: key.optional(),
  adapterId: key.optional(),
  env: words(SIZES.env).optional(),
  labels: words(SIZES.labels).optional(),
  parentId: jobId.optional(),
  workflowId: key.optional(),
  stepIndex: z.int().min(0).optional(),
  correlationId: id.optional(),
  traceparent: z.string().regex(TRACEPARENT).optional().describe('W3C; the request’s own header unless given'),
  policy: policy
    .optional()
    .describe('the one its worker has announced unless given; every word left out has its default'),
  requestId,
})

const { $schema: _, ...newJobSchema } = z.toJSONSchema(newJob, { io: 'input', unrepresentable: 'any' })
/** Items of one request. */
export const BATCH_MAX = 1_000
/** Checked one by one against `newJob`, whose words it documents: one bad item never fails its neighbours. */
export const newJobs = z.strictObject({
  jobs: z.array(z.unknown().meta(newJobSchema)).min(1).max(BATCH_MAX),
  atomic: z.boolean().default(false).describe('all of them, or none where one is refused'),
})

const owner = { fence: id, expectedRev, requestId }
const asked = { expectedRev, requestId }
const worked = { executionMs: durationMs.optional() }
const began = { startedAt: time.optional() }
const progress = z.strictObject({
  done: z.number(),
  total: z.number().optional(),
  message: z.string().max(LENGTHS.entry).optional(),
  etaAt: time.optional(),
})

/** One schema per word about a job: the body of its own route, and with `id` and `command` an item of a batch. */
export const WORDS = {
  start: z.strictObject(owner),
  heartbeat: z.strictObject(owner),
  progress: z.strictObject({ ...owner, progress: progress.optional(), counters: numbers.optional() }),
  checkpoint: z.strictObject({ ...owner, state: anything }),
  record: z.strictObject({
    ...owner,
    step: z.strictObject({ name, value: anything.optional(), compensate: z.boolean().default(false) }).optional(),
    undone: name.optional().describe('a step whose compensation has run'),
    memo: anything.optional().describe('what is kept under an undone step from now on'),
    artifact: z.strictObject({ name, ptr: text(LENGTHS.pointer) }).optional(),
  }),
  complete: z.strictObject({
    ...owner,
    ...worked,
    ...began,
    result: anything.optional(),
    resultPtr: text(LENGTHS.pointer).optional(),
    stats: numbers.optional(),
  }),
  fail: z.strictObject({
    ...owner,
    ...worked,
    ...began,
    code: name,
    message: z.string().max(LENGTHS.message).default(''),
    class: z.enum(ERROR_CLASSES).optional(),
    stage: z.enum(STAGES).optional(),
    context: words(SIZES.context).optional(),
    retryAfter: duration
      .optional()
      .describe('when to try again, instead of the backoff curve; up to a tenth later, at most a day'),
    stack: z.string().max(65_536).optional(),
    details: anything.optional().describe('instead of `stack`, JSON of your own; kept exactly as sent'),
  }),
  wait: z.strictObject({
    ...owner,
    ...worked,
    name,
    key: key.optional(),
    timeout: duration.optional(),
    onTimeout: z.enum(['resume', 'timed_out']).optional(),
    memo: key.optional(),
  }),
  release: z.strictObject({
    ...owner,
    ...worked,
    reason: z.enum(['shutdown', 'handed_back', 'snoozed']).default('handed_back'),
    runAt: time.optional(),
    delay: duration.optional(),
  }),
  compensated: z.strictObject({ ...owner, ...worked }),
  cancel: z.strictObject({
    ...asked,
    mode: z.enum(['soft', 'hard']).default('soft'),
    reason: z.string().max(LENGTHS.message).optional(),
    fence: id.optional(),
  }),
  signal: z.strictObject({ ...asked, name, key: key.optional(), payload: anything.optional() }),
  reopen: z.strictObject({ ...asked, runAt: time.optional(), reason: z.string().max(LENGTHS.message).optional() }),
  reschedule: z.strictObject({
    ...asked,
    runAt: time.optional(),
    delay: duration.optional(),
    priority: priority.optional(),
  }),
  deadletter: z.strictObject({
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
  'cancel',
  'signal',
  'reopen',
  'reschedule',
  'deadletter',
] as const satisfies readonly WordName[]

/** Checked word by word against `WORDS`: one bad item never fails its neighbours. */
export const transitions = z.strictObject({
  transitions: z
    .array(z.looseObject({ id: jobId, command: z.enum(Object.keys(WORDS) as [WordName, ...WordName[]]) }))
    .min(1)
    .max(1_000),
})

export const claims = z.strictObject({
  workerId: named,
  queues: z.array(listed).min(1).max(100),
  /** In the order wanted; instead of every priority of every queue. */
  lanes: z
    .array(z.strictObject({ queue: listed, priority: z.int().min(COUNTS.priority.min).max(COUNTS.priority.max) }))
    .max(1_000)
    .optional(),
  limit: z.int().min(1).max(1_000).default(1),
  waitMs: z
    .int()
    .min(0)
    .max(60_000)
    .default(0)
    .describe('long poll: answer when there is something, or after this long'),
  priorities: z
    .array(z.int().min(COUNTS.priority.min).max(COUNTS.priority.max))
    .max(COUNTS.priority.max + 1)
    .optional(),
  requestId: text(200).optional().describe('this call; repeated by the same token, it gets the jobs it got'),
})

const list = <T extends string>(allowed: readonly [T, ...T[]]) =>
  z
    .string()
    .transform((value) => value.split(',').map((word) => (word === 'canceled' ? 'cancelled' : word)))
    .pipe(z.array(z.enum(allowed)))
const names = z
  .string()
  .transform((value) => value.split(','))
  .pipe(z.array(name).max(100))
const limit = (most: number) => z.coerce.number().int().min(1).max(most)
const when = time.transform((value) => Date.parse(value))

export const dialect = z.enum(['000', ...DIALECT_NAMES])
const dialectQuery = { dialect: dialect.optional() }

export const jobsQuery = z.strictObject({
  state: list(STATES).optional(),
  queue: names.optional(),
  type: names.optional(),
  label: z
    .union([z.string(), z.array(z.string())])
    .optional()
    .describe('name=value, may be repeated'),
  correlationId: id.optional(),
  parentId: jobId.optional(),
  workflowId: key.optional(),
  dedupeKey: key.optional(),
  code: name.optional(),
  createdFrom: when.optional(),
  createdTo: when.optional(),
  order: z.enum(['newest', 'oldest']).default('newest'),
  policy: z.literal('true').optional(),
  limit: limit(500).default(50),
  cursor: z.string().max(1_000).optional(),
  ...dialectQuery,
})

const bodyName = text(LENGTHS.key)
export const jobQuery = z.strictObject({
  bodies: z.string().max(1_000).optional().describe('names, separated by commas'),
  body: z
    .union([bodyName, z.array(bodyName).max(100)])
    .optional()
    .describe('one name, exactly; may be repeated'),
  policy: z.literal('true').optional(),
  ...dialectQuery,
})
export const jobEventsQuery = z.strictObject({
  afterRev: z.coerce.number().int().min(0).default(0),
  limit: limit(1_000).default(200),
  ...dialectQuery,
})
export const resultQuery = z.strictObject({ waitMs: z.coerce.number().int().min(0).max(60_000).default(0) })
export const deadLettersQuery = z.strictObject({
  failed: z.enum(['true', 'false']).default('false').describe('list failed jobs besides'),
  limit: limit(500).default(50),
  cursor: z.string().max(1_000).optional(),
  ...dialectQuery,
})
export const eventsQuery = z.strictObject({
  type: names.optional(),
  queue: names.optional(),
  jobType: names.optional(),
  jobId: jobId.optional(),
  correlationId: id.optional(),
  from: when.optional(),
  to: when.optional(),
  limit: limit(1_000).default(200),
  cursor: z.string().max(1_000).optional(),
  last_event_id: z.string().max(100).optional(),
  after: z.string().max(100).optional().describe('JSON: the feed after this position'),
  ...dialectQuery,
})
/** How jobs of a type are queued and judged. */
export const announcement = z.strictObject({ queue: listed, policy: policy.optional() })

/** What stands in paths. */
export const PARAMETERS: Readonly<Record<string, z.ZodType<string>>> = {
  id: jobId,
  queue: listed,
  type: listed,
  worker: named,
  token: id,
}
export const dialectOnly = z.strictObject(dialectQuery)
export const nothing = z.strictObject({})

export const worker = z.strictObject({
  queues: z.array(name).max(100).default([]),
  concurrency: z.int().min(0).max(1_000_000).default(0),
  running: z.int().min(0).max(1_000_000).default(0),
  host: z.string().max(LENGTHS.id).optional(),
  pid: z.int().min(0).optional(),
  version: z.string().max(LENGTHS.id).optional(),
})

export const SCOPES = ['producer', 'worker', 'operator', 'viewer', 'admin'] as const
export const newToken = z
  .strictObject({
    name: name,
    scope: z.enum(SCOPES),
    queues: z.array(name).max(100).optional().describe('for workers: the only queues they may touch'),
    tenant: name.optional().describe('of an admin’s own tenant unless given'),
    expiresIn: duration.optional(),
  })
  .refine(({ scope, queues }) => queues === undefined || scope === 'worker', {
    path: ['queues'],
    message: 'only a worker’s token can be bound to queues',
  })
