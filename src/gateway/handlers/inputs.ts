/**
 * Looking at each job: the part of a search that no index answers. An input may have eight megabytes, and while one is parsed
 * and walked through nobody's heartbeat is heard: a long one is not looked into, which the answer says; after each the event
 * loop turns; and a page ends after so many jobs or letters, and goes on by cursor.
 */
import type { Job } from '../../core/job.ts'
import type { Engine } from '../../engine/engine.ts'
import { hasAll, inputsOf, LOOKED_INTO } from '../../engine/input-terms.ts'
import type { Narrowed } from '../../engine/search.ts'
import { turn } from '../../system/turn.ts'
import type { Part, Wanted } from './paged.ts'

export interface Found {
  readonly jobs: readonly Job[]
  readonly cursor: string | undefined
  /** How many were read to find these. */
  readonly read: number
  /** How many of them have an input that is too long to be looked into; absent where none has. */
  readonly tooLong: number | undefined
}

/** Jobs of one page, where each has its input read, and where a look at the record suffices. */
const READ_MOST = 500
const LOOKED_AT_MOST = 2_000
/** Letters of one page. */
const LETTERS_MOST = 8 * 1024 * 1024
/** Jobs that are asked for together. */
const JOBS_AT_ONCE = 25

/** Jobs that have what is asked for, among those that a search finds otherwise. As many as wanted, or those of one portion more. */
export async function lookedInto(
  { sift, input: wanted }: Pick<Narrowed, 'sift' | 'input'>,
  { limit, cursor }: Wanted,
  engine: Pick<Engine, 'load'>,
  signal: AbortSignal,
  find: (part: Wanted) => Promise<Part<Job>>,
): Promise<Found> {
  const jobs: Job[] = []
  let [after, read, letters, tooLong] = [cursor, 0, 0, 0]
  const most = wanted.length > 0 ? READ_MOST : LOOKED_AT_MOST
  while (read < most && letters < LETTERS_MOST && jobs.length < limit) {
    const { items, cursor: next } = await find({ limit: JOBS_AT_ONCE, cursor: after })
    const some = sift === undefined ? items : await sift(items)
    if (wanted.length === 0) jobs.push(...some)
    else
      for await (const { job, input } of inputsOf(some, engine)) {
        if (signal.aborted) return { jobs, cursor: after, read, tooLong }
        letters += input.length
        if (input.length > LOOKED_INTO) tooLong += 1
        else if (hasAll(input, wanted)) jobs.push(job)
        await turn()
      }
    if (signal.aborted) break
    await turn()
    read += items.length
    after = next
    // A part that is short has looked at as much as may be looked at for one request.
    if (after === undefined || items.length < JOBS_AT_ONCE) break
  }
  return { jobs, cursor: after, read, tooLong: tooLong === 0 ? undefined : tooLong }
}
