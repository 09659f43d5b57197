/** Limit keys as people look at them. */
import { decodeKey, decodeKeyLog, limitIn } from '../core/flow/document.ts'
import { keyStateAt } from '../core/flow/key.ts'
import type { Time } from '../core/job.ts'
import type { KeyView, Store } from '../store/store.ts'
import type { LimitPage, LimitQuery, LimitStatus } from './engine.ts'

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
    since: record.since === 0 ? undefined : record.since,
    until: record.state === 'broken' ? record.until : undefined,
    spent: count.spent,
    cause: record.cause,
    log: decodeKeyLog(log),
  }
}
