/** Lists of jobs, as they are asked for. */
import { ask, queryOf } from './http.ts'
import type { JobsAnswer, TheseAnswer } from './wire.ts'

const PAGE = 100

/** `sort`: in which order; by their numbers unless it is given. */
export const jobsPage = (
  q: string,
  cursor: string | undefined,
  signal?: AbortSignal,
  sort?: string,
): Promise<JobsAnswer> =>
  ask<JobsAnswer>(
    `/v1/jobs${queryOf({ q, explain: 'true', limit: PAGE, cursor, sort })}`,
    signal === undefined ? {} : { signal },
  )

/** These, as they are now. */
export const theseJobs = (ids: readonly string[], q: string, signal: AbortSignal): Promise<TheseAnswer> =>
  ask<TheseAnswer>(`/v1/jobs${queryOf({ ids: ids.join(','), q, explain: 'true' })}`, { signal })

/** What a query would find first now; `createdFrom`: and that has come since. */
export const newestIds = async (q: string, createdFrom: string | undefined, signal: AbortSignal) =>
  (await ask<JobsAnswer>(`/v1/jobs${queryOf({ q, limit: PAGE, createdFrom })}`, { signal })).jobs.map(({ id }) => id)
