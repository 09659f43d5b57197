/**
 * Whether a document can tell what happens to a job, each entry of its log being somebody's doing. For a job that is only
 * read in a dialect an entry that nobody caused is marked as such; a bound job does nothing that would need one.
 */
import type { Event, TransitionType } from '../event.ts'
import type { Job, State } from '../job.ts'
import type { Dialect, Reach, Status, Step } from './dialect.ts'
import { pathOf, shownAs } from './path.ts'
import { reach, trailAfter, trailOf, type Waypoint } from './reach.ts'
import { DIALECTS } from './registry.ts'
import { statusOf } from './view.ts'

/** An entry that nobody caused. A status that changes without a word of its own is none: nothing is written. */
export const isInvented = ({ implied, word }: Step): boolean => implied && word !== undefined

export interface Untold {
  readonly event: TransitionType
  readonly from: Status
  readonly to: Status
}

/** As much of an event as it takes to tell it. */
type Happening = Waypoint & Pick<Event, 'type'>

/** The first of these events that the document has no words for; undefined where it can tell all of them. */
export function untold(dialect: Dialect, job: Job, events: readonly Happening[]): Untold | undefined {
  let trail = trailOf(job)
  let from = statusOf(job, dialect)
  for (const { type, to: state, generation } of events) {
    if (state === undefined) continue
    trail = trailAfter(trail, { to: state, generation })
    const to = shownAs(dialect, state, reach(trail))
    const mute = untoldMove(dialect, type as TransitionType, from, to)
    if (mute !== undefined) return mute
    from = to
  }
  return undefined
}

/** Of one event, from status to status. */
export const untoldMove = (dialect: Dialect, event: TransitionType, from: Status, to: Status): Untold | undefined =>
  hasWordsFor(dialect, event, from, to) ? undefined : { event, from, to }

/** Whether a job may take this step as far as its document is concerned. */
export function canTell(job: Job, type: TransitionType, to: State): boolean {
  const { dialect } = job.spec.kind.policy
  return (
    dialect === undefined || untold(DIALECTS[dialect], job, [{ type, to, generation: job.generation }]) === undefined
  )
}

/** The same from one state to another, for a job that has come so far. */
export const tellsFrom = (
  dialect: Dialect,
  type: TransitionType,
  from: State,
  to: State,
  far: Reach = 'ran',
): boolean => hasWordsFor(dialect, type, shownAs(dialect, from, far), shownAs(dialect, to, far))

/** A job that must begin a new record would be another one: whoever is bound ends for good. */
function hasWordsFor(dialect: Dialect, event: TransitionType, from: Status, to: Status): boolean {
  const path = pathOf(dialect, event, from, to)
  return path !== undefined && !path.fresh && !path.steps.some(isInvented)
}
