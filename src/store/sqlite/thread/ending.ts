/** How jobs ended: one row in `ending` for all that ended alike, and a small one for each in `done`, with its own log if that differs. */
import type { Time } from '../../../core/job.ts'
import type { Ledger } from './ledger.ts'

/** The row that the statement `takeDone` returns. */
export type Done = readonly [ending: number, output: string | null, log: string | null, kind: number, state: string]

export function insertEnding(
  { sql }: Ledger,
  state: string,
  endedAt: Time,
  jobs: number,
  opening: string | null,
  log: string,
  record: string | null,
): number {
  return Number(sql.insertEnding.run(state, endedAt, jobs, opening, log, record).lastInsertRowid)
}

export function leaveEnding({ sql }: Ledger, ending: number): void {
  if (sql.leaveEnding.run(ending).changes === 0) sql.deleteEnding.run(ending)
}
