/**
 * Jobs, changes and questions as the texts and numbers they are stored as: what the threads send each other. Wide rows have a list
 * of names (`named.ts`); a short one is taken apart whole where it is read. Of a change, and of an answer that may be of several
 * sorts, the first place says of which.
 */
import type { PlaceMove } from '../../core/flow/membership.ts'
import type { Count, Slot } from '../../core/flow/slots.ts'
import type { Time } from '../../core/job.ts'
import type { KeyPurpose } from '../store.ts'
import type { JobLog, JobRow, LogRow } from './job-row.ts'
import { type Names, named, type RowOf } from './named.ts'

/** Longer outputs are bodies like others: without them the tree of ended jobs stays flat, and ends that travel together light. */
export const INLINE = 200

/** The table that has the row of a job. */
export type Place = 'ready' | 'lease' | 'rest' | 'done'

/** A kind's number; or, where the caller does not know it yet, minus its place in the call's list of kinds, from 1. */
export type KindRef = number

export type KindRow = readonly [text: string, tenant: string, queue: string, type: string, leaseMs: number]

/** `purpose` may also be `alias`. */
export type KeyRow = readonly [purpose: KeyPurpose | 'alias', key: string, until: Time | null]

export interface NewCells {
  id: number
  kind: KindRef
  at: Time
  priority: number
  correlation: number | null
  head: string | null
  input: string | null
  state: string
  readyAt: Time | null
  tick: Time | null
  judge: Time | null
  more: InsertMore | null
}

const NEW = [
  'id',
  'kind',
  'at',
  'priority',
  'correlation',
  'head',
  'input',
  'state',
  'readyAt',
  'tick',
  'judge',
  'more',
] as const satisfies Names<NewCells>

export type InsertRow = RowOf<typeof NEW, NewCells>

export const newJobIn = named<NewCells>(NEW)

/** Parts that few new jobs have. */
export interface InsertMore {
  readonly tenant: string
  readonly keys: readonly KeyRow[]
  /** Hashes of the marks that it can be found by. */
  readonly marks: readonly number[]
  /** Careful: core decides each heartbeat of this job from its first claim on. */
  readonly careful: boolean
  /** What its claimer must serve. */
  readonly needs: string | null
  readonly flow: NewFlow | null
}

/** A flow by its name, with what the name is made of, which is needed where it is met for the first time. */
export type FlowRow = readonly [name: string, keys: readonly string[], weighedBy: string]

/** What of a flow key changes together: `log` absent: it stays as it is. */
export type KeyRowNext = readonly [gate: string, weight: number, text: string, log: string | null]

/** A new job waits in a flow; its keys are made where they are not there. */
export interface NewFlow {
  readonly flow: FlowRow
  readonly births: readonly (readonly [key: string, next: KeyRowNext])[]
}

/** The next revision of a flow key; or only a comparison of the present one, or its end. `on`: the text it must have. */
export type KeyMoveRow = readonly [
  key: string,
  rev: number,
  next: KeyRowNext | 'same' | 'forgotten',
  on: string | undefined,
]

/** What is to be made anew. `owned`: since when a job is, where it is. */
export interface MendRow {
  readonly tenant: string
  readonly keys: readonly string[]
  readonly jobs: readonly (readonly [id: number, flow: FlowRow, owned: Time | null])[]
  /** Flows by their names. */
  readonly held: readonly string[]
  readonly spent: readonly (readonly [key: string, amount: number])[]
  readonly claims: readonly (readonly [key: string, at: Time])[]
}

/** A flow key, and what is taken of it. */
export interface KeyViewRow {
  readonly name: string
  readonly rev: number
  readonly gate: string
  readonly text: string
  readonly log: string | null
  readonly count: Count
  readonly probes: readonly Slot[]
  readonly held: number
}

/** What a change of a job that has a flow means to the hall. */
export interface MoveFlow {
  readonly place: PlaceMove
  /** The name of the flow that it was held in, if it was. */
  readonly before: string
  readonly flow: FlowRow
  readonly key: KeyMoveRow | null
  /** Its keys of which nobody has told yet. */
  readonly births: NewFlow['births']
  /** What was spent, and of which key; of all of its keys where none is named. */
  readonly spent: readonly (readonly [amount: number, key: string | null])[]
}

/** A change of one record. */
export interface MoveCells {
  what: 'move'
  id: number
  /** From here on, where the job must still be; else the change is a conflict. */
  rev: number
  kind: KindRef
  from: Place
  fromState: string
  fromPriority: number
  fromReadyAt: Time | null
  notAfter: Time | null
  to: Place
  /** Null where the log tells it: the fold of the first event, of the claim that the lease has, and of the log. */
  record: string | null
  log: string
  output: string | null
  more: MoveMore | null
  /** From here on, what the job's row will say. */
  state: string
  newRev: number
  seq: number
  generation: number
  attempt: number
  priority: number
  readyAt: Time | null
  tick: Time | null
  judge: Time | null
  /** 1: heartbeats are core's to decide. */
  careful: 0 | 1
  code: number | null
  endedAt: Time | null
  fence: string | null
  expiresAt: Time | null
  beats: number
  beatId: string | null
  worker: string | null
  /** The requests its events answer, where they go to the log: the one of an ended job is always at hand. */
  requests: readonly number[] | null
}

