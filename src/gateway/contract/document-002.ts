/** What comes in over HTTP in the words of document 002: its JobRequest, its JobResult, and the states it lets others set. */
import { z } from 'zod'
import { BY_HAND } from '../../core/command.ts'
import { RESULT_STATUSES } from '../../core/dialects/job-result.ts'
import { LENGTHS, SIZES } from '../../core/limits.ts'
import { listOf, membersOnly } from './collections.ts'
import { durationMs, id, key, name, named, queueName, text, texts, workerName } from './fields.ts'

const FENCE = 'what the dispatch came with: proof that the job is this worker’s'

/** Each is looked up: which queue its worker has announced. */
export const TOPICS_MOST = 50

export const jobRequest = membersOnly({
  job_id: named.optional().describe('yours, unique and immutable; one is made where none is given'),
  topic: queueName.describe('the pool: the queue that a worker has announced for it, else a queue of this name'),
  priority: z.enum(['interactive', 'batch', 'critical']).default('interactive'),
  context_ptr: text(LENGTHS.pointer).optional().describe('opaque, never fetched'),
  adapter_id: key.optional(),
  env: texts(SIZES.env).optional(),
  parent_job_id: named.optional(),
  workflow_id: key.optional(),
  step_index: z.int().min(0).optional(),
})

export const scheduled = membersOnly({
  rule: name.default(BY_HAND.rule).describe('the rule that decided'),
  policy_hash: text(LENGTHS.id).default(BY_HAND.policyHash).describe('hash of the policies it is among'),
})

export const denied = membersOnly({
  ...scheduled.shape,
  reason: z.string().max(LENGTHS.message).optional().describe('told as error_message'),
})

export const dispatches = membersOnly({
  worker_id: workerName,
  topics: listOf(queueName, { min: 1, most: TOPICS_MOST }),
  pool: name.optional().describe('the pool it works in: what is routed there is for it, and for nobody outside'),
  capabilities: listOf(name, { most: SIZES.capabilities }).optional().describe('what it can do'),
  limit: z.int().min(1).max(1_000).default(1),
  wait_ms: z.int().min(0).max(60_000).default(0).describe('answer when there is something, or after this long'),
})

export const running = membersOnly({ fence: id.describe(FENCE) })

export const jobResult = membersOnly({
  job_id: named.optional().describe('that of the request; the path says it already'),
  status: z.enum(RESULT_STATUSES),
  result_ptr: text(LENGTHS.pointer).optional().describe('opaque, never fetched'),
  worker_id: workerName.optional().describe('the one it was dispatched to is kept, whoever is named here'),
  execution_ms: durationMs.optional(),
  error_code: name.optional(),
  error_message: z.string().max(LENGTHS.message).optional(),
  fence: id.describe(FENCE),
})

export const cancelled = membersOnly({ reason: z.string().max(LENGTHS.message).optional() })
