import { hash53 } from '../../../core/hash.ts'
import { requestsIn } from '../../codec/opening.ts'
import type { Ledger } from './ledger.ts'

/** The request of a stretch that was a job's end: which requests it has was not indexed then, so it may be any. */
const ANY = 0

/**
 * A stretch for the log of a job, and for the index of requests, by which a word that is said again is recognised. Ends
 * are not in it: an ended job has its end at hand, and nearly all there is to write are ends.
 */
export function addStretch(
  { sql }: Ledger,
  id: number,
  rev: number,
  opening: string | null,
  log: string,
  requests: readonly number[] | null,
): void {
  sql.insertPast.run(id, rev, opening, log)
  for (const request of requests ?? [ANY]) sql.insertAsked.run(id, request, rev)
  if (opening === null || requests === null) return
  for (const request of requestsIn(opening)) sql.insertAsked.run(id, hash53(request), rev)
}
