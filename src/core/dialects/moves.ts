/** What the events of one commit are to a document: from which status to which, event by event. */
import type { Event } from '../event.ts'
import { evolve } from '../evolve.ts'
import type { Job } from '../job.ts'
import type { DialectName } from '../policy.ts'
import type { Status } from './dialect.ts'
import { NONE } from './path.ts'
import { DIALECTS } from './registry.ts'
import { statusOf } from './view.ts'

export interface StatusMove {
  readonly from: Status
  readonly to: Status
}

/** Undefined in the place of an event that is no change to it. */
export function movesOf(
  events: readonly Event[],
  before: Job | undefined,
  name: DialectName,
): readonly (StatusMove | undefined)[] {
  const dialect = DIALECTS[name]
  let job = before
  let from = job === undefined ? NONE : statusOf(job, dialect)
  return events.map((event) => {
    job = evolve(job, event)
    const move = { from, to: statusOf(job, dialect) }
    from = move.to
    return move.from === move.to ? undefined : move
  })
}
