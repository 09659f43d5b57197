/** What somebody says about a schedule; the engine judges the pattern. */
import { z } from 'zod'
import { CATCH_UPS } from '../../core/schedule.ts'
import { membersOnly } from './collections.ts'
import { anything, duration, listed, queueName, text } from './fields.ts'
import { jobFlow } from './limit-schema.ts'
import { priority } from './schemas.ts'

export const schedule = membersOnly({
  cron: text(200).optional().describe('five fields, six with seconds first, or @daily; this or `every`'),
  every: duration.optional(),
  timeZone: text(100).optional().describe('UTC unless given'),
  catchUp: z.enum(CATCH_UPS).default('skip'),
  cap: z.int().min(1).max(10_000).optional(),
  jitter: duration.optional(),
  type: listed,
  queue: queueName.optional(),
  priority: priority.optional(),
  input: anything.optional(),
  flow: jobFlow.optional().describe('what lets its jobs in'),
  paused: z.boolean().optional(),
})

export const nextQuery = membersOnly({ count: z.coerce.number().int().min(1).max(100).default(5) })
