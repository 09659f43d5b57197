/** Jobs, changes and questions as the texts and numbers they are stored as: what the two threads send each other. */
import type { Time } from '../../core/job.ts'
import type { KeyPurpose } from '../store.ts'

/** Longer outputs are bodies like others: beside them the tree of ended jobs stays flat. */
export const INLINE = 200

/** Where the row of a job is. */
export type Place = 'ready' | 'lease' | 'rest' | 'done'

/** A kind's number; or, where the caller does not know it yet, minus its place in the call's list of kinds, from 1. */
export type KindRef = number

export type KindRow = readonly [text: string, tenant: string, queue: string, type: string, leaseMs: number]

/** `purpose` may also be `alias`. */
export type KeyRow = readonly [purpose: KeyPurpose | 'alias', key: string, until: Time | null]

export type InsertRow = readonly [
  id: number,
  kind: KindRef,
  at: Time,
  priority: number,
  correlation: number | null,
  head: string | null,
  input: string | null,
  state: string,
  readyAt: Time | null,
  tick: Time | null,
  more: InsertMore | null,
]

/** What most jobs have none of. */
export interface InsertMore {
  readonly tenant: string
  readonly keys: readonly KeyRow[]
  /** What it can be looked for by. */
  readonly marks: readonly number[]
  /** Its heartbeats are core's to decide from its first claim on. */
  readonly careful: boolean
}

/** One flat list: lists within lists cost twice as much to send. */
export type MoveRow = readonly [
  what: 'move',
  id: number,
  rev: number,
  kind: KindRef,
  from: Place,
  fromState: string,
  fromPriority: number,
  fromReadyAt: Time | null,
  notAfter: Time | null,
  to: Place,
  /** Absent: the fold of the first event, of the claim that the lease knows, and of the log. */
  record: string | null,
  log: string,
  output: string | null,
  more: MoveMore | null,
  /** What the row will say. */
  state: string,
  rev: number,
  seq: number,
  generation: number,
  attempt: number,
  priority: number,
  readyAt: Time | null,
  tick: Time | null,
  /** Heartbeats are core's to decide. */
  careful: 0 | 1,
  code: number | null,
  endedAt: Time | null,
  fence: string | null,
  expiresAt: Time | null,
  beats: number,
  beatId: string | null,
  worker: string | null,
  /** The requests its events answer, where they go to the log: the one of an ended job is always at hand. */
  requests: readonly number[] | null,
  /** What happened, for the feed, the counts and the index by type: `rev, letter, at`, again and again. */
  ...facts: (number | string)[],
]

export interface MoveMore {
  readonly tenant: string
  readonly bodies: readonly (readonly [name: string, text: string])[]
  readonly give: readonly KeyRow[]
  readonly take: readonly KeyRow[]
  readonly spawn: InsertRow | null
  readonly spawnTenant: string
  /** Marks of correlations that are not the job's. */
  readonly echoes: readonly (readonly [correlation: number, rev: number])[]
  /** Which side of its queue it is at, before and after. */
  readonly neededBefore: string | null
  readonly needs: string | null
}

/** Ends of leases that are alike in everything but the job. */
export type EndsRow = readonly [
  what: 'ends',
  count: number,
  /** Numbers and commas: the threads hand it on to SQLite as it is. */
  ids: string,
  kind: KindRef,
  rev: number,
  fence: string,
  fromState: string,
  notAfter: Time | null,
  newRev: number,
  state: string,
  endedAt: Time,
  log: string,
  output: string | null,
  /** Where outputs differ, and nothing else does; the log says 0 for their sizes and digests. */
  own: OwnOutputs | null,
  ...facts: (number | string)[],
]

export interface OwnOutputs {
  readonly outputs: readonly (string | null)[]
  /** Absent: the log says it. */
  readonly sizes: readonly (string | null)[]
}

export type ChangeRow =
  | MoveRow
  | EndsRow
  | readonly ['annotate', id: number, generation: number, attempt: number, command: string, text: string]
  | readonly ['purge', id: number, rev: number, state: string]
  /** The log from its second event on, rewritten by the main thread. */
  | readonly ['compact', id: number, rev: number, was: string, log: string, record: string]

