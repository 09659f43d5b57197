import type { Job } from '../core/job.ts'
import type { Refusal } from '../core/refusal.ts'
import { refuse } from '../core/refuse.ts'

/** A body as `aesGcm` writes it: with which key, and what. */
export const SEALED = /^"pawl:1:([A-Za-z0-9_-]{1,64}):([A-Za-z0-9_-]+)"$/

/** Whether a text is sealed, whichever key it wants. */
export const isSealed = (text: string | undefined): boolean => text !== undefined && SEALED.test(text)

/** Why a job cannot be enqueued anew here: a sealed input is bound to its job, and read by those who have the keys. */
export function sealedHere(job: Job): Refusal {
  const rule = 'is encrypted, and this process has no keys: enqueue it anew where they are'
  return refuse('INVALID', { job, violations: [{ field: 'input', rule }], message: `Its input ${rule}.` })
}
