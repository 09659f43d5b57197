/**
 * The port every store implements: ten methods, data in and data out, batch first, one round trip per call. A store
 * knows no rule of the lifecycle; it inserts, claims, compares and swaps, and reads. Its promises are numbered, and
 * `store/conformance/` has a file for each.
 *
 *  S1  An answered write is durable: it is there after any crash of this process or of the server.
 *  S2  `insert` is all or nothing per item. Every item is answered with a job: the new one, or the one that holds its
 *      id, alias or key; or told that this cannot be known yet, because a transaction that has not ended has that key.
 *      One bad item never fails its neighbours, nor `tx`, where given: the rows live and die with it. Asked to insert them
 *      `together`, it inserts all of them or none, and answers each with what became of it, or would have.
 *  S3  `claim` gives a job to one claimer. It takes what has `readyAt <= now` and no `nextTickAt` that has come, whichever ticker was
 *      handed that tick; lane by lane in the order asked, FIFO within a lane, nothing from a paused queue; the result is what `decide` and `evolve` make of a `claim`. Jobs that
 *      need something stand in side lanes, one for each need, beside the lane of their queue and priority. Only who serves
 *      that need, each word of it (`core/needs.ts`), is given them, before what needs nothing; among several needs none is always the last.
 *  S4  `commit` applies a change if and only if the record is still at `before.rev` and, where `notAfter` is given, the
 *      store's clock has not reached it. Record, events, bodies and keys change together or not at all.
 *  S5  `heartbeat` renews what is still owned, and only that; the result is what `decide` and `evolve` make of it. Where it
 *      would say more than that (`isMereRenewal` of core), it answers `careful` and changes nothing.
 *  S6  Events come back as they were written: `rev` ascending, `seq` without gaps; folding them gives the record.
 *  S7  The feed shows every event once, in one order that never changes, whatever order transactions commit in, those of one
 *      job by revision; its positions ascend (`comparePositions`), the end it tells comes behind all there is and before all that comes.
 *  S8  `due` hands each record whose tick has come to one caller at a time, and hands it out again if nothing came of it
 *      within five seconds (`HANDED_OUT_MS`). What waits to be judged (`judgeAt`) is handed out alike, to who asks for it and nobody else.
 *  S9  A repeated `insert` (same id) or `claim` (same request id) answers as the first did and changes nothing.
 *  S10 Text round-trips exactly: whatever string or body goes in comes out, code unit by code unit.
 *  S11 Keys: at most one job holds (tenant, purpose, key); a key is given up only by the job that holds it, or by time.
 *  S12 `settings` are compare-and-swap by `rev`.
 *  S13 `now` in an answer is the store's clock. It never runs backwards, and goes on although what it is read from is set
 *      back; a process that opens the store later has the same time, but for a second or two. Set forward, it goes along.
 *  S14 Hints may be lost, never the work: whatever a hint announces is found by polling. Announced are work for a queue,
 *      the end of a job, and what its owner did not do itself: a cancel that is asked of it, or the loss of its lease.
 *      A hint says whose it is about, so that it can be passed on to listeners that may hear it and to no others.
 *  S15 Reads never load bodies unless asked, page by key, and look at a bounded number of rows, whatever else the store
 *      holds and whichever tenant it belongs to. A page may therefore be short, or empty, and go on: its cursor alone tells the end.
 *  S16 `close` leaves nothing behind: no connection, timer, thread or listener.
 *  S17 A `claim` that finds nothing and may wait is answered as soon as there is something for it, at the latest when its
 *      time is over; once its signal has aborted, it is answered with what it was given before that, and nothing new.
 *  S18 Jobs with a `flow` are held from birth, stand in no lane, and are let in by the store's own commits, as `letIn` of core
 *      says (`core/flow/`): a slot of each of their keys in one commit, or none; claimed, in the order of letting in. Slots are taken by standing and by being owned
 *      and by nothing else (`placeMoveOf`); what frees one lets in, in the same commit. Claims stamp the slots they take;
 *      a key's document, gate and revision change together, with the job that caused it or not at all. Jobs without a
 *      flow meet none of this.
 */
