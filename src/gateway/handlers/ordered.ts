/**
 * A list in another order than that of the jobs' numbers. No store keeps an index by the last change, which every move would have to
 * pay for: so many of those that match are read, put in order and told page by page; a stated number, after which the next so many
 * follow. Where fewer match than are read at a time the order is that of all of them.
 */
import { idNumber } from '../../core/id.ts'
import type { Job, Time } from '../../core/job.ts'
import { rankOf, type Sort } from '../../core/search.ts'
import type { JobQuery } from '../../store/store.ts'
import type { Found } from './inputs.ts'
import type { Wanted } from './paged.ts'

/** Jobs that are looked at to be put in order. */
const PORTION = 2_000
/** Asked for together. */
const AT_ONCE = 500

/** Some that match. `read` where they had to be looked at one by one to be found. */
interface Some extends Pick<Found, 'jobs' | 'cursor'> {
  readonly read?: number | undefined
  readonly tooLong?: number | undefined
}

type Reading = (part: Wanted) => Promise<Some>

/** What a page leaves to the next one. */
interface Place {
  /** Where the portion begins, and where the next one does; absent at either end of all there is. */
  readonly from?: string | undefined
  readonly next?: string | undefined
  /** The last job of the portion: what has come to match since is not of it, nor what was born since. */
  readonly last?: string | undefined
  readonly at: Time
  /** The last one told. */
  readonly told?: { readonly rank: number | null; readonly id: string } | undefined
}

export async function ordered(
  sort: Exclude<Sort, 'created'>,
  { order, limit, cursor }: Pick<JobQuery, 'order' | 'limit' | 'cursor'>,
  now: Time,
  read: Reading,
): Promise<Found> {
  const place: Place = cursor === undefined ? { at: now } : placeIn(cursor)
  const portion = await portionAt(place, order, read)
  const ranked = portion.jobs.map((job) => ({ job, rank: rankOf(job, sort, order) })).sort(byRank)
  const { told } = place
  const behind = told === undefined ? ranked : ranked.filter((each) => byRank(each, toldLast(told)) > 0)
  const page = behind.slice(0, limit)
  const last = page.at(-1)
  const { next, read: looked, tooLong } = portion
  const jobs = page.map(({ job }) => job)
  // How many were read is told once: who adds up what pages tell has the number.
  const count = { read: told === undefined ? looked : 0, tooLong: told === undefined ? tooLong : undefined }
  if (behind.length > limit && last !== undefined) {
    const rank = Number.isFinite(last.rank) ? last.rank : null
    const rest = { ...place, next, last: portion.last, told: { rank, id: last.job.id } }
    return { jobs, cursor: textOf(rest), ...count }
  }
  return { jobs, cursor: next === undefined ? undefined : textOf({ from: next, at: place.at }), ...count }
}

interface Ranked {
  readonly job: Pick<Job, 'id'>
  readonly rank: number
}

const byRank = (a: Ranked, b: Ranked): number =>
  a.rank === b.rank ? numberOf(b.job.id) - numberOf(a.job.id) : a.rank < b.rank ? -1 : 1

const toldLast = ({ rank, id }: NonNullable<Place['told']>): Ranked => ({
  job: { id },
  rank: rank ?? Number.POSITIVE_INFINITY,
})

const numberOf = (id: string): number => idNumber(id) ?? 0

async function portionAt(place: Place, order: JobQuery['order'], read: Reading) {
  const isBeyond = (job: Job) =>
    place.last !== undefined && (numberOf(job.id) - numberOf(place.last)) * (order === 'newest' ? -1 : 1) > 0
  const jobs: Job[] = []
  let [next, looked, tooLong] = [place.from, 0, 0]
  do {
    const page = await read({ limit: AT_ONCE, cursor: next })
    const within = page.jobs.filter((job) => !isBeyond(job))
    jobs.push(...within.filter(({ spec }) => spec.createdAt <= place.at))
    looked += page.read ?? page.jobs.length
    tooLong += page.tooLong ?? 0
    next = page.cursor
    if (within.length < page.jobs.length) break
  } while (next !== undefined && looked < PORTION)
  return {
    jobs,
    last: place.last ?? jobs.at(-1)?.id,
    // Read anew it may end elsewhere: the next portion begins where it was said to.
    next: place.last === undefined ? next : place.next,
    read: looked,
    tooLong: tooLong === 0 ? undefined : tooLong,
  }
}

const textOf = (place: Place): string => Buffer.from(JSON.stringify(place)).toString('base64url')

/** Throws where it is none of ours. */
function placeIn(cursor: string): Place {
  const place = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as Partial<Place> | null
  if (typeof place?.at !== 'number') throw new Error(`not a cursor of a list in order: ${cursor}`)
  return { ...place, at: place.at }
}
