/**
 * A dialect is one of the documents as data: its statuses, its event words, its own transition table, how our states
 * and events are told in it, and which commands it knows. Everything that reads a dialect (view, history, refinement,
 * strictness, derive) is written once, over this anatomy.
 */
import type { Event, ObservationType, TransitionEvent, TransitionType } from '../event.ts'
import type { BodyRef, Job, JobId, State } from '../job.ts'
import type { DialectName, Policy } from '../policy.ts'
import type { CommandType } from '../verb.ts'

/** A status as the document spells it, or `none` for a job that it has not heard of yet. */
export type Status = string

/**
 * How far a job has come in its generation: never claimed; claimed, and no attempt has started; claimed again and not
 * started, after an attempt that had; started in its current or last attempt. Documents without a way back need it to
 * say where a queued job stands.
 */
export const REACHES = ['new', 'first', 'again', 'ran'] as const
export type Reach = (typeof REACHES)[number]

export type Shown = Status | Readonly<Record<Reach, Status>>

/** One legal cell of the document's table. */
export interface Row {
  readonly from: Status
  readonly to: Status
  /** The event word that makes this move; absent where the document has none for it. */
  readonly word: string | undefined
  /** Why it stands here although the document's own table has no such cell. */
  readonly settled?: string
  /** Two rows share a word: this one is meant when the error is of this kind. */
  readonly when?: 'transient' | 'permanent'
  /** Accepted in foreign logs, never told by us. */
  readonly deriveOnly?: true
}

/**
 * How bound jobs treat a command that is not known everywhere: as our own machine does, only along a row of the
 * document, or (absent) never.
 */
export type Knows = 'always' | 'alongARow'

/** What a line of a foreign log looks like. */
export interface LogShape {
  /** Fields that may hold the event word, the first that is there counts. */
  readonly word: readonly string[]
  readonly from: string | undefined
  readonly to: string | undefined
  readonly time: string | undefined
  /** Repeated under the same value, a line has no effect. */
  readonly identity: string | undefined
  /** It names the line itself, so that other words under it are a mistake; or the request that may cause several. */
  readonly identifies: 'the line' | 'the request'
  /** A status once reached is set again without harm (002). */
  readonly repeats: boolean
  /** An illegal event is reported and: obeyed, the last one wins (003); or else not obeyed. */
  readonly lastWins: boolean
  /** Words that are not about the status are passed over in silence (003), or reported. */
  readonly otherWords: 'passed over' | 'reported'
  /** The claim word, where a claim that follows another one must carry a higher attempt (000). */
  readonly claim: string | undefined
  /** The field that says which job a line is about. */
  readonly job: string
}

export interface Step {
  readonly from: Status
  readonly to: Status
  readonly word: string | undefined
  /** No event of ours stands behind it: the document cannot get there otherwise. */
  readonly implied: boolean
}

export type Fields = Readonly<Record<string, unknown>>

/** What an entry may say besides its own event. */
export interface Around {
  /** How many entries of the same event follow. */
  readonly nth: number
  /** The last state change, where the document had no words for it. */
  readonly after: TransitionEvent | undefined
}

/** What a policy must not ask for, where the job is bound: it would need a move that the document does not have. */
export interface Forbidden {
  /** As `defineJob` calls it. */
  readonly field: string
  readonly asksFor: (policy: Policy) => boolean
  readonly why: string
}

export interface Dialect {
  readonly name: DialectName
  readonly title: string
  readonly statuses: readonly Status[]
  readonly ended: readonly Status[]
  readonly table: readonly Row[]
  readonly shows: Readonly<Record<State, Shown>>
  /** Our transition → the word that tells it. What is not here is told by implied moves, or by none. */
  readonly tells: Readonly<Partial<Record<TransitionType, string>>>
  /** Our observation → the words that tell it, where its status allows them. */
  readonly notes: Readonly<Partial<Record<ObservationType, readonly string[]>>>
  /** The word for an event that is no change of status and stands in no table, whatever the status (003's plans and tools). */
  readonly aside?: (event: Event) => string | undefined
  readonly knows: Readonly<Partial<Record<CommandType, Knows>>>
  readonly forbids: readonly Forbidden[]
  /** Every field name that `record` and `entry` may use, at any depth. */
  readonly fields: readonly string[]
  /** Fields whose keys are the user's own. */
  readonly free: readonly string[]
  readonly record: (job: Job, status: Status) => Fields
  /** The field that is the job's own result, where the document has one. */
  readonly value?: string
  readonly entry: (event: Event, step: Step, around: Around) => Fields
  readonly log: LogShape
  /** Other names of its statuses (003's constants). */
  readonly constants?: Readonly<Record<Status, string>>
  /** What a word breaks besides the table, in this status (003's numbered invariants). */
  readonly laws?: (status: Status, word: string) => readonly string[]
}

/** Drops what is not there: documents say "absent", not `undefined`. */
export const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

export const iso = (time: number | undefined): string | undefined =>
  time === undefined ? undefined : new Date(time).toISOString()

/** Where pawl itself keeps a payload: a URI like any other. Who came back with nothing left nothing there. */
export const keptAt = (id: JobId, body: BodyRef | undefined): string | undefined =>
  body === undefined || body.size === 0 ? undefined : `pawl:/jobs/${id}/${body.name}`

/** `00-<trace>-<span>-<flags>` */
export const traceIdOf = (traceparent: string | undefined): string | undefined => traceparent?.split('-')[1]

/** A document whose endings are final knows a reopened job as a new record, linked to the old one. */
export const recordId = (id: string, generation: number): string => (generation === 0 ? id : `${id}/${generation}`)
