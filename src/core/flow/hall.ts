/**
 * Where held jobs wait: what letting in looks at, and nothing else. A flow is what waits as one: its jobs are stopped by exactly
 * the same things, so no job ever moves from key to key, and only the first of a flow is ever looked at.
 */
import type { JobId, Priority, Time } from '../job.ts'
import type { Counted } from './slots.ts'

/** Where a flow waits: at a key without room, a lane that is full, or a queue that is paused. */
export type Place = `key ${string}` | `lane ${string}` | `queue ${string}`

export const atKey = (key: string): Place => `key ${key}`
export const atLane = (lane: string): Place => `lane ${lane}`
export const atQueue = (queue: string): Place => `queue ${queue}`

export interface Flow {
  readonly name: string
  readonly queue: string
  readonly lane: string
  readonly priority: Priority
  /** In the order in which they were declared. None: it only takes turns. */
  readonly keys: readonly string[]
  /** On whose account it takes turns: flows of one account that wait at a place have as many among them as one would have. */
  readonly account: string
  /** The share of the turns that its account has. */
  readonly weight: number
  /** How far it is in taking turns: the lowest goes first. */
  readonly pass: number
  readonly waitsAt: Place | undefined
  /** When it is to be looked at though nobody frees anything. */
  readonly nextAt: Time | undefined
}

export interface Held {
  readonly job: JobId
  readonly readyAt: Time
}

export interface Hall {
  flow(name: string): Flow
  /** Flows of a priority that wait at a place, the lowest pass first; drawn one by one. */
  ring(place: Place, priority: Priority): Iterable<Flow>
  /** The highest pass of those that wait there on one account. */
  lastOf(place: Place, priority: Priority, account: string): number | undefined
  prioritiesAt(place: Place): readonly Priority[]
  /** Since when nothing of this priority has been let in at the place, while something waited there. */
  hungrySince(place: Place, priority: Priority): Time
  /** The jobs of a flow by (readyAt, id), drawn one by one. */
  held(flow: string): Iterable<Held>
  key(name: string): Counted
  /** How many of a lane have been let in and are not claimed. */
  standing(lane: string): number
  isPaused(queue: string): boolean
  /** How many of a lane may stand. */
  readonly window: number
}

/** How many of a lane stand at most, let in and unclaimed. */
export const LANE_WINDOW = 32
/** What one commit does at most. What is left is looked at again at once, by another. */
export const LET_IN_MOST = { jobs: 100, tries: 400 } as const
/** What stood this long and was not claimed makes room for others. */
export const PATIENCE_MS = 5_000

/**
 * The pass of a flow that joins others: nobody saves up turns while it has nothing to run, and nobody owes more than one for
 * those it had elsewhere. Others of its account (`last`, the highest pass of them) are first: a customer with jobs under a thousand
 * keys has a thousand flows, and one customer's turns.
 */
export const joiningPass = (
  { pass, weight }: Pick<Flow, 'pass' | 'weight'>,
  lowest: number | undefined,
  last?: number | undefined,
): number => {
  if (last !== undefined) return last + 1 / weight
  return lowest === undefined ? pass : Math.min(Math.max(pass, lowest), lowest + 1 / weight)
}

/** The pass of a flow that has had its turn: it comes behind all others of its account. */
export const passedOn = ({ pass, weight }: Pick<Flow, 'pass' | 'weight'>, last: number | undefined): number =>
  Math.max(pass, last ?? pass) + 1 / weight
