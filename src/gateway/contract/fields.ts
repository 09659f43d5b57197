/** What the schemas of HTTP are made of: names, times, numbers and tables, within the bounds that core gives them. */
import { z } from 'zod'
import { DURATION, DURATION_RULE, parseDuration } from '../../core/duration.ts'
import { LENGTHS, MAX_DURATION_MS, SIZES } from '../../core/limits.ts'
import { COMMA_RULE, isPlainText, PLAIN_RULE, SEGMENT_RULE } from '../../core/name.ts'
import { isReserved, RESERVED_RULE } from '../../core/reserved.ts'
import { tableOf } from './collections.ts'

export const TRACEPARENT_RULE = 'must be a W3C traceparent: 00-<32 hex digits>-<16 hex digits>-<2 hex digits>'
export const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/

export const text = (max: number) => z.string().min(1).max(max).refine(isPlainText, PLAIN_RULE)
export const name = text(LENGTHS.name)
export const key = text(LENGTHS.key)
export const id = text(LENGTHS.id)
/** A name that stands in a path. */
const segment = (max: number) => text(max).refine((value) => value !== '.' && value !== '..', SEGMENT_RULE)
export const named = segment(LENGTHS.id)
export const workerName = segment(LENGTHS.worker)
/** The name of a queue or a type, which stands in lists. */
export const listed = segment(LENGTHS.name).refine((value) => !value.includes(','), COMMA_RULE)
/** A queue that jobs are put into and claimed from. */
export const queueName = listed.refine((value) => !isReserved(value), RESERVED_RULE)
export const durationMs = z.number().min(0).max(MAX_DURATION_MS)
export const duration = z
  .union([durationMs, z.string().regex(DURATION, DURATION_RULE)])
  .refine((value) => (parseDuration(value) ?? 0) <= MAX_DURATION_MS, `at most ${MAX_DURATION_MS} ms`)
  .describe("milliseconds, or '30s', '4m59s', '2h', '1d12h'")
export const time = z.iso.datetime().describe('ISO 8601, UTC')
export const numbers = tableOf(name, z.number(), SIZES.counters)
export const texts = (most: number) => tableOf(name, z.string().max(LENGTHS.entry), most)
export const anything = z.unknown().describe('JSON of your own; kept exactly as sent')
export const expectedRev = z.int().min(0).optional().describe('refused unless the record is still at this revision')
export const requestId = id.optional().describe('this call; repeated, it gets the answer it got')

export const jobId = named.describe('a job id (`pj_…`), or the id its producer chose')
