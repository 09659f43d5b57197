/** Which of the readers answers a question about events. */
import { unreachable } from '../../../core/assert.ts'
import type { EventPage, EventQuery } from '../../store.ts'
import { backlog, feedAfter, feedEnd, placeEntries, tallies } from '../feed/feed.ts'
import { keyViews } from '../flow/views.ts'
import { annotationsOf } from './annotations.ts'
import { eventsByCorrelation } from './by-correlation.ts'
import { eventsByType } from './by-type.ts'
import type { LoadParts } from './load.ts'
import { eventsOfJob } from './logs.ts'

export async function eventPage(parts: LoadParts, query: EventQuery): Promise<Partial<EventPage>> {
  switch (query.by) {
    case 'job':
      return eventsOfJob(parts, query.id, query.afterRev, query.limit)
    case 'annotation':
      return { annotations: await annotationsOf(parts, query.id) }
    case 'type':
      return eventsByType(parts, query)
    case 'correlation':
      return eventsByCorrelation(parts, query)
    case 'feed':
      await placeEntries(parts)
      return query.after === undefined
        ? { cursor: (await feedEnd(parts)).cursor }
        : feedAfter(parts, query.after, query.limit)
    case 'tally': {
      await placeEntries(parts, { patient: true })
      const { cursor } = await feedEnd(parts)
      return { tally: await tallies(parts, query), cursor }
    }
    case 'backlog':
      return { backlog: await backlog(parts, query.lanes) }
    case 'keys':
      return keyViews(parts, query)
    default:
      return unreachable(query)
  }
}
