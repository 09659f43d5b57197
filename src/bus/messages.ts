/** What comes in over the bus: the words of document 002 as HTTP has them, and what workers say besides. */
import { z } from 'zod'
import { AT_ONCE, LENGTHS, SIZES } from '../core/limits.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'
import { CAPS, type CapName, isCap } from '../gateway/caps.ts'
import { listOf, membersOnly } from '../gateway/contract/collections.ts'
import { cancelled, jobRequest, jobResult, TOPICS_MOST } from '../gateway/contract/document-002.ts'
import { jobId, name, queueName, workerName } from '../gateway/contract/fields.ts'
import { outlineOf } from '../gateway/contract/outline.ts'
import { BODY_BYTES } from '../gateway/contract/route.ts'
import { WORDS } from '../gateway/contract/schemas.ts'
import type { Objected } from '../gateway/problem.ts'

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
  pool: name.describe('the pool it works in: what is routed there is for it, and for nobody outside'),
  topics: listOf(queueName, { min: 1, most: TOPICS_MOST })
    .optional()
    .describe('whose jobs it takes; absent: of the topic that is called like its pool'),
  free: z.int().min(0).max(AT_ONCE.jobs).describe('jobs it could begin now'),
  capabilities: listOf(name, { most: SIZES.capabilities }).optional().describe('what it can do'),
  jobs: listOf(membersOnly({ job_id: jobId, fence }), { most: AT_ONCE.words })
    .default([])
    .describe('those it has begun: their leases are renewed'),
})

export type Result = z.output<typeof result>
export type Progress = z.output<typeof progress>
export type Heartbeat = z.output<typeof heartbeat>

/** What was not accepted, and is told so. */
export interface Refused {
  readonly ok: false
  readonly told: Told
}

export type Read<T> = { readonly ok: true; readonly value: T } | Refused

const VIOLATIONS_MOST = 20
/** As HTTP bounds what is read before anything is parsed. */
const OUTLINE = { depth: CAPS.bodyDepth.most, keys: CAPS.bodyKeys.most } as const

export function read<S extends z.ZodType>(
  schema: S,
  text: string,
  bytes: number = BODY_BYTES.words,
): Read<z.output<S>> {
  if (text.length > bytes) return invalid([{ field: 'message', rule: `must have at most ${bytes} bytes` }])
  const outline = outlineOf(text, undefined, OUTLINE)
  if (!outline.ok) return invalid([{ field: 'message', rule: outline.misfit }])
  const parsed = schema.safeParse(JSON.parse(outline.text))
  if (parsed.success) return { ok: true, value: parsed.data }
  return invalid(
    parsed.error.issues.slice(0, VIOLATIONS_MOST).map(({ path, message }) => ({
      field: ['message', ...path.map((part) => String(part).slice(0, LENGTHS.name))].join('.'),
      rule: message,
    })),
  )
}

export const invalid = (violations: Refusal['violations'], job_id?: string): Refused => ({
  ok: false,
  told: toldOf(refuse('INVALID', { command: undefined, violations }), job_id),
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
  /** The bound that was reached, by its name. */
  readonly cap?: CapName | undefined
  readonly most?: number | undefined
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

/** An objection of HTTP's, as it is told here. */
export function toldOfObjection({ problem }: Objected, job_id?: string): Told {
  const { code, detail, next, cap, most } = problem.body
  return {
    ok: false,
    job_id,
    code: String(code),
    message: String(detail),
    next: String(next),
    ...(typeof cap === 'string' && isCap(cap) && { cap, most: Number(most) }),
    retry_after_ms: problem.retryAfterMs,
  }
}
