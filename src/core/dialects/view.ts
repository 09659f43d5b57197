/** Any job in a document's words: never a status or a field name that the document does not know. */
import type { Job } from '../job.ts'
import type { Dialect, Fields, Status } from './dialect.ts'
import { shownAs } from './path.ts'
import { reachOf } from './reach.ts'
import { READINGS, type Reading } from './registry.ts'

export function view(job: Job, name: Reading): Fields {
  const dialect = READINGS[name]
  return dialect.record(job, statusOf(job, dialect))
}

export const statusOf = (job: Job, dialect: Dialect): Status => shownAs(dialect, job.state, reachOf(job))
