/** What comes in over the bus: the words of document 002 as HTTP has them, and what workers say besides. */
import { z } from 'zod'
import { AT_ONCE, LENGTHS } from '../core/limits.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import { listOf, membersOnly } from '../gateway/contract/collections.ts'
import { cancelled, jobRequest, jobResult } from '../gateway/contract/document-002.ts'
import { jobId, name, queueName, workerName } from '../gateway/contract/fields.ts'
import { outlineOf } from '../gateway/contract/outline.ts'
import { WORDS } from '../gateway/contract/schemas.ts'

const { fence } = WORDS.start.shape

/** Its id is its client's to choose: a message may come twice, and only by its id is it known to be the same. */
export const submission = membersOnly({ ...jobRequest.shape, job_id: jobId })

/** Without a fence it is late, whenever it comes. */
export const result = membersOnly({ ...jobResult.shape, job_id: jobId, worker_id: workerName, fence: fence.optional() })

export const cancellation = membersOnly({ ...cancelled.shape, job_id: jobId })

export const start = membersOnly({ job_id: jobId, worker_id: workerName, fence })

const { progress: done, counters } = WORDS.progress.shape
export const progress = membersOnly({ job_id: jobId, worker_id: workerName, fence, progress: done, counters })

export const heartbeat = membersOnly({
  worker_id: workerName,
  pool: queueName.describe('the pool whose dispatches it takes'),
  free: z.int().min(0).max(AT_ONCE.jobs).describe('jobs it could begin now'),
  capabilities: listOf(name, { most: AT_ONCE.names }).optional().describe('topics it can do; absent: all of its pool'),
  jobs: listOf(membersOnly({ job_id: jobId, fence }), { most: AT_ONCE.words })
    .default([])
    .describe('those it has begun: their leases are renewed'),
})

export type Submission = z.output<typeof submission>
export type Result = z.output<typeof result>
export type Progress = z.output<typeof progress>
export type Heartbeat = z.output<typeof heartbeat>

export type Read<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly refusal: Refusal }

/** As HTTP reads a body: bounded before anything is parsed. */
const OUTLINE = { depth: 16, keys: 10_000 } as const
const VIOLATIONS_MOST = 20

export function read<S extends z.ZodType>(schema: S, text: string): Read<z.output<S>> {
  const outline = outlineOf(text, undefined, OUTLINE)
  if (!outline.ok) return malformed('message', outline.misfit)
  const parsed = schema.safeParse(JSON.parse(outline.text))
  if (parsed.success) return { ok: true, value: parsed.data }
  const violations = parsed.error.issues.slice(0, VIOLATIONS_MOST).map(({ path, message }) => ({
    field: ['message', ...path.map((part) => String(part).slice(0, LENGTHS.name))].join('.'),
    rule: message,
  }))
  return { ok: false, refusal: refuse('INVALID', { command: undefined, violations }) }
}

const malformed = (field: string, rule: string): Read<never> => ({
  ok: false,
  refusal: refuse('INVALID', { command: undefined, violations: [{ field, rule }] }),
})

/** An answer, or what is told of a message that was not accepted. */
export interface Told {
  readonly ok: boolean
  readonly job_id?: string | undefined
  readonly code?: string | undefined
  readonly message?: string | undefined
  readonly next?: string | undefined
  readonly violations?: Refusal['violations'] | undefined
  readonly retry_after_ms?: number | undefined
}

export const toldOf = (refusal: Refusal, job_id?: string): Told => ({
  ok: false,
  job_id,
  code: refusal.code,
  message: refusal.message,
  next: refusal.next,
  ...(refusal.violations.length > 0 && { violations: refusal.violations }),
  retry_after_ms: refusal.retryAfterMs,
})
