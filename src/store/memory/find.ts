import { assert } from '../../core/assert.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { Job, Time } from '../../core/job.ts'
import { matches } from '../matches.ts'
import type { JobPage, JobQuery } from '../store.ts'
import { position, type Shelf, type Shelves } from './shelves.ts'

/** Walks the jobs in order of their numbers from where the last page ended, and stops when the page is full. */
export function find(shelves: Shelves, query: JobQuery, now: Time): JobPage {
  const { numbers } = shelves
  const step = query.order === 'newest' ? -1 : 1
  const jobs: Job[] = []
  for (let i = begin(numbers, query); i >= 0 && i < numbers.length; i += step) {
    const { job } = shelves.jobs.get(idText(numbers[i] as number)) as Shelf
    if (!matches(job, query)) continue
    if (jobs.length === query.limit) return { now, jobs, cursor: jobs.at(-1)?.id }
    jobs.push(job)
  }
  return { now, jobs, cursor: undefined }
}

/** A cursor is the id of the last job shown. */
function begin(numbers: readonly number[], { order, cursor }: JobQuery): number {
  if (cursor === undefined) return order === 'newest' ? numbers.length - 1 : 0
  const last = idNumber(cursor)
  assert(last !== undefined, `not a cursor of this store: ${cursor}`)
  return order === 'newest' ? position(numbers, last) - 1 : position(numbers, last + 1)
}