import type { Spend } from '../core/command.ts'
import type { Annotation, Event, EventType } from '../core/event.ts'
import type { Job, JobId, Priority, State, Time } from '../core/job.ts'
import type { FlowKey, KeyBirth, KeyMove, KeyView, Lobby, Mend } from './flow-key.ts'
import type { SettingAnswer, SettingOperation } from './setting.ts'

export type { FlowKey, KeyBirth, KeyMove, KeyView, Lobby, Mend } from './flow-key.ts'
export { queueKey, type Setting, type SettingAnswer, type SettingCollection, type SettingOperation } from './setting.ts'

export interface Store {
  insert(items: readonly NewJob[], tx?: Transaction, together?: boolean): Promise<InsertAnswer>
  load(items: readonly LoadItem[]): Promise<LoadAnswer>
  claim(grant: Grant): Promise<ClaimAnswer>
  commit(changes: readonly Change[], tx?: Transaction): Promise<CommitAnswer>
  heartbeat(beats: readonly Beat[]): Promise<BeatAnswer>
  due(limit: number, agenda?: 'ticks' | 'judgements'): Promise<DueAnswer>
  find(query: JobQuery): Promise<JobPage>
  events(query: EventQuery): Promise<EventPage>
  settings(operations: readonly SettingOperation[]): Promise<readonly SettingAnswer[]>
  subscribe(wake: (hint: Hint) => void): Promise<AsyncDisposable>
  close(): Promise<void>
}

/** Anything that runs SQL in the caller's open transaction: a `pg` client, and most wrappers around one. */
export interface Transaction {
  query(text: string, values: unknown[]): Promise<{ rows: unknown[] }>
}

/** Text under (job, name). JSON, or what an encrypting codec made of it: stores never look inside. */
export interface Body {
  readonly name: string
  readonly text: string
}

export type KeyPurpose = 'dedupe' | 'idempotency' | 'slot'

export interface Key {
  readonly purpose: KeyPurpose
  readonly key: string
  /** A time; or `undefined` for as long as the holder does not give it up. */
  readonly until: Time | undefined
}

/** A job at its first event. `job.spec.alias`, where given, is a key of its own and never given up. */
export interface NewJob {
  readonly job: Job
  readonly event: Event
  readonly input: string | undefined
  readonly keys: readonly Key[]
  /**
   * For each of `job.spec.flow.keys`, in their order, what the store is to know of it where it knows nothing yet. Present
   * exactly where the job has a flow; no keys, where it only takes turns.
   */
  readonly flow?: readonly KeyBirth[] | undefined
}

export type Inserted =
  | { readonly status: 'inserted' }
  /** Another job holds its id, alias or key, which `by` says; the engine judges whether it is the same job. */
  | {
      readonly status: 'exists'
      readonly by: 'id' | 'alias' | KeyPurpose
      readonly job: Job
      /** Whether it has the very input that was brought now. */
      readonly sameInput: boolean
    }
  /** One of its keys is held by a transaction that has not ended: whether another job was first is not known yet. */
  | { readonly status: 'busy' }
  /** The store cannot keep it. `field` points at the place. */
  | { readonly status: 'rejected'; readonly field: string; readonly rule: string }

export interface InsertAnswer {
  readonly now: Time
  readonly items: readonly Inserted[]
}