export type VerdictRow =
  | 'applied'
  | 'conflict'
  | 'late'
  /** The record is not the fold of what the row tells: it must be said in full. */
  | 'untold'
  | readonly ['taken', purpose: string, key: string, until: Time | null, holder: number]
  | readonly ['rejected', rule: string]

/** Where those of an `EndsRow` differ; otherwise one verdict is everybody's. */
export interface EachVerdict {
  readonly each: readonly VerdictRow[]
}

/** A job as it lies in the tables. */
export type JobRow = readonly [
  id: number,
  kind: number,
  at: Time,
  priority: number,
  head: string | null,
  record: string | null,
  lease: LeaseRow | null,
  /** Where an ended job's record is their fold. */
  told: readonly [opening: string | null, log: string] | null,
]

export type LeaseRow = readonly [
  state: string,
  rev: number,
  fence: string,
  expiresAt: Time,
  logged: number,
  claimRev: number | null,
  claimSeq: number | null,
  claimFrom: string | null,
  claimExpiresAt: Time | null,
  attempt: number | null,
  generation: number | null,
  beats: number,
  beatsFrom: Time | null,
  beatsTo: Time | null,
  beatId: string | null,
  before: string | null,
  claimAt: Time | null,
  request: string | null,
  worker: string | null,
  actor: string | null,
]

/** A stretch of the log. */
export type LogRow = readonly [rev: number, opening: string | null, log: string | null]

/** A job and stretches of its log; `complete`: there are no later ones. */
export type JobLog = readonly [job: JobRow, log: readonly LogRow[], complete: boolean]

/** What the thread knew of a lease when its first commit came: the claim, and the heartbeats since the last event. */
export type Opening = readonly [claim: OpeningClaim | null, beats: OpeningBeats | null]

export type OpeningClaim = readonly [
  rev: number,
  seq: number,
  from: string,
  at: Time,
  expiresAt: Time,
  generation: number,
  attempt: number,
  fence: string,
  worker: string,
  request: string,
  /** Absent: `worker:` and the worker's name. */
  actor: string | null,
]

export type OpeningBeats = readonly [
  rev: number,
  state: string,
  count: number,
  from: Time,
  to: Time,
  expiresAt: Time,
  beatId: string,
  generation: number,
  attempt: number,
  fence: string,
  worker: string,
]

export type InsertedRow =
  | 1
  /** Somebody was first: whom it met. */
  | readonly ['exists', by: KeyPurpose | 'alias' | 'id', holder: number]
  | readonly ['rejected', rule: string]

/** What a claim made of neighbours: their kind and priority, and what it stamped them with. */
export type ClaimedRun = readonly [
  kind: number,
  priority: number,
  rev: number,
  attempt: number,
  expiresAt: Time,
  at: Time,
]

/** Jobs as they were before a claim, and what it made of them, as flat lists: a list for each would cost more to send. */
export interface ClaimedRows {
  /** How many, and what they share (`ClaimedRun`), again and again. */
  readonly runs: readonly number[]
  /** `id, created at, head, record, input`, again and again. */
  readonly jobs: readonly (number | string | null)[]
}

export type BeatRow = readonly [id: number, fence: string, requestId: string]

/** `careful`: core has to look at this one. */
export type BeatenRow = readonly [rev: number, beats: number, expiresAt: Time, replayed: 0 | 1] | 'lost' | 'careful'

export type LoadRow = readonly [
  id: number | null,
  /** Where there is no id: a key, and its purpose. */
  key: string | null,
  purpose: string,
  tenant: string | null,
  bodies: readonly string[],
  /** Wanted besides: the stretches of the log that may tell of this request. */
  request: string | null,
  /** Wanted besides: the log, unless it is longer than so many events. */
  log: number | null,
  /** Wanted besides: whether the input is what was written. */
  check: boolean,
]

export type LoadedRow = readonly [
  job: JobRow,
  bodies: readonly (readonly [name: string, text: string])[],
  asked: readonly LogRow[],
  log: JobLog | null,
  altered: boolean,
]
