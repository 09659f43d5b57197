/** Searches: candidates by number from what is indexed, then each record is looked at. Keyset pages: the last id shown. */
import { assert } from '../../../core/assert.ts'
import { hasLongLog } from '../../../core/compact.ts'
import { digest } from '../../../core/hash.ts'
import { idNumber, idText } from '../../../core/id.ts'
import type { Job } from '../../../core/job.ts'
import { STATE_CODES } from '../../codec/codes.ts'
import { correlationMark, marksOf } from '../../codec/marks.ts'
import { storable } from '../../codec/text.ts'
import { matches } from '../../matches.ts'
import type { JobPage, JobQuery } from '../../store.ts'
import { tenantsOf } from '../names/tenants.ts'
import { type LoadParts, whereabouts } from './load.ts'
import { recordOf } from './records.ts'

/** Rows looked at in one go: few at first, and more where few of them are wanted. */
const ROWS_FIRST = 100
const ROWS_MORE = 4
const ROWS_MOST = 5_000
/** Rows looked at for one page, about. A page that would need more is short, and its cursor goes on. */
const LOOKED_AT = 20_000
/** Records read in one go. */
const STEP_MAX = 1_000

type Found = Omit<JobPage, 'now'>

export async function find(parts: LoadParts, query: JobQuery): Promise<Found> {
  if (query.longEnded !== undefined) return longEnded(parts, query, query.longEnded)
  const jobs: Job[] = []
  let after = query.cursor === undefined ? undefined : idNumber(query.cursor)
  assert(query.cursor === undefined || after !== undefined, `not a cursor of this store: ${query.cursor}`)
  const criteria = await criteriaOf(parts, query)
  const stepSize = Math.min(STEP_MAX, query.limit + 1)
  let rows = Math.max(ROWS_FIRST, ROWS_MORE * stepSize)
  for (let looked = rows; ; looked += rows) {
    const { ids, horizon } = await candidates(parts, { ...criteria, after, n: stepSize, w: rows })
    const found = await whereabouts(parts, ids)
    for (const id of ids) {
      const row = found.get(id)
      const job = row === undefined ? undefined : recordOf(row)
      // Hashes may collide and rows may have moved: what is shown matches, word for word.
      if (job === undefined || !matches(job, query)) continue
      if (jobs.length === query.limit) return { jobs, cursor: jobs.at(-1)?.id ?? query.cursor }
      jobs.push(job)
    }
    after = ids.length === stepSize ? ids.at(-1) : horizon
    if (after === undefined) return { jobs, cursor: undefined }
    if (looked >= LOOKED_AT) return { jobs, cursor: idText(after) }
    rows = Math.min(ROWS_MOST, rows * ROWS_MORE)
  }
}

/** Numbers of jobs that may match, in order. `horizon`: how far was looked, if not to the end. */
async function candidates({ run, statements }: LoadParts, criteria: object) {
  const rows = await run(statements.findIds, [JSON.stringify(criteria)])
  const isHorizon = (value: unknown) => value === true || value === 't'
  const ids = rows.filter(([, horizon]) => !isHorizon(horizon)).map(([id]) => Number(id))
  const end = rows.find(([, horizon]) => isHorizon(horizon))
  return { ids, horizon: end === undefined ? undefined : Number(end[0]) }
}

async function criteriaOf(parts: LoadParts, query: JobQuery) {
  const { tenant, queues, types, states, correlationId } = query
  const isMarked = marksOf('', query).length > 0
  const tenants = correlationId === undefined && !isMarked ? [] : await tenantsOf(parts, tenant)
  return {
    tenant: tenant === undefined ? undefined : storable(tenant),
    queues: queues?.map(storable),
    types: types?.map(storable),
    states: states?.map((state) => STATE_CODES[state]).join(''),
    correlations:
      correlationId === undefined ? undefined : tenants.map((each) => digest(correlationMark(each, correlationId))),
    own: correlationId === undefined ? undefined : (idNumber(correlationId) ?? 0),
    // Searching by the first mark narrows enough: `matches` judges every candidate by all of them.
    marks: isMarked ? tenants.map((each) => digest(marksOf(each, query)[0] ?? '')) : undefined,
    created_from: query.createdFrom === undefined ? undefined : Math.ceil(query.createdFrom),
    created_to: query.createdTo === undefined ? undefined : Math.ceil(query.createdTo),
    ended_before: query.endedBefore === undefined ? undefined : Math.ceil(query.endedBefore),
    born_before: query.roughlyBornBefore === undefined ? undefined : Math.ceil(query.roughlyBornBefore),
    newest: query.order === 'newest',
  }
}

/** Ended jobs with long logs, by the time of their end. The cursor is the end and number of the last one. */
async function longEnded(
  parts: LoadParts,
  { limit, cursor }: JobQuery,
  { from, to }: NonNullable<JobQuery['longEnded']>,
): Promise<Found> {
  const [at, job] = cursor === undefined ? [Math.ceil(from), 0] : cursor.split('.').map(Number)
  assert(Number.isSafeInteger(at) && Number.isSafeInteger(job), `not a cursor of this store: ${cursor}`)
  const rows = await parts.run(parts.statements.longEnded, [at, job, Math.ceil(to), limit])
  const found = await whereabouts(parts, [...new Set(rows.map(([, id]) => Number(id)))])
  // A job that was reopened since is still in the index by an end that is none any more.
  const jobs = [...found.values()].map(recordOf).filter(hasLongLog)
  return { jobs, cursor: rows.length < limit ? undefined : rows.at(-1)?.join('.') }
}