export interface LoadItem {
  /** A job id, or an alias (then `tenant` is required: aliases are unique per tenant). */
  readonly id: JobId
  /** Given: `id` is a key of this purpose, and the job that holds it is wanted. */
  readonly key?: KeyPurpose | undefined
  /** Given: a job of another tenant is not found. */
  readonly tenant?: string | undefined
  /** Names of bodies wanted; a name ending in `/` stands for all that begin with it. */
  readonly bodies?: readonly string[] | undefined
  /** Wanted besides: the events this request caused. */
  readonly requestId?: string | undefined
  /** Wanted besides: its log, unless that is longer than so many events. */
  readonly log?: number | undefined
  /** Wanted besides: what holds it, and how its keys are. */
  readonly flow?: boolean | undefined
  /** Wanted besides: which of its texts are not what was written, as far as the store itself can tell. */
  readonly check?: boolean | undefined
}

export interface Loaded {
  readonly job: Job
  readonly bodies: Readonly<Record<string, string>>
  readonly caused: readonly Event[]
  /** Its whole log as of the record, or nearly: who compares the two looks at their revisions. */
  readonly log?: readonly Event[] | undefined
  /** How it is let in, where it has a flow. */
  readonly flow?: Lobby | undefined
  /** Names of bodies. */
  readonly altered?: readonly string[] | undefined
  /** What signals were sent as, by the names of their bodies, where their senders have sealed that: never from a store. */
  readonly signals?: Readonly<Record<string, SignalName | undefined>> | undefined
}

/** What a signal is called: its name, and the correlation key it was sent with. */
export interface SignalName {
  readonly name: string
  readonly key: string | undefined
}

export interface LoadAnswer {
  readonly now: Time
  readonly items: readonly (Loaded | undefined)[]
}

export interface Lane {
  readonly tenant: string
  readonly queue: string
  readonly priority: Priority
}

export interface Grant {
  readonly requestId: string
  readonly workerId: string
  readonly actor: string
  /** 64 random bits as 16 hexadecimal digits; the fence of each job is `generation.attempt.nonce`. */
  readonly nonce: string
  readonly lanes: readonly Lane[]
  /** Words of what the jobs of its lanes may need; whether they cover a need, `servedBy` of core says. Absent: whatever type they do. */
  readonly serves?: readonly string[] | undefined
  readonly limit: number
  /**
   * How many jobs with a flow it may be given at most: as many as it begins at once, since a job that
   * has a slot and does not begin keeps others from it. Absent: as many as any.
   */
  readonly limited?: number | undefined
  readonly maxInputBytes: number
  /** How long the answer may be waited for while there is nothing to claim (S17). Absent or 0: it is given at once. */
  readonly waitMs?: number | undefined
  /** While it waits: the longest pause between two looks at its lanes, for what no hint tells of; a store that knows a time looks then. A second unless given. */
  readonly pollMs?: number | undefined
  /** Aborts when the answer is no longer waited for. */
  readonly signal?: AbortSignal | undefined
}

export interface ClaimedJob {
  /** The record as it was; the engine evolves it and asserts that it arrives at what was stamped. */
  readonly before: Job
  readonly rev: number
  readonly attempt: number
  readonly leaseExpiresAt: Time
  /** When the claim happened: `now`, but for a repeated claim. */
  readonly at: Time
  /** The input's text; `undefined` if there is none or it would have gone over `maxInputBytes`. */
  readonly input: string | undefined
  /** The key that hears how the attempt ends (`toldKey`), as it is at the claim or later. Absent: there is none. */
  readonly flow?: Pick<FlowKey, 'key' | 'text' | 'rev'> | undefined
}

export interface ClaimAnswer {
  readonly now: Time
  /** The request was answered before, and this is that answer. */
  readonly replayed: boolean
  readonly jobs: readonly ClaimedJob[]
  /** How long the claim had waited when work was last looked for, by this process's clock. Absent: it did not wait. */
  readonly waitedMs?: number | undefined
  /** It got less than it asked for while others held jobs that it could have had. Never where claims take turns. */
  readonly contended?: boolean | undefined
}

