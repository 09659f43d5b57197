import type { Time } from '../../../core/job.ts'
import type { EventPage } from '../../store.ts'

export const nothing = (now: Time, purged: number): EventPage => ({
  now,
  events: [],
  annotations: [],
  feed: [],
  tally: [],
  backlog: [],
  purged,
  cursor: undefined,
})
