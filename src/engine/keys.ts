import { isEnded, type Job, type Kind, type Time } from '../core/job.ts'
import type { Key } from '../store/store.ts'

/** How long a creation is remembered by its idempotency key. */
export const IDEMPOTENCY_MS = 24 * 60 * 60 * 1_000

const NONE: readonly Key[] = []

export interface KeyWords {
  readonly dedupeKey?: string | undefined
  readonly idempotencyKey?: string | undefined
  readonly requestId?: string | undefined
}

/** What a new job holds besides its id and its alias. */
export function keysOf(kind: Kind, words: KeyWords, now: Time): readonly Key[] {
  const { dedupeKey, idempotencyKey, requestId } = words
  if (dedupeKey === undefined && idempotencyKey === undefined && requestId === undefined) return NONE
  const keys: Key[] = []
  if (requestId !== undefined) keys.push({ purpose: 'idempotency', key: requestKey(requestId), until: undefined })
  if (idempotencyKey !== undefined) {
    keys.push({ purpose: 'idempotency', key: idempotencyKey, until: now + IDEMPOTENCY_MS })
  }
  if (dedupeKey !== undefined) keys.push(dedupe(kind, dedupeKey, now))
  return keys
}

/** What an ending gives up: a key that was held for as long as the job lives. */
export function givenUp(before: Job, after: Job): readonly Key[] {
  const { kind, dedupeKey } = after.spec
  if (dedupeKey === undefined || kind.policy.dedupe !== 'live' || isEnded(before) || !isEnded(after)) return NONE
  return [dedupe(kind, dedupeKey, after.updatedAt)]
}

/** What a reopening takes again. */
export function takenAgain(before: Job, after: Job): readonly Key[] {
  const { kind, dedupeKey } = after.spec
  if (dedupeKey === undefined || !isEnded(before) || isEnded(after)) return NONE
  return [dedupe(kind, dedupeKey, after.updatedAt)]
}

/** A type has no control characters: the pair reads back one way only. */
const dedupe = ({ type, policy }: Kind, dedupeKey: string, now: Time): Key => ({
  purpose: 'dedupe',
  key: `${type}\n${dedupeKey}`,
  until: typeof policy.dedupe === 'number' ? now + policy.dedupe : undefined,
})

/** A request id that the caller chose is remembered as long as the job; no idempotency key has a line break. */
const requestKey = (requestId: string): string => `request\n${requestId}`
