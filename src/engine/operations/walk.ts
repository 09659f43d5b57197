/** The jobs of an operation, oldest first, page by page: those that were there when it was asked for. */
import type { Job, Time } from '../../core/job.ts'
import { isWithin, type OperationSpec, statesFor } from '../../core/operation.ts'
import { parseSearch } from '../../core/search.ts'
import { ValidationError } from '../../core/thrown.ts'
import type { Engine } from '../engine.ts'
import { hasAll, inputsOf, LOOKED_INTO } from '../input-terms.ts'
import { isFound, type Narrowed, narrowedBy } from '../search.ts'
import type { Page } from './course.ts'

type Around = Pick<Engine, 'find' | 'load' | 'events' | 'settings' | 'now' | 'whatHolds'>

export interface Walk {
  page(cursor: string | undefined, limit: number): Promise<Page>
}

/** `at`: when it was asked for. */
export async function walkOf(engine: Around, tenant: string, spec: OperationSpec, at: Time): Promise<Walk> {
  const search = parseSearch(spec.query)
  // Asked for by a version of pawl that knew more words than this one.
  if (!search.ok) throw new ValidationError(`The search cannot be read here: ${search.message}`)
  const narrowed = await narrowedBy(search.terms, engine, tenant, at)
  const { query, id, nothing } = narrowed
  const states = statesFor(spec.action, query.states)
  const isMeant = (job: Job): boolean => isWithin(spec, job) && states.includes(job.state)
  const asked = {
    ...query,
    tenant,
    states,
    createdTo: Math.min(query.createdTo ?? at + 1, at + 1),
    order: 'oldest',
  } as const
  return {
    async page(cursor, limit) {
      if (nothing || states.length === 0) return { jobs: [], cursor: undefined }
      const found = id === undefined ? await engine.find({ ...asked, limit, cursor }) : await named(engine, tenant, id)
      // A store was asked for all of it; one that is named must match the other terms, too.
      const meant = found.jobs.filter((job) => isMeant(job) && (id === undefined || isFound(job, asked)))
      const wanted = narrowed.sift === undefined ? meant : await narrowed.sift(meant)
      return { jobs: await withInputs(engine, wanted, narrowed), cursor: found.cursor }
    },
  }
}

async function named(engine: Around, tenant: string, id: string): Promise<Page> {
  const { items } = await engine.load([{ id, tenant }])
  return { jobs: items.flatMap((item) => (item === undefined ? [] : [item.job])), cursor: undefined }
}

/** An input that is too long to be looked into is nobody's match: a list tells so, and nothing is done to it. */
async function withInputs(engine: Around, jobs: readonly Job[], { input: wanted }: Narrowed): Promise<readonly Job[]> {
  if (wanted.length === 0) return jobs
  const found: Job[] = []
  for await (const { job, input } of inputsOf(jobs, engine))
    if (input.length <= LOOKED_INTO && hasAll(input, wanted)) found.push(job)
  return found
}
