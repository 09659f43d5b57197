/**
 * Jobs by what is known of them, in order of their numbers. Candidates come from sorted sets (`sources.ts`) and are compared with the
 * search itself; a page looks at so many and no more, and goes on from its cursor.
 */
import { assert } from '../../../core/assert.ts'
import type { Job } from '../../../core/job.ts'
import { matches } from '../../matches.ts'
import type { JobPage, JobQuery } from '../../store.ts'
import { pairs, words } from '../connection/reply.ts'
import { jobOf } from '../job/decode.ts'
import { digitsOf, idDigits, idOf } from '../job/id-text.ts'
import { type ReadParts, readLogs } from './read-log.ts'
import { type Sources, sourcesOf } from './sources.ts'

/** Records looked at for one page, about. */
const LOOKED_AT = 10_000
/** Ids read of each source at first; more are read where few of them match. */
const FIRST = 8
const MORE = 4
const MOST = 1_000
/** Sources of one call, and records. */
const SOURCES = 500
const RECORDS = 100

export function find(parts: ReadParts, query: JobQuery): Promise<JobPage> {
  return parts.calls.repeated(() => (query.longEnded === undefined ? search(parts, query) : longEnded(parts, query)))
}

async function search(parts: ReadParts, query: JobQuery): Promise<JobPage> {
  const { now, sources, own } = await sourcesOf(parts, query)
  const { order, limit, roughlyBornBefore } = query
  const newest = order === 'newest'
  const jobs: Job[] = []
  let beyond = query.cursor === undefined ? undefined : cursorOf(query.cursor)
  let most = Math.max(FIRST, Math.ceil((2 * (limit + 1)) / Math.max(1, sources.length)))
  for (let looked = 0; ; most = Math.max(most, Math.min(MOST, most * MORE))) {
    const { ids, horizon } = await candidates(parts, { sources, own }, newest, beyond, most)
    for (let first = 0; first < ids.length; first += RECORDS) {
      const some = ids.slice(first, first + RECORDS)
      for (const [i, job] of (await records(parts, some)).entries()) {
        looked += 1
        if (job === undefined) continue
        // Numbers rise with time, roughly: what comes behind was born later still.
        if (!newest && roughlyBornBefore !== undefined && job.spec.createdAt >= roughlyBornBefore)
          return { now, jobs, cursor: undefined }
        if (!matches(job, query)) {
          if (looked >= LOOKED_AT) return { now, jobs, cursor: idOf(some[i] as string) }
          continue
        }
        if (jobs.length === limit) return { now, jobs, cursor: jobs.at(-1)?.id }
        jobs.push(job)
      }
    }
    if (horizon === undefined) return { now, jobs, cursor: undefined }
    beyond = horizon
  }
}

function cursorOf(cursor: string): string {
  const digits = idDigits(cursor)
  assert(digits !== undefined, `not a cursor of this store: ${cursor}`)
  return digits
}

/** Ids of all sources in order, each once, up to the one that every source has been read to: `horizon`, if any has more. */
async function candidates(
  { calls }: ReadParts,
  { sources, own }: Pick<Sources, 'sources' | 'own'>,
  newest: boolean,
  beyond: string | undefined,
  most: number,
): Promise<{ readonly ids: readonly string[]; readonly horizon: string | undefined }> {
  const low = newest || beyond === undefined ? '-' : `(${beyond}`
  const high = newest && beyond !== undefined ? `(${beyond}` : '+'
  const ids = new Set<string>()
  let horizon: string | undefined
  for (let first = 0; first < sources.length; first += SOURCES) {
    const some = sources.slice(first, first + SOURCES)
    const [, ...lists] = await calls.call('candidates', [newest ? '1' : '0', low, high, String(most), ...some])
    for (const each of lists) {
      const read = words(each)
      for (const id of read) ids.add(id)
      const last = read.at(-1)
      if (last === undefined || read.length < most) continue
      if (horizon === undefined || (newest ? last > horizon : last < horizon)) horizon = last
    }
  }
  if (own !== undefined && (beyond === undefined || (newest ? own < beyond : own > beyond))) ids.add(own)
  const reached = [...ids].filter((id) => horizon === undefined || (newest ? id >= horizon : id <= horizon))
  reached.sort()
  return { ids: newest ? reached.reverse() : reached, horizon }
}

/** The records of these; undefined for those that have gone since. */
async function records(parts: ReadParts, ids: readonly string[]): Promise<readonly (Job | undefined)[]> {
  const { logs } = await readLogs(
    parts,
    ids.map((id) => ({ id, afterRev: Number.MAX_SAFE_INTEGER, most: 1 })),
  )
  return logs.map((log) => log && jobOf(log.stored))
}

/** Ended jobs with long logs, by the time of their end. A cursor is the end and the id of the last one. */
async function longEnded(parts: ReadParts, { longEnded: span, limit, cursor }: JobQuery): Promise<JobPage> {
  assert(span !== undefined, 'a span of time is asked for')
  const [at, last] = cursor === undefined ? [span.from, ''] : endOf(cursor)
  const jobs: Job[] = []
  let now = 0
  for (let passed = 0; ; ) {
    const args = [String(at), `(${span.to}`, String(passed), String(limit + 1)]
    const answer = await parts.calls.call('ended', args)
    now = parts.calls.timeIn(answer)
    const rows = pairs(words(answer.slice(1)))
    passed += rows.length
    const later = rows.filter(([id, score]) => Number(score) > at || id > last).map(([id]) => id)
    for (const job of await records(parts, later)) {
      if (job === undefined) continue
      const end = jobs.at(-1)
      if (jobs.length === limit) return { now, jobs, cursor: `${end?.endedAt}.${digitsOf(end?.id ?? '')}` }
      jobs.push(job)
    }
    if (rows.length <= limit) return { now, jobs, cursor: undefined }
  }
}

function endOf(cursor: string): readonly [number, string] {
  const [at, id = ''] = cursor.split('.')
  assert(Number.isSafeInteger(Number(at)), `not a cursor of this store: ${cursor}`)
  return [Number(at), id]
}
