/** Limit keys as people look at them. */
import { decodeKey, decodeKeyLog, limitIn } from '../core/flow/document.ts'
import type { KeyEvent } from '../core/flow/event.ts'
import { type KeyCause, type KeyState, keyStateAt, type Limit } from '../core/flow/key.ts'
import type { Time } from '../core/job.ts'
import type { KeyView, Store } from '../store/store.ts'

/** A limit key as it is now. */
export interface LimitStatus {
  readonly key: string
  readonly state: KeyState
  /** What is in force. */
  readonly limit: Limit
  /** What somebody set by hand. */
  readonly byHand: Limit | undefined
  /** What the job type says. */
  readonly declared: Limit | undefined
  /** How many jobs run under it, or have been let in. */
  readonly taken: number
  /** How many wait for it, counted up to 1,000. */
  readonly held: number
  /** How many at once at present; undefined: as the limit says. */
  readonly allowed: number | undefined
  readonly session: number
  /** Since when it is in this state; undefined: it never was in another. */
  readonly since: Time | undefined
  /** While it is broken: when one job is let in to find out. */
  readonly until: Time | undefined
  /** What was spent in the present window of its budget. */
  readonly spent: number
  readonly cause: KeyCause | undefined
  /** The last changes, the oldest first. */
  readonly log: readonly KeyEvent[]
}

export interface LimitPage {
  readonly limits: readonly LimitStatus[]
  /** Where to go on; absent at the end. */
  readonly cursor: string | undefined
}

export interface LimitQuery {
  readonly tenant: string
  readonly names?: readonly string[] | undefined
  /** Only keys that are in one of these states: the page may be short, and go on. */
  readonly states?: readonly KeyState[] | undefined
  readonly limit: number
  readonly cursor?: string | undefined
}

export async function limitsFrom(store: Pick<Store, 'events'>, { states, ...query }: LimitQuery): Promise<LimitPage> {
  const { now, keys = [], cursor } = await store.events({ by: 'keys', ...query })
  const all = keys.map((view) => statusOf(view, now))
  return { limits: states === undefined ? all : all.filter(({ state }) => states.includes(state)), cursor }
}

export function statusOf({ key, text, log, count, held }: KeyView, now: Time): LimitStatus {
  const document = decodeKey(key, text)
  const { record, byHand, declared } = document
  return {
    key,
    state: keyStateAt(record, now),
    limit: limitIn(document),
    byHand,
    declared,
    taken: count.taken,
    held,
    allowed: record.state === 'open' ? undefined : record.allowed,
    session: record.session,
    since: record.rev === 0 ? undefined : record.since,
    until: record.state === 'broken' ? record.until : undefined,
    spent: count.spent,
    cause: record.cause,
    log: decodeKeyLog(log),
  }
}
