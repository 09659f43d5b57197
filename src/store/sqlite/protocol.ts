/**
 * What passes between the main thread, which knows jobs, and the store's threads, which know rows. Calls and answers
 * travel in batches, one message per turn; jobs travel as the texts and numbers they are stored as, so that neither
 * side clones an object graph.
 */
import type { Event } from '../../core/event.ts'
import type { Watch } from '../../core/flow/watch.ts'
import type { Time } from '../../core/job.ts'
import type { Agenda } from '../agenda.ts'
import type { JobQuery } from '../store.ts'
import type { JobLog, JobRow } from './job-row.ts'
import type {
  BeatenRow,
  BeatRow,
  ChangeRow,
  ClaimedRows,
  InsertedRow,
  InsertRow,
  KeyViewRow,
  KindRow,
  LoadedRow,
  LoadRow,
  VerdictRow,
} from './rows.ts'

export interface FileOptions {
  readonly path: string
  /** How long a call waits while other processes keep the file locked, before it is given up. */
  readonly busyMs: number
  /** How often the thread looks for commits of other processes while this one has listeners. */
  readonly pollMs: number
  /** How long the feed and its index by type are kept. */
  readonly feedMs: number
  /** The latest time that was told: one clock for all threads of a store. */
  readonly latest: BigInt64Array
  /** For tests: milliseconds by which the machine's clock is taken to be set. */
  readonly setBy: BigInt64Array | undefined
}

export interface ThreadOptions extends FileOptions {
  readonly gone: Int32Array
}

export interface Calls {
  insert: [{ kinds: readonly KindRow[]; rows: readonly InsertRow[]; together: boolean }, readonly InsertedRow[]]
  claim: [
    {
      request: string
      worker: string
      actor: string
      nonce: string
      lanes: readonly (readonly [tenant: string, queue: string, priority: number])[]
      /** The needs it serves. Absent: all. */
      serves: readonly string[] | undefined
      limit: number
      /** So many of them may have a flow. */
      limited: number
      maxInputBytes: number
    },
    { readonly replayed: boolean } & ClaimedRows,
  ]
  commit: [{ kinds: readonly KindRow[]; rows: readonly ChangeRow[] }, readonly VerdictRow[]]
  heartbeat: [readonly BeatRow[], readonly BeatenRow[]]
  /** `more`: there are, but they would have been too much for one turn. */
  due: [
    { readonly limit: number; readonly agenda: Agenda },
    {
      readonly jobs: readonly JobRow[]
      readonly more: boolean
      readonly setBackMs: number
      /** Not all were let in that could be. */
      readonly heldMore: boolean
    },
  ]
  /** Ticks that `due` found too early. */
  retick: [readonly (readonly [id: number, rev: number, tick: Time])[], null]
  settings: [readonly SettingRow[], readonly SettingRows[]]
  /** The first of them, and as many as one turn can bear. */
  load: [readonly LoadRow[], readonly (LoadedRow | null)[]]
  find: [JobQuery, { rows: readonly JobRow[]; cursor: string | null }]
  log: [{ id: number; afterRev: number; limit: number }, { found: JobLog | null; purged: number }]
  annotations: [number, { texts: readonly string[]; purged: number }]
  typed: [
    {
      types: readonly string[]
      tenant: string | null
      from: Time
      to: Time
      after: Spot | null
      limit: number
    },
    {
      jobs: readonly JobLog[]
      found: readonly (readonly [job: number, rev: number])[]
      next: Spot | null
      purged: number
    },
  ]
  correlated: [
    { tenant: string | undefined; correlationId: string; after: Reached; limit: number },
    { jobs: readonly JobLog[]; next: Reached | null; purged: number },
  ]
  feed: [{ after: readonly [position: number, index: number] | null; limit: number }, FeedRows]
  tally: [
    string | null,
    { rows: readonly (readonly [kind: number, state: string, count: number])[]; end: number; purged: number },
  ]
  /** Since when the first of each queue's lanes is due, also where that is still to come; of the first so many lanes. */
  backlog: [number, { rows: readonly (readonly [tenant: string, queue: string, since: Time])[]; purged: number }]
  /** Flow keys by name: those named, or the first after a name. */
  keys: [
    { tenant: string; names: readonly string[] | null; after: string; limit: number },
    { views: readonly KeyViewRow[]; purged: number },
  ]
  /** What lets a job in. */
  lobby: [
    { id: number; tenant: string; keys: readonly string[]; flow: string },
    { held: boolean; views: readonly KeyViewRow[]; others: number; watch: Watch | null },
  ]
  /** Jobs that stand or are owned, from behind one on. */
  occupants: [Occupant, { jobs: readonly JobRow[]; next: Occupant | null }]
  /** The log of an ended job with one event instead of others; `was`: its last stretch as it was read. */
  compacted: [{ id: number; event: Event; replaces: readonly number[] }, { was: string; log: string } | null]
  listen: [boolean, null]
  /** Once everybody has been answered. */
  close: [null, null]
  /** Close at once: the process exits and hears no answers any more. */
  leave: [null, null]
}

/** The order of events by time: time, entry of the feed, place in the entry. */
export type Spot = readonly [at: Time, position: number, place: number]

/** One of those who stand, by its place; of those who are owned, by its number, and no lane. */
export type Occupant = readonly [lane: number, readyAt: Time, id: number]

/** How far a walk over jobs has come: a job, and the last of its revisions that was seen. */
export type Reached = readonly [job: number, rev: number]

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
  /** The queues, and the sides of queues, that jobs were let into. */
  readonly letIn: readonly (readonly [tenant: string, queue: string, needs: string | null])[]
  /** Said once, first: the store is open; or why it is not. */
  readonly opened?: true | { readonly code: string; readonly message: string }
}
