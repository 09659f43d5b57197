import type { JobPage, JobQuery, Store } from '../store/store.ts'

/**
 * A page with something on it, or the end. A store looks at so many rows and no more, and where few of them match a page
 * may be empty and go on: a caller who asks for jobs wants to see some.
 */
export async function findSome(engine: Pick<Store, 'find'>, query: JobQuery): Promise<JobPage> {
  let page = await engine.find(query)
  while (page.jobs.length === 0 && page.cursor !== undefined) {
    page = await engine.find({ ...query, cursor: page.cursor })
  }
  return page
}
