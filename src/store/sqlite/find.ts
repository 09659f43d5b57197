import { assert } from '../../core/assert.ts'
import { idNumber } from '../../core/id.ts'
import { matches } from '../matches.ts'
import type { JobPage, JobQuery } from '../store.ts'
import { jobOf, type KindsByNumber } from './decode.ts'
import type { Reader } from './reader.ts'

export async function find(reader: Reader, kinds: KindsByNumber, query: JobQuery): Promise<JobPage> {
  const { cursor } = query
  assert(cursor === undefined || isCursor(query, cursor), `not a cursor of this store: ${cursor}`)
  const { now, answered } = await reader.call('find', query)
  // Marks are hashes: what is shown matches, word for word.
  const jobs = answered.rows.map((row) => jobOf(row, kinds)).filter((job) => matches(job, query))
  return { now, jobs, cursor: answered.cursor ?? undefined }
}

const isCursor = ({ longEnded }: JobQuery, cursor: string): boolean =>
  longEnded === undefined ? idNumber(cursor) !== undefined : /^\d+\.\d+$/.test(cursor)
