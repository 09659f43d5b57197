import type { EventPage } from './store.ts'

/** What a page of events has where nothing was found: each question fills in its own part. */
export const EMPTY_PAGE: Omit<EventPage, 'now' | 'purged'> = {
  events: [],
  annotations: [],
  feed: [],
  tally: [],
  backlog: [],
  cursor: undefined,
}
