import { assert } from '../../core/assert.ts'
import { idNumber, idText } from '../../core/id.ts'
import type { Job, Time } from '../../core/job.ts'
import { matches } from '../matches.ts'
import type { JobPage, JobQuery } from '../store.ts'
import type { Shelf, Shelves } from './shelves.ts'
import { firstOf } from './sorted.ts'

/** Records looked at for one page at most. */
const LOOKED_AT = 10_000

/** Walks the jobs in order of their numbers from where the last page ended, and stops when the page is full. */
export function find(shelves: Shelves, query: JobQuery, now: Time): JobPage {
  if (query.longEnded !== undefined) return { now, ...longEnded(shelves, query, query.longEnded) }
  const step = query.order === 'newest' ? -1 : 1
  const { first, last } = bounds(shelves, query)
  const jobs: Job[] = []
  let index = step > 0 ? first : last
  for (let looked = 0; index >= first && index <= last; looked += 1, index += step) {
    const { job } = shelfAt(shelves, index)
    if (looked === LOOKED_AT) return { now, jobs, cursor: shelfAt(shelves, index - step).job.id }
    if (!matches(job, query)) continue
    if (jobs.length === query.limit) return { now, jobs, cursor: jobs.at(-1)?.id }
    jobs.push(job)
  }
  return { now, jobs, cursor: undefined }
}

function shelfAt({ jobs, numbers }: Shelves, index: number): Shelf {
  const shelf = jobs.get(idText(numbers.at(index) ?? 0))
  assert(shelf !== undefined, 'a number is that of a job')
  return shelf
}

/** A cursor is the id of the last job looked at. Numbers rise with time, roughly. */
function bounds(shelves: Shelves, { order, cursor, roughlyBornBefore }: JobQuery): { first: number; last: number } {
  const { numbers } = shelves
  const born = (index: number) => shelfAt(shelves, index).job.spec.createdAt
  const all = {
    first: 0,
    last:
      roughlyBornBefore === undefined
        ? numbers.size - 1
        : firstOf(numbers.size, (index) => born(index) >= roughlyBornBefore) - 1,
  }
  if (cursor === undefined) return all
  const seen = idNumber(cursor)
  assert(seen !== undefined, `not a cursor of this store: ${cursor}`)
  return order === 'newest' ? { ...all, last: numbers.place(seen) - 1 } : { ...all, first: numbers.place(seen + 1) }
}

function longEnded(
  shelves: Shelves,
  { limit, cursor }: JobQuery,
  { from, to }: { readonly from: Time; readonly to: Time },
): Omit<JobPage, 'now'> {
  const [at = from, number = 0] = cursor?.split('.').map(Number) ?? []
  assert(Number.isSafeInteger(at) && Number.isSafeInteger(number), `not a cursor of this store: ${cursor}`)
  const jobs: Job[] = []
  for (let index = shelves.longEnded.place({ at, number: number + 1 }); ; index += 1) {
    const next = shelves.longEnded.at(index)
    if (next === undefined || next.at >= to) return { jobs, cursor: undefined }
    const last = jobs.at(-1)
    if (jobs.length === limit) return { jobs, cursor: `${last?.endedAt}.${idNumber(last?.id ?? '')}` }
    jobs.push((shelves.jobs.get(idText(next.number)) as Shelf).job)
  }
}
