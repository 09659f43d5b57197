import type { Job, Time } from '../core/job.ts'
import { keyOf } from '../core/keys.ts'
import type { Key } from '../store/store.ts'

/** How long a creation is remembered by its idempotency key. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

export interface Requested {
  readonly idempotencyKey?: string | undefined
  readonly requestId?: string | undefined
}

const NONE: readonly Key[] = []

/** The keys that a new job holds besides its id and its alias. */
export function keysOf(job: Job, { idempotencyKey, requestId }: Requested, now: Time): readonly Key[] {
  const dedupe = keyOf(job)
  if (dedupe === undefined && idempotencyKey === undefined && requestId === undefined) return NONE
  const keys: Key[] = []
  if (requestId !== undefined) keys.push({ purpose: 'idempotency', key: requestKey(requestId), until: undefined })
  if (idempotencyKey !== undefined) {
    keys.push({ purpose: 'idempotency', key: idempotencyKey, until: now + IDEMPOTENCY_MS })
  }
  if (dedupe !== undefined) keys.push(dedupe)
  return keys
}

/** A request id that the caller chose is remembered as long as the job; no idempotency key has a line break. */
const requestKey = (requestId: string): string => `request\n${requestId}`
