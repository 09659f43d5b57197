/** Removes jobs by hand: those that have ended, with their events, bodies and keys. */
import { isEnded, type JobId } from '../core/job.ts'
import type { Change, Store } from '../store/store.ts'
import { notePurged } from './spent-by-purged.ts'

/** Of each, in order, whether it is gone: also where somebody else has removed it. */
export async function purged(
  store: Pick<Store, 'load' | 'commit' | 'settings'>,
  ids: readonly JobId[],
): Promise<readonly boolean[]> {
  const { items } = await store.load(ids.map((id) => ({ id })))
  const ended = items.flatMap((item) => (item !== undefined && isEnded(item.job) ? [item.job] : []))
  await notePurged(store, ended)
  const changes = ended.map((before): Change => ({ kind: 'purge', before }))
  const { verdicts } = changes.length === 0 ? { verdicts: [] } : await store.commit(changes)
  const gone = new Set(ended.filter((_, i) => verdicts[i]?.status === 'applied').map(({ id }) => id))
  return items.map((item) => item === undefined || gone.has(item.job.id))
}