export type Change =
  | {
      readonly kind: 'move'
      readonly before: Job
      readonly after: Job
      readonly events: readonly Event[]
      readonly bodies: readonly Body[]
      /** All bodies of the job go, its input and those that this very change brings included. */
      readonly strips?: true | undefined
      /** The lease must still be live by the store's own clock: the change comes from its owner. */
      readonly notAfter: Time | undefined
      readonly give: readonly Key[]
      readonly take: readonly Key[]
      /** A successor, enqueued in the same commit. */
      readonly spawn: NewJob | undefined
      /** Keys that it names from now on and did not before, and what the store is to know of those where it knows nothing yet. */
      readonly births?: readonly KeyBirth[] | undefined
      /** What becomes of one of its flow keys by it. A conflict of the key is a conflict of the change. */
      readonly flow?: KeyMove | undefined
      /** What is to be added to what its keys have spent in their present windows. A key without a budget counts nothing. */
      readonly spent?: readonly Spend[] | undefined
    }
  /** Replace observations of an ended job by one `compacted` event, which has the rev of the last of them. */
  | { readonly kind: 'compact'; readonly before: Job; readonly event: Event; readonly replaces: readonly number[] }
  | { readonly kind: 'annotate'; readonly annotation: Annotation }
  /** Remove an ended job, its events, bodies and keys. */
  | { readonly kind: 'purge'; readonly before: Job }
  /** What somebody sets for a flow key, or learns about it, with no job involved. */
  | { readonly kind: 'key'; readonly tenant: string; readonly move: KeyMove }
  | ({ readonly kind: 'mend' } & Mend)

/** The change that takes a job further. */
export type MoveChange = Extract<Change, { readonly kind: 'move' }>

export type Verdict =
  | { readonly status: 'applied' }
  /** Not at `before.rev` any more, or gone. */
  | { readonly status: 'conflict' }
  /** The store's clock has reached `notAfter`. */
  | { readonly status: 'late' }
  | { readonly status: 'taken'; readonly key: Key; readonly holder: JobId }
  | { readonly status: 'rejected'; readonly field: string; readonly rule: string }

export interface CommitAnswer {
  readonly now: Time
  readonly verdicts: readonly Verdict[]
}

export interface Beat {
  readonly id: JobId
  readonly fence: string
  readonly requestId: string
}

export type Beaten =
  | {
      readonly status: 'renewed'
      readonly rev: number
      readonly beats: number
      readonly leaseExpiresAt: Time
      readonly replayed: boolean
    }
  /** Not the owner, or the lease has ended. */
  | { readonly status: 'lost' }
  /** The row was locked by another commit just now: ask again. */
  | { readonly status: 'busy' }
  /** Core has more to say than that the lease goes on: load, decide and commit, as with any other word. */
  | { readonly status: 'careful' }

export interface BeatAnswer {
  readonly now: Time
  readonly items: readonly Beaten[]
}

export interface DueAnswer {
  readonly now: Time
  readonly jobs: readonly Job[]
  /** Not all was let in that could be: ask again at once. */
  readonly more?: boolean | undefined
  /** By how much whatever the store reads the time from was set back since this was last asked; the store's own goes on. */
  readonly setBackMs?: number | undefined
}

