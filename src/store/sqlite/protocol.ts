/**
 * What passes between the main thread, which knows jobs, and the store's thread, which knows rows. Calls and answers
 * travel in batches, one message per turn; jobs travel as the texts and numbers they are stored as, so that neither
 * side clones an object graph.
 */
import type { Time } from '../../core/job.ts'
import type {
  BeatenRow,
  BeatRow,
  ChangeRow,
  ClaimedRows,
  EachVerdict,
  FindRow,
  InsertedRow,
  InsertRow,
  JobRow,
  KindRow,
  LoadedRow,
  LoadRow,
  LogRow,
  VerdictRow,
} from './rows.ts'

export interface ThreadOptions {
  readonly path: string
  /** How long a call may wait for other processes before it is given up. */
  readonly busyMs: number
  /** How often to look for commits of other processes while somebody listens. */
  readonly pollMs: number
  /** How long the feed and its index by type are kept. */
  readonly feedMs: number
}

export interface Calls {
  insert: [{ kinds: readonly KindRow[]; rows: readonly InsertRow[] }, readonly InsertedRow[]]
  claim: [
    {
      request: string
      worker: string
      actor: string
      nonce: string
      lanes: readonly (readonly [tenant: string, queue: string, priority: number])[]
      limit: number
      maxInputBytes: number
    },
    { readonly replayed: boolean } & ClaimedRows,
  ]
  commit: [{ kinds: readonly KindRow[]; rows: readonly ChangeRow[] }, readonly (VerdictRow | EachVerdict)[]]
  heartbeat: [readonly BeatRow[], readonly BeatenRow[]]
  due: [number, readonly JobRow[]]
  /** Ticks that `due` found too early. */
  retick: [readonly (readonly [id: number, rev: number, tick: Time])[], null]
  settings: [readonly SettingRow[], readonly SettingRows[]]
  load: [readonly LoadRow[], readonly (LoadedRow | null)[]]
  find: [FindRow, { rows: readonly JobRow[]; cursor: number | null }]
  log: [{ id: number; afterRev: number; limit: number }, { job: JobRow | null; log: readonly LogRow[]; purged: number }]
  annotations: [number, { texts: readonly string[]; purged: number }]
  typed: [
    {
      types: readonly string[]
      kinds: readonly number[] | null
      from: Time
      to: Time
      after: Spot | null
      limit: number
    },
    { found: readonly (readonly [spot: Spot, job: JobRow, log: LogRow | null])[]; next: Spot | null; purged: number },
  ]
  correlated: [
    { correlation: number; ownId: number | null; kinds: readonly number[] | null },
    { jobs: readonly LoadedRow[]; purged: number },
  ]
  feed: [{ after: readonly [position: number, index: number] | null; limit: number }, FeedRows]
  tally: [
    null,
    { rows: readonly (readonly [kind: number, state: string, count: number])[]; end: number; purged: number },
  ]
  backlog: [number, { rows: readonly (readonly [tenant: string, queue: string, since: Time])[]; purged: number }]
  kinds: [null, null]
  listen: [boolean, null]
  close: [null, null]
}

/** Where an event stands among all: its time, its job, its revision. */
export type Spot = readonly [at: Time, job: number, rev: number]

export interface FeedRows {
  readonly items: readonly (readonly [
    position: number,
    index: number,
    id: number,
    rev: number,
    type: string,
    kind: number,
  ])[]
  readonly end: number
  readonly purged: number
}

export type SettingRow =
  | readonly ['get', collection: string, key: string]
  | readonly ['list', collection: string, after: string, limit: number]
  | readonly ['put', collection: string, key: string, rev: number | null, text: string]
  | readonly ['remove', collection: string, key: string, rev: number | null]

export type SettingRows = readonly [
  ok: boolean,
  rows: readonly (readonly [key: string, rev: number, updatedAt: Time, text: string])[],
]

export type Op = keyof Calls
export type Asked<O extends Op> = Calls[O][0]
export type Answered<O extends Op> = Calls[O][1]

export interface Call {
  readonly n: number
  readonly op: Op
  readonly asked: Asked<Op>
}

export type Answer = { readonly n: number; readonly now: Time } & (
  | { readonly ok: true; readonly answered: Answered<Op> }
  | { readonly ok: false; readonly code: string; readonly message: string }
)

/** From the thread: answers, the kinds they are the first to mention, and whether other processes have committed. */
export interface Report {
  readonly answers: readonly Answer[]
  readonly kinds: readonly (readonly [number: number, text: string])[]
  readonly changed: boolean
  /** Said once, first: the store is open; or why it is not. */
  readonly opened?: true | { readonly code: string; readonly message: string }
}
