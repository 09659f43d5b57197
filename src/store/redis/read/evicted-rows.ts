/** In the place of a job that has left the server a script answers with its id, and an entry that what the ledger says of it must not be before. */
import { assert } from '../../../core/assert.ts'
import type { EvictedJob } from '../connection/backing.ts'
import type { Calls } from '../connection/calls.ts'
import { list, type Reply, word } from '../connection/reply.ts'

/** Of a row that stands for such a job. */
const AWAY = 2

const isAway = (row: Reply): row is readonly Reply[] => Array.isArray(row) && row.length === AWAY

/** Rows of a script, with those of jobs that have left made of what the ledger has; nothing where it has nothing any more. */
export async function withEvicted(
  calls: Calls,
  rows: readonly Reply[],
  rowOf: (digits: string, job: OwnTexts, place: number) => Reply,
): Promise<readonly Reply[]> {
  const away = rows.filter(isAway)
  if (away.length === 0) return rows
  assert(calls.evicted !== undefined, 'jobs leave for a ledger')
  const entry = Math.max(...away.map(([, since]) => Number(word(since))))
  const { jobs } = await calls.evicted.read([...new Set(away.map(([digits]) => word(digits)))], entry)
  return rows.map((row, place) => {
    if (!isAway(row)) return row
    const digits = word(list(row)[0])
    const job = jobs.get(digits)
    return job === undefined ? null : rowOf(digits, ownTexts(job), place)
  })
}

/** A job's own keys, as its scripts read them. */
export interface OwnTexts {
  readonly value: string
  readonly born: string
  readonly bodies: readonly (readonly [name: string, body: string])[]
  /** By revision, in order. */
  readonly past: readonly (readonly [rev: number, text: string])[]
  /** Which stretches tell of which requests. */
  readonly asked: readonly string[]
  readonly notes: readonly string[]
}

export function ownTexts(job: EvictedJob): OwnTexts {
  const of = (own: string) => job.filter(({ key }) => key.startsWith(own))
  return {
    value: of('job:')[0]?.value ?? '',
    born: of('born:')[0]?.value ?? '',
    bodies: of('body:').map(({ name, value }) => [name, value]),
    past: of('past:').map(({ name, value }) => [Number(name), (JSON.parse(value) as string[])[1] ?? '']),
    asked: of('asked:').map(({ name }) => name),
    notes: of('notes:').map(({ value }) => value),
  }
}
