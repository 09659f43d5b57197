/** Small documents with revisions, beside the jobs (S12). */
import type { Time } from '../core/job.ts'

/**
 * The key of a queue's document in collection `queue`. Its text is `{"paused":true|false,…}`, the only document a
 * store reads: while `paused` is true, `claim` takes nothing from that queue.
 */
export const queueKey = (tenant: string, queue: string): string => JSON.stringify([tenant, queue])

/**
 * Small documents: queues (`{ paused }`), workers, tokens, schedules, id blocks, job types as workers announced them, the
 * kinds that came over HTTP, policies of tenants, steps of the clock, what was done to the installation itself, notches of upkeep, and how much went on.
 */
export type SettingCollection =
  | 'queue'
  | 'worker'
  | 'token'
  | 'schedule'
  | 'ids'
  | 'idempotency'
  | 'type'
  | 'kind'
  | 'policy'
  | 'clock'
  | 'audit'
  | 'duty'
  | 'traffic'

export type SettingOperation =
  | { readonly op: 'get'; readonly collection: SettingCollection; readonly key: string }
  | { readonly op: 'list'; readonly collection: SettingCollection; readonly after: string; readonly limit: number }
  /** `rev: 0` creates; another rev replaces exactly that one; `undefined` writes whatever is there. */
  | {
      readonly op: 'put'
      readonly collection: SettingCollection
      readonly key: string
      readonly text: string
      readonly rev: number | undefined
    }
  | {
      readonly op: 'remove'
      readonly collection: SettingCollection
      readonly key: string
      readonly rev: number | undefined
    }

export interface Setting {
  readonly key: string
  readonly text: string
  readonly rev: number
  readonly updatedAt: Time
}

export interface SettingAnswer {
  readonly now: Time
  /** `conflict`: `settings` holds what is there instead. */
  readonly status: 'ok' | 'conflict'
  readonly settings: readonly Setting[]
}
