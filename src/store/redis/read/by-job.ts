import type { Event } from '../../../core/event.ts'
import type { EventPage, EventQuery } from '../../store.ts'
import { eventsOf } from '../job/decode.ts'
import { idDigits } from '../job/id-text.ts'
import { nothing } from './page.ts'
import { type JobLog, type ReadParts, readLogs } from './read-log.ts'

type Query = Extract<EventQuery, { by: 'job' }>

/** Stretches read at most for a page. */
const STRETCHES = 200

export async function byJob(parts: ReadParts, { id, afterRev, limit }: Query): Promise<EventPage> {
  const most = Math.min(limit, STRETCHES)
  const { now, purged, logs } = await readLogs(parts, [{ id: idDigits(id) ?? '', afterRev, most }])
  const [log] = logs
  if (log === undefined) return nothing(now, purged)
  const { events, isComplete } = eventsAfter(log, afterRev, most)
  const shown = events.slice(0, limit)
  const isEnd = isComplete && shown.length === events.length
  return { ...nothing(now, purged), events: shown, cursor: isEnd ? undefined : String(shown.at(-1)?.rev ?? afterRev) }
}

/** The events after a revision, as far as stretches were read; what its own text tells comes after all of them. */
export function eventsAfter(
  { stored, stretches }: JobLog,
  afterRev: number,
  most: number,
): { readonly events: readonly Event[]; readonly isComplete: boolean } {
  const isComplete = stretches.length < most
  const reach = isComplete ? Number.POSITIVE_INFINITY : (stretches.at(-1)?.rev ?? afterRev)
  const events = eventsOf(stored, stretches).filter(({ rev }) => rev > afterRev && rev <= reach)
  return { events, isComplete }
}
