import type { Time } from '../../../core/job.ts'
import { EMPTY_PAGE } from '../../empty-page.ts'
import type { EventPage } from '../../store.ts'

export const nothing = (now: Time, purged: number): EventPage => ({
  now,
  ...EMPTY_PAGE,
  purged,
})
