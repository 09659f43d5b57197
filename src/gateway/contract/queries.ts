/** What stands behind the question mark: each route's questions, within their bounds. */
import { z } from 'zod'
import { READING_NAMES } from '../../core/dialects/registry.ts'
import { isId } from '../../core/id.ts'
import { STATES } from '../../core/job.ts'
import { AT_ONCE, LENGTHS, SIZES } from '../../core/limits.ts'
import { isPlainText, PLAIN_RULE } from '../../core/name.ts'
import { SORTS } from '../../core/search.ts'
import { listOf, membersOnly } from './collections.ts'
import { id, jobId, key, name, text, time } from './fields.ts'

const list = <T extends string>(allowed: readonly [T, ...T[]]) =>
  z
    .string()
    .transform((value) => value.split(',').map((word) => (word === 'canceled' ? 'cancelled' : word)))
    .pipe(listOf(z.enum(allowed), { most: AT_ONCE.names }))
const names = z
  .string()
  .transform((value) => value.split(','))
  .pipe(listOf(name, { most: AT_ONCE.names }))
const listedId = id.refine(isId, 'must be an id of ours: `pj_…`')
const limit = (most: number) => z.coerce.number().int().min(1).max(most)
const when = time.transform((value) => Date.parse(value))

export const dialect = z.enum(['000', ...READING_NAMES])
const dialectQuery = { dialect: dialect.optional() }

export const jobsQuery = membersOnly({
  q: z
    .string()
    .max(2_000)
    .refine(isPlainText, PLAIN_RULE)
    .optional()
    .describe(
      'a search in one line, such as `state:failed code:E_429 input.url:*example*`; besides what else is asked',
    ),
  ids: z
    .string()
    .transform((value) => value.split(','))
    .pipe(listOf(listedId, { most: AT_ONCE.names }))
    .optional()
    .describe('these jobs and no others, as they are now; `gone` names those that do not match what else is asked'),
  state: list(STATES).optional(),
  queue: names.optional(),
  type: names.optional(),
  label: z
    .union([z.string(), listOf(z.string(), { most: SIZES.labels })])
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
  sort: z
    .enum(SORTS)
    .default('created')
    .describe(
      'by `changed` and `due` some thousands of those that match are read and put in order, `read` says how many; the next follow by cursor',
    ),
  policy: z.literal('true').optional(),
  explain: z
    .literal('true')
    .optional()
    .describe(
      'with each job one phrase on what it is about, as `now`, and how many failures it may have, as `maxAttempts`',
    ),
  limit: limit(500).default(50),
  cursor: z.string().max(1_000).optional(),
  ...dialectQuery,
})

const bodyName = text(LENGTHS.key)
export const jobQuery = membersOnly({
  bodies: z.string().max(1_000).optional().describe('names, separated by commas; none: the record alone'),
  body: z
    .union([bodyName, listOf(bodyName, { most: AT_ONCE.names })])
    .optional()
    .describe('one name, exactly; may be repeated'),
  policy: z.literal('true').optional(),
  ...dialectQuery,
})
/** Query of a history whose path names the document. */
export const historyQuery = membersOnly({
  afterRev: z.coerce.number().int().min(0).default(0),
  limit: limit(1_000).default(200),
})
export const jobEventsQuery = membersOnly({ ...historyQuery.shape, ...dialectQuery })
export const resultQuery = membersOnly({ waitMs: z.coerce.number().int().min(0).max(60_000).default(0) })
export const deadLettersQuery = membersOnly({
  failed: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      'list failed jobs besides; so it is unless said where the words are those of 000B. What fails bound to 000B is a dead letter anyway',
    ),
  limit: limit(500).default(50),
  cursor: z.string().max(1_000).optional(),
  ...dialectQuery,
})
/** The newest so many are read, and told apart. */
export const causesQuery = membersOnly({
  failed: z.enum(['true', 'false']).optional().describe('read failed jobs besides'),
  limit: limit(1_000).default(500),
  cursor: z.string().max(1_000).optional(),
})
export const trafficQuery = membersOnly({
  window: z.enum(['15m', '1h', '24h', '7d']).default('1h'),
  jobs: z.enum(['true', 'false']).optional().describe('with the last ten jobs of each change'),
})
export const eventsQuery = membersOnly({
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
/** A page of names, in their order. */
export const pageQuery = membersOnly({ limit: limit(500).default(200), cursor: z.string().max(1_000).optional() })
export const dialectOnly = membersOnly(dialectQuery)
export const nothing = membersOnly({})
