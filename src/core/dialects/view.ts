/** Any job in a document's words: never a status or a field name that the document does not know. */
import type { Job } from '../job.ts'
import { LENGTHS } from '../limits.ts'
import type { Dialect, Fields, Status } from './dialect.ts'
import { shownAs } from './path.ts'
import { reachOf } from './reach.ts'
import { READINGS, type Reading } from './registry.ts'

/** `output`: the text of the job's result, where it was read; else the document's word for it is where it can be read. */
export function view(job: Job, name: Reading, output?: string): Fields {
  const dialect = READINGS[name]
  const fields = dialect.record(job, statusOf(job, dialect))
  const value = valueIn(job, name, output)
  return value === undefined ? fields : { ...fields, [value.field]: JSON.parse(value.text) }
}

/** The result itself, as the text it is, and the field it stands in; undefined where there is none, or it is large. */
export function valueIn(
  job: Job,
  name: Reading,
  output: string | undefined,
): { readonly field: string; readonly text: string } | undefined {
  const field = READINGS[name].value
  if (field === undefined || output === undefined || job.result?.body === undefined) return undefined
  if (output.length > LENGTHS.shownResult) return undefined
  return { field, text: output === '' ? 'null' : output }
}

export const statusOf = (job: Job, dialect: Dialect): Status => shownAs(dialect, job.state, reachOf(job))
