/**
 * The plain success of a job: nothing in it that anybody looks for by its type but the success itself. Stores keep such ends
 * out of what is looked through for other types.
 */
import type { Event, EventType } from '../../core/event.ts'

/** The types of events in a plain end, with the heartbeats that the end was the first to write down. */
const PLAIN: ReadonlySet<EventType> = new Set(['started', 'succeeded', 'heartbeat'])

export const isPlainType = (type: EventType): boolean => PLAIN.has(type)

export function isPlainEnd(events: readonly Event[]): boolean {
  if (events[events.length - 1]?.type !== 'succeeded') return false
  for (const { type } of events) if (type !== 'started' && type !== 'succeeded') return false
  return true
}