const MOVE = [
  'what',
  'id',
  'rev',
  'kind',
  'from',
  'fromState',
  'fromPriority',
  'fromReadyAt',
  'notAfter',
  'to',
  'record',
  'log',
  'output',
  'more',
  'state',
  'newRev',
  'seq',
  'generation',
  'attempt',
  'priority',
  'readyAt',
  'tick',
  'judge',
  'careful',
  'code',
  'endedAt',
  'fence',
  'expiresAt',
  'beats',
  'beatId',
  'worker',
  'requests',
] as const satisfies Names<MoveCells>

/** What happened, for the feed, the counts and the index by type: `rev, letter, at`, again and again, behind the named places. */
export type Facts = (number | string)[]

/** Flat, facts included: lists within lists cost twice as much to send. */
export type MoveRow = readonly [...RowOf<typeof MOVE, MoveCells>, ...Facts]

export const moveIn = named<MoveCells>(MOVE)
export const MOVE_FACTS_FROM = MOVE.length

export interface MoveMore {
  readonly tenant: string
  readonly bodies: readonly (readonly [name: string, text: string])[]
  /** All bodies go. */
  readonly strips: boolean
  readonly give: readonly KeyRow[]
  readonly take: readonly KeyRow[]
  readonly spawn: InsertRow | null
  readonly spawnTenant: string
  /** Marks of correlations that are not the job's. */
  readonly echoes: readonly (readonly [correlation: number, rev: number])[]
  /** Which side of its queue it is at, before and after. */
  readonly neededBefore: string | null
  readonly needs: string | null
  /** The queue that admission has sent it to, before and after. Null: it is in the one of its kind. */
  readonly queueBefore: string | null
  readonly queue: string | null
  /** Hashes of marks that it has from now on. */
  readonly marks: readonly number[]
  readonly flow: MoveFlow | null
}

/** Ends of leases that are alike in everything but the job, what it returned and what its log says of that. */
export interface EndsCells {
  what: 'ends'
  count: number
  /** Numbers and commas: the threads hand it on to SQLite as it is. */
  ids: string
  kind: KindRef
  rev: number
  fence: string
  fromState: string
  notAfter: Time | null
  newRev: number
  state: string
  endedAt: Time
  /** Some of them have slots. */
  limited: boolean
  /** The log and output of all of them, unless each has its own. */
  log: string
  output: string | null
  own: OwnTexts | null
}

/** Texts of each job, in the order of the jobs. */
export interface OwnTexts {
  readonly logs: readonly string[]
  readonly outputs: readonly (string | null)[]
}

const ENDS = [
  'what',
  'count',
  'ids',
  'kind',
  'rev',
  'fence',
  'fromState',
  'notAfter',
  'newRev',
  'state',
  'endedAt',
  'limited',
  'log',
  'output',
  'own',
] as const satisfies Names<EndsCells>

export type EndsRow = readonly [...RowOf<typeof ENDS, EndsCells>, ...Facts]

export const endsIn = named<EndsCells>(ENDS)
export const ENDS_FACTS_FROM = ENDS.length

export type ChangeRow =
  | MoveRow
  | EndsRow
  | readonly ['annotate', id: number, generation: number, attempt: number, command: string, text: string]
  | readonly ['purge', id: number, rev: number, state: string]
  | readonly ['key', tenant: string, move: KeyMoveRow]
  | readonly ['mend', MendRow]
  /** The log from its second event on, rewritten by the main thread. */
  | readonly ['compact', id: number, rev: number, was: string, log: string, record: string]

export type VerdictRow =
  | 'applied'
  | 'conflict'
  | 'late'
  /** Nothing was written: a lease was not as the row of settlements says. Each job must be sent by itself, in full. */
  | 'apart'
  | readonly ['taken', purpose: string, key: string, until: Time | null, holder: number]
  | readonly ['rejected', rule: string]

export type InsertedRow =
  /** Inserted; of items that come together: nothing stood against it, whether or not they were written. */
  | 1
  /** Not inserted: another job holds its id, alias or key. */
  | readonly ['exists', by: KeyPurpose | 'alias' | 'id', holder: number]
  | readonly ['rejected', rule: string]

/** What claimed neighbours share: their kind and priority, and what the claim stamped them with. */
export interface ClaimedRun {
  readonly kind: number
  readonly priority: number
  readonly rev: number
  readonly attempt: number
  readonly expiresAt: Time
  readonly at: Time
}

/** Jobs as they were before a claim, and what it made of them. */
export interface ClaimedRows {
  readonly runs: readonly { readonly run: ClaimedRun; readonly count: number }[]
  /** One flat list for all of them, since a list for each would cost more to send: places as in `CLAIMED`, again and again. */
  readonly jobs: readonly (number | string | null)[]
  /** All keys that one of them has a slot of. */
  readonly keys: readonly (readonly [tenant: string, key: string, rev: number, text: string])[]
}

export const CLAIMED = { id: 0, createdAt: 1, head: 2, record: 3, input: 4, width: 5 } as const

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
