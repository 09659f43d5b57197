import type { Time } from '../../../core/job.ts'
import { EVENT_CODES } from '../../codec/codes.ts'
import type { Ledger } from './ledger.ts'
import type { Row } from './rows.ts'

/** What a lease's row says when it is left. */
export interface Lease {
  readonly rev: number
  readonly fence: string
  /** What it knows and the log does not yet: the claim itself, and a run of heartbeats. As JSON: an `Opening`. */
  readonly opening: string | null
}

/** From `takeLease`, `peekLease` or `leases`. */
export function leaseOf(ledger: Ledger, row: Row, kind: number): Lease {
  const [
    id,
    claim,
    logged,
    ,
    ,
    ,
    ,
    generation,
    attempt,
    fence,
    beats,
    from,
    to,
    beatId,
    expiresAt,
    state,
    worker,
    rev,
  ] = row as LeaseRow
  const claimed = claim === null || logged === 1 ? 'null' : openingClaim(ledger, row as LeaseRow, claim)
  if (beats === 0) return { rev, fence, opening: claimed === 'null' ? null : `[${claimed},null]` }
  ledger.gathered.happened(rev, EVENT_CODES.heartbeat, kind, to as Time, id)
  const run = JSON.stringify([
    rev,
    state,
    beats,
    from,
    to,
    expiresAt,
    beatId,
    generation,
    attempt,
    fence,
    claim === null ? worker : ledger.claimWords(claim).worker,
  ])
  return { rev, fence, opening: `[${claimed},${run}]` }
}

/**
 * The claim is not in the log yet, and nothing was heard since: it goes there with the end, and then the log tells the record
 * (codec/log-tells.ts), which is what whoever left the record out took for granted.
 */
export const hasOnlyClaim = ([, claim, logged, , , , , , , , beats]: Row): boolean =>
  claim !== null && logged === 0 && beats === 0

type LeaseRow = readonly [
  id: number,
  claim: number | null,
  logged: number,
  claimRev: number | null,
  claimSeq: number | null,
  claimFrom: string | null,
  claimExpiresAt: Time | null,
  generation: number | null,
  attempt: number | null,
  fence: string,
  beats: number,
  beatsFrom: Time | null,
  beatsTo: Time | null,
  beatId: string | null,
  expiresAt: Time,
  state: string,
  worker: string | null,
  rev: number,
]

/** Letters, numbers and a fence need no quoting; the words of the claim are quoted once for all of its jobs. */
function openingClaim(ledger: Ledger, row: LeaseRow, claim: number): string {
  const [, , , rev, seq, from, expiresAt, generation, attempt, fence] = row
  const { at, words } = ledger.claimWords(claim)
  return `[${rev},${seq},"${from}",${at},${expiresAt},${generation},${attempt},"${fence}",${words}]`
}
