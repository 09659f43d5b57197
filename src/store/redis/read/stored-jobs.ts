import type { StoredJob } from '../job/decode.ts'
import { idOf } from '../job/id-text.ts'
import { jobTextIn } from '../job/job-text.ts'
import type { Kinds } from '../job/kinds.ts'

/** What a script tells of a job: the digits of its id, what became of it, and what it was born with. */
export type StoredRow = readonly [digits: string, value: string, born: string]

/** Jobs by the digits of their ids and their texts, with their kinds, which are asked for where they are not known yet. */
export async function storedJobs(kinds: Kinds, rows: readonly StoredRow[]): Promise<readonly StoredJob[]> {
  const read = rows.map(([digits, value, born]) => ({ id: idOf(digits), text: jobTextIn(value, born) }))
  await kinds.learn(read.map(({ text }) => text.kind))
  return read.map(({ id, text }) => ({ id, text, kind: kinds.get(text.kind) }))
}
