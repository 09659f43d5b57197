import type { Event } from '../core/event.ts'
import type { JobId } from '../core/job.ts'
import type { Store } from '../store/store.ts'

const PAGE = 1_000

/** A job's whole log. */
export async function logOf(store: Pick<Store, 'events'>, id: JobId): Promise<readonly Event[]> {
  const all: Event[] = []
  for (let afterRev = 0; ; ) {
    const { events, cursor } = await store.events({ by: 'job', id, afterRev, limit: PAGE })
    all.push(...events)
    if (cursor === undefined) return all
    afterRev = Number(cursor)
  }
}
