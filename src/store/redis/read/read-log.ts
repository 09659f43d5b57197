import type { Calls } from '../connection/calls.ts'
import { list, pairs, type Reply, word, words } from '../connection/reply.ts'
import type { StoredJob, Stretch } from '../job/decode.ts'
import type { Kinds } from '../job/kinds.ts'
import { withEvicted } from './evicted-rows.ts'
import { type StoredRow, storedJobs } from './stored-jobs.ts'

export interface ReadParts {
  readonly calls: Calls
  readonly kinds: Kinds
}

/** A job, and stretches of its log. */
export interface JobLog {
  readonly stored: StoredJob
  readonly stretches: readonly Stretch[]
}

/** A job and stretches that reach beyond a revision; undefined where it is not there. */
export interface LogWish {
  readonly id: string
  readonly afterRev: number
  readonly most: number
}

export interface LogsAnswer {
  readonly now: number
  readonly purged: number
  readonly logs: readonly (JobLog | undefined)[]
}

export async function readLogs({ calls, kinds }: ReadParts, wishes: readonly LogWish[]): Promise<LogsAnswer> {
  const args = wishes.flatMap(({ id, afterRev, most }) => [id, String(afterRev), String(most)])
  const answer = await calls.call('log', args)
  const rows = await withEvicted(calls, answer.slice(2), (digits, { value, born, past }, place) => {
    const { afterRev, most } = wishes[place] as LogWish
    const stretches = past.filter(([rev]) => rev > afterRev).slice(0, most)
    return [digits, value, born, stretches.flatMap(([rev, text]) => [String(rev), text])]
  })
  const there = rows.flatMap((row): StoredRow[] => (row === null ? [] : [rowOf(row)]))
  const stored = (await storedJobs(kinds, there))[Symbol.iterator]()
  const logs = rows.map((row) => {
    if (row === null) return undefined
    const next = stored.next()
    return { stored: next.value as StoredJob, stretches: stretchesIn(list(row)[3]) }
  })
  return { now: calls.timeIn(answer), purged: Number(word(answer[1])), logs }
}

export function rowOf(row: Reply): StoredRow {
  const [id, value, born] = list(row)
  return [word(id), word(value), word(born)]
}

export const stretchesIn = (reply: Reply | undefined): readonly Stretch[] =>
  pairs(words(reply)).map(([rev, text]) => ({ rev: Number(rev), text }))

/** Stretches that are read at a time. */
const AT_ONCE = 500

/** The whole log of a job. */
export async function readLog(parts: ReadParts, id: string): Promise<JobLog | undefined> {
  const stretches: Stretch[] = []
  for (;;) {
    const { logs } = await readLogs(parts, [{ id, afterRev: stretches.at(-1)?.rev ?? 0, most: AT_ONCE }])
    const [log] = logs
    if (log === undefined) return undefined
    stretches.push(...log.stretches)
    if (log.stretches.length < AT_ONCE) return { stored: log.stored, stretches }
  }
}
