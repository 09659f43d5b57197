/** `pawl jobs ls <query>`: the grammar of `GET /v1/jobs?q=`, here as over HTTP. */
import { DEFAULT_TENANT } from '../core/job.ts'
import { parseSearch, type Term } from '../core/search.ts'
import { narrowedBy } from '../engine/search.ts'
import { type Found, lookedInto } from '../gateway/handlers/inputs.ts'
import type { Pawl } from '../library/pawl.ts'
import type { JobQuery } from '../store/store.ts'
import { Usage } from './exit.ts'
import { asked, isGateway, type Session } from './session.ts'

type Answer = Pick<Found, 'jobs' | 'cursor'> & Partial<Found>

export async function searched(session: Session, pawl: Pawl, text: string, query: JobQuery): Promise<Answer> {
  if (text.trim() === '') return await pawl.find(query)
  const search = parseSearch(text)
  if (!search.ok) throw new Usage(search.message, search.instead && `Did you mean ${search.instead}?`)
  return isGateway(session.url) ? await overHttp(session, text, query) : await here(session, pawl, search.terms, query)
}

/** What is looked into is looked into where it is. */
async function overHttp(session: Session, text: string, query: JobQuery): Promise<Answer> {
  const { pathToJobs, jobsIn } = await import('../client/jobs-query.ts')
  const body = await asked(session, 'GET', pathToJobs(query, text))
  const [cursor, read, tooLong] = [body['cursor'], body['read'], body['tooLong']]
  return { jobs: jobsIn(body), ...({ cursor, read, tooLong } as Omit<Found, 'jobs'>) }
}

async function here(session: Session, pawl: Pawl, terms: readonly Term[], query: JobQuery): Promise<Answer> {
  const { engine } = pawl
  const { nothing, id, ...narrowed } = await narrowedBy(terms, engine, session.tenant ?? DEFAULT_TENANT, engine.now())
  if (nothing) return { jobs: [], cursor: undefined }
  if (id !== undefined) {
    const job = await pawl.get(id)
    return { jobs: job === undefined ? [] : [job], cursor: undefined }
  }
  const narrow = { ...query, ...given(narrowed.query) }
  if (narrowed.input.length === 0 && narrowed.isWanted === undefined) return await pawl.find(narrow)
  return await lookedInto(narrowed, query, engine, session.signal, async (part) => {
    const { jobs: items, cursor } = await pawl.find({ ...narrow, ...part })
    return { items, cursor }
  })
}

/** What is not asked does not undo what an option says. */
const given = (query: Partial<JobQuery>): Partial<JobQuery> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))

/** Never a silent partial answer. */
export const lookedAt = (read: number, tooLong: number | undefined): string =>
  `looked at ${read}, one by one${tooLong === undefined ? '' : `; ${tooLong} have inputs that are too long to be looked into`}`
