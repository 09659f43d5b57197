/** A job as it lies in the tables, and its log: what is read of one. */
import type { Time } from '../../core/job.ts'
import { type Names, named, type RowOf } from './named.ts'

/** A job as it lies in the tables. */
export interface JobCells {
  id: number
  kind: number
  at: Time
  priority: number
  head: string | null
  record: string | null
  /** From here on, of the row that it has in one of the places. */
  rev: number
  /** For an ended job that has no record: claim and heartbeats, from which with the first event and the log the record is folded. */
  opening: string | null
  log: string | null
  /** From here on, of the lease; null where the job is not owned. */
  fence: string | null
  state: string | null
  expiresAt: Time | null
  /** 1: the claim is in the log. */
  logged: number | null
  claimRev: number | null
  claimSeq: number | null
  claimFrom: string | null
  claimExpiresAt: Time | null
  attempt: number | null
  generation: number | null
  /** Heartbeats that are not in the log. */
  beats: number | null
  beatsFrom: Time | null
  beatsTo: Time | null
  beatId: string | null
  /** The record before the claim. */
  before: string | null
  claimAt: Time | null
  request: string | null
  worker: string | null
  actor: string | null
}

/** The places of a job's row, as `WHOLE` of thread/read-statements.ts selects them. */
export const JOB = [
  'id',
  'kind',
  'at',
  'priority',
  'head',
  'record',
  'rev',
  'opening',
  'log',
  'fence',
  'state',
  'expiresAt',
  'logged',
  'claimRev',
  'claimSeq',
  'claimFrom',
  'claimExpiresAt',
  'attempt',
  'generation',
  'beats',
  'beatsFrom',
  'beatsTo',
  'beatId',
  'before',
  'claimAt',
  'request',
  'worker',
  'actor',
] as const satisfies Names<JobCells>

export type JobRow = RowOf<typeof JOB, JobCells>

export const jobIn = named<JobCells>(JOB)

/** A stretch of the log. */
export type LogRow = readonly [rev: number, opening: string | null, log: string | null]

/** A job and stretches of its log; `complete`: there are no later ones. */
export interface JobLog {
  readonly job: JobRow
  readonly log: readonly LogRow[]
  readonly complete: boolean
}
