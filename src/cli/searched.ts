/** `pawl jobs ls <query>`: the grammar of `GET /v1/jobs?q=`, here as over HTTP. */
import { DEFAULT_TENANT, type Job } from '../core/job.ts'
import { parseSearch, type Sort, type Term } from '../core/search.ts'
import { isFound, narrowedBy } from '../engine/search.ts'
import { type Found, lookedInto } from '../gateway/handlers/inputs.ts'
import { ordered } from '../gateway/handlers/ordered.ts'
import type { Wanted } from '../gateway/handlers/paged.ts'
import type { Pawl } from '../library/pawl.ts'
import type { JobQuery } from '../store/store.ts'
import { Usage } from './exit.ts'
import { asked, isGateway, type Session } from './session.ts'

type Answer = Pick<Found, 'jobs' | 'cursor'> & Partial<Found>

interface Listed extends JobQuery {
  readonly sort: Sort
}

export async function searched(session: Session, pawl: Pawl, text: string, query: Listed): Promise<Answer> {
  const { sort, ...rest } = query
  const search = parseSearch(text)
  if (!search.ok) throw new Usage(search.message, search.instead && `Did you mean ${search.instead}?`)
  if (isGateway(session.url) && (text.trim() !== '' || sort !== 'created')) return await overHttp(session, text, query)
  if (sort === 'created') return await here(session, pawl, search.terms, rest)
  const read = (part: Wanted) => here(session, pawl, search.terms, { ...rest, ...part })
  return await ordered(sort, query, pawl.engine.now(), read)
}

/** What is looked into is looked into where it is. */
async function overHttp(session: Session, text: string, { sort, ...query }: Listed): Promise<Answer> {
  const { pathToJobs, jobsIn } = await import('../client/jobs-query.ts')
  const body = await asked(session, 'GET', pathToJobs(query, { q: text === '' ? undefined : text, sort }))
  const [cursor, read, tooLong] = [body['cursor'], body['read'], body['tooLong']]
  return { jobs: jobsIn(body), ...({ cursor, read, tooLong } as Omit<Found, 'jobs'>) }
}

async function here(session: Session, pawl: Pawl, terms: readonly Term[], query: JobQuery): Promise<Answer> {
  const { engine } = pawl
  if (terms.length === 0) return await pawl.find(query)
  const { nothing, id, ...narrowed } = await narrowedBy(terms, engine, session.tenant ?? DEFAULT_TENANT, engine.now())
  if (nothing) return { jobs: [], cursor: undefined }
  const narrow = { ...query, ...given(narrowed.query) }
  if (id === undefined && narrowed.input.length === 0 && narrowed.sift === undefined) return await pawl.find(narrow)
  return await lookedInto(narrowed, query, engine, session.signal, async (part) => {
    if (id !== undefined) return { items: await named(pawl, id, narrow), cursor: undefined }
    const { jobs: items, cursor } = await pawl.find({ ...narrow, ...part })
    return { items, cursor }
  })
}

/** The one that is named, where it matches everything else that is asked. */
async function named(pawl: Pawl, id: string, query: JobQuery): Promise<readonly Job[]> {
  const job = await pawl.get(id)
  return job === undefined || !isFound(job, query) ? [] : [job]
}

/** What is not asked does not undo what an option says. */
const given = (query: Partial<JobQuery>): Partial<JobQuery> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))

/** Never a silent partial answer. */
export const lookedAt = (read: number, tooLong: number | undefined): string =>
  `looked at ${read}, one by one${tooLong === undefined ? '' : `; ${tooLong} have inputs that are too long to be looked into`}`
