/** Searches: candidates by number from what is indexed, then each record is looked at. Keyset pages: the last id shown. */
import { assert } from '../../core/assert.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { Job } from '../../core/job.ts'
import { STATE_CODES } from '../codec/codes.ts'
import { storable } from '../codec/text.ts'
import { matches } from '../matches.ts'
import type { JobQuery } from '../store.ts'
import { type LoadParts, whereabouts } from './load.ts'
import { dedupeMark, keyText, labelMark, parentMark, workflowMark } from './new-row.ts'
import { recordOf } from './records.ts'

/** Candidates looked at for one page at most; the page may be short then, and its cursor goes on. */
const LOOKED_AT = 10_000
const STEP_MIN = 50
const STEP_MAX = 1_000

export async function find(
  parts: LoadParts,
  query: JobQuery,
): Promise<{ jobs: readonly Job[]; cursor: string | undefined }> {
  const jobs: Job[] = []
  let after = query.cursor === undefined ? undefined : idNumber(query.cursor)
  assert(query.cursor === undefined || after !== undefined, `not a cursor of this store: ${query.cursor}`)
  const words = wordsOf(query)
  const stepSize = Math.min(STEP_MAX, Math.max(STEP_MIN, query.limit + 1))
  for (let looked = 0; ; looked += stepSize) {
    const rows = await parts.run(parts.statements.findIds, [JSON.stringify({ ...words, after, n: stepSize })])
    const ids = rows.map(([id]) => Number(id))
    const found = await whereabouts(parts, ids)
    for (const id of ids) {
      const row = found.get(id)
      const job = row === undefined ? undefined : recordOf(row)
      // Hashes may collide and rows may have moved: what is shown matches, word for word.
      if (job === undefined || !matches(job, query)) continue
      if (jobs.length === query.limit) return { jobs, cursor: jobs.at(-1)?.id ?? query.cursor }
      jobs.push(job)
    }
    after = ids.at(-1)
    if (ids.length < stepSize) return { jobs, cursor: undefined }
    if (looked >= LOOKED_AT && after !== undefined) return { jobs, cursor: idText(after) }
  }
}

function wordsOf(query: JobQuery) {
  const { tenant, queues, types, states, labels, correlationId, parentId, workflowId, dedupeKey } = query
  const marks = Object.entries(labels ?? {}).map(([name, value]) => labelMark(name, value))
  if (parentId !== undefined) marks.push(parentMark(parentId))
  if (workflowId !== undefined) marks.push(workflowMark(workflowId))
  if (dedupeKey !== undefined) marks.push(dedupeMark(dedupeKey))
  return {
    tenant: tenant === undefined ? undefined : storable(tenant),
    queues: queues?.map(storable),
    types: types?.map(storable),
    states: states?.map((state) => STATE_CODES[state]).join(''),
    correlation: correlationId === undefined ? undefined : keyText(correlationId),
    own: correlationId === undefined ? undefined : (idNumber(correlationId) ?? 0),
    marks: marks.length === 0 ? undefined : marks,
    created_from: query.createdFrom === undefined ? undefined : Math.ceil(query.createdFrom),
    created_to: query.createdTo === undefined ? undefined : Math.ceil(query.createdTo),
    ended_before: query.endedBefore === undefined ? undefined : Math.ceil(query.endedBefore),
    born_before: query.roughlyBornBefore === undefined ? undefined : Math.ceil(query.roughlyBornBefore),
    newest: query.order === 'newest',
  }
}