export interface JobQuery {
  readonly tenant?: string | undefined
  readonly states?: readonly State[] | undefined
  /** Queues and types that jobs were enqueued with, wherever admission has sent them since: counts and the feed go by those, too. */
  readonly queues?: readonly string[] | undefined
  readonly types?: readonly string[] | undefined
  /** A job must have all of them, name and value. Empty: nothing is narrowed. */
  readonly labels?: Readonly<Record<string, string>> | undefined
  readonly correlationId?: string | undefined
  readonly parentId?: JobId | undefined
  readonly workflowId?: string | undefined
  readonly dedupeKey?: string | undefined
  /** Code of the last error. */
  readonly code?: string | undefined
  /** Intervals are half open: from <= createdAt < to. */
  readonly createdFrom?: Time | undefined
  readonly createdTo?: Time | undefined
  /** For retention: ended before. */
  readonly endedBefore?: Time | undefined
  /**
   * Those born later need not be looked at. Roughly: numbers rise with time, so a store stops at the number it had come
   * to then, instead of walking over all there is when nothing is old enough.
   */
  readonly roughlyBornBefore?: Time | undefined
  /**
   * For retention: those with a long log (`hasLongLog`) that ended in this time, half open. They come in the order of
   * their ends, whatever `order` says, and nothing else narrows them.
   */
  readonly longEnded?: { readonly from: Time; readonly to: Time } | undefined
  readonly order: 'newest' | 'oldest'
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface JobPage {
  readonly now: Time
  readonly jobs: readonly Job[]
  /** Where to go on; absent at the end, and only there. */
  readonly cursor: string | undefined
}

export type EventQuery =
  /** The cursor is the revision to go on after. */
  | { readonly by: 'job'; readonly id: JobId; readonly afterRev: number; readonly limit: number }
  | { readonly by: 'annotation'; readonly id: JobId }
  | {
      readonly by: 'type'
      readonly tenant?: string | undefined
      readonly types: readonly EventType[]
      /** from <= at < to, oldest first. */
      readonly from: Time
      readonly to: Time
      readonly limit: number
      readonly cursor?: string | undefined
    }
  /** Job by job in order of their numbers, of each in the order of its log: what belongs together may be many jobs. */
  | {
      readonly by: 'correlation'
      readonly tenant?: string | undefined
      readonly correlationId: string
      readonly limit: number
      readonly cursor?: string | undefined
    }
  /** The feed, after a position (`''`: from its beginning; `undefined`: nothing but the current end). */
  | { readonly by: 'feed'; readonly after: string | undefined; readonly limit: number }
  /** Counts per queue, type and state, of one tenant or of all, of one name of a queue or of all, exact as of a feed position. */
  | { readonly by: 'tally'; readonly tenant?: string | undefined; readonly queue?: string | undefined }
  /** Since when each queue has something to claim, of the first so many lanes that hold anything. */
  | { readonly by: 'backlog'; readonly lanes: number }
  /** Flow keys of a tenant: those named, or all by their names (code unit by code unit) from behind the cursor on. */
  | {
      readonly by: 'keys'
      readonly tenant: string
      readonly names?: readonly string[] | undefined
      readonly limit: number
      readonly cursor?: string | undefined
      /** Their slots are to be counted anew. */
      readonly recount?: boolean | undefined
    }

export type TallyQuery = Extract<EventQuery, { by: 'tally' }>

export interface FeedItem {
  /** As `comparePositions` has it, above that of every item before. */
  readonly position: string
  readonly jobId: JobId
  readonly rev: number
  readonly type: EventType
  readonly tenant: string
  readonly queue: string
  readonly jobType: string
}

export interface Tally {
  readonly tenant: string
  readonly queue: string
  readonly jobType: string
  readonly state: State
  readonly count: number
}

export interface Backlog {
  readonly tenant: string
  readonly queue: string
  /** When the job could first be claimed that has waited longest. */
  readonly since: Time
}

export interface EventPage {
  readonly now: Time
  readonly events: readonly Event[]
  readonly annotations: readonly Annotation[]
  readonly feed: readonly FeedItem[]
  readonly tally: readonly Tally[]
  readonly backlog: readonly Backlog[]
  readonly keys?: readonly KeyView[] | undefined
  /** Jobs removed by retention, ever (I9). */
  readonly purged: number
  /** Where to go on: a cursor, or for the feed the position reached. */
  readonly cursor: string | undefined
}

export type Hint =
  /** `needs`: for those only who serve that. */
  | ({ readonly about: 'queue'; readonly needs?: string | undefined } & Pick<Lane, 'tenant' | 'queue'>)
  | { readonly about: 'job'; readonly id: JobId; readonly tenant: string; readonly queue: string }
  /** Hints may have been lost: look at everything. */
  | { readonly about: 'anything' }
