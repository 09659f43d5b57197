/** A lease as its row has it, and what it knows that the log does not. */
import type { Time } from '../../../core/job.ts'
import { EVENT_CODES } from '../../codec/codes.ts'
import type { OpeningBeats } from '../../codec/opening.ts'
import { named, selected } from '../named.ts'
import type { Ledger } from './ledger.ts'

export interface LeaseCells {
  id: number
  /** The claim it is of; null where a commit wrote the lease. */
  claim: number | null
  /** 1: the claim is in the log. */
  logged: number
  claimRev: number
  claimSeq: number
  claimFrom: string
  claimExpiresAt: Time
  generation: number
  attempt: number
  fence: string
  beats: number
  beatsFrom: Time
  beatsTo: Time
  beatId: string
  expiresAt: Time
  state: string
  worker: string
  rev: number
}

const COLUMNS: Readonly<Record<keyof LeaseCells, string>> = {
  id: 'id',
  claim: 'claim',
  logged: 'logged',
  claimRev: 'claim_rev',
  claimSeq: 'claim_seq',
  claimFrom: 'claim_from',
  claimExpiresAt: 'claim_expires_at',
  generation: 'generation',
  attempt: 'attempt',
  fence: 'fence',
  beats: 'beats',
  beatsFrom: 'beats_from',
  beatsTo: 'beats_to',
  beatId: 'beat_id',
  expiresAt: 'expires_at',
  state: 'state',
  worker: 'worker',
  rev: 'rev',
}
const LEASE = Object.keys(COLUMNS) as (keyof LeaseCells)[]

export const LEASE_COLUMNS = selected(LEASE, COLUMNS)
export const leaseIn = named<LeaseCells>(LEASE)

/** What a change of an owned job writes into the log first: the claim, and the run of heartbeats, of which the feed is told. JSON of an `Opening`. */
export function openingOf(ledger: Ledger, lease: LeaseCells, kind: number): string | null {
  const { id, claim, logged, beats, rev, beatsTo } = lease
  const claimed = claim === null || logged === 1 ? 'null' : openingClaim(ledger, lease, claim)
  if (beats === 0) return claimed === 'null' ? null : `[${claimed},null]`
  ledger.gathered.happened(rev, EVENT_CODES.heartbeat, kind, beatsTo, id)
  const { state, beatsFrom, expiresAt, beatId, generation, attempt, fence } = lease
  const worker = claim === null ? lease.worker : ledger.claimStamp(claim).worker
  const run: OpeningBeats = [
    rev,
    state,
    beats,
    beatsFrom,
    beatsTo,
    expiresAt,
    beatId,
    generation,
    attempt,
    fence,
    worker,
  ]
  return `[${claimed},${JSON.stringify(run)}]`
}

/**
 * The claim is not in the log yet, and nothing was heard since: it goes there with the end, and then the log tells the record
 * (codec/log-tells.ts), which is what the change that left its record out took for granted.
 */
export const hasOnlyClaim = ({ claim, logged, beats }: LeaseCells): boolean =>
  claim !== null && logged === 0 && beats === 0

/** Letters, numbers and a fence need no quoting; the words of the claim are quoted once for all of its jobs. */
function openingClaim(ledger: Ledger, lease: LeaseCells, claim: number): string {
  const { claimRev, claimSeq, claimFrom, claimExpiresAt, generation, attempt, fence } = lease
  const { at, text } = ledger.claimStamp(claim)
  return `[${claimRev},${claimSeq},"${claimFrom}",${at},${claimExpiresAt},${generation},${attempt},"${fence}",${text}]`
}
