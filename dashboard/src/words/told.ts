/** One job in a document's words, exactly: where a word depends on how far a job has come, its record and its log say how far. */
import {
  movesTelling,
  NONE,
  type Reach,
  reach,
  shownAs,
  type Trail,
  trailAfter,
  trailBefore,
} from '../../../src/gateway/contract/telling.ts'
import type { Dialect, Job, JobEvent } from '../api/wire.ts'

type Stand = Pick<Job, 'generation' | 'lease' | 'lastClaim' | 'startedAt'>

/** How far it has come in its generation. */
export const reachOf = ({ generation, lease, lastClaim, startedAt }: Stand): Reach =>
  reach({
    owned: lease !== undefined,
    generation,
    left: lastClaim?.generation,
    started: startedAt !== undefined,
    ran: lastClaim?.ran === true,
  })

export const statusOf = (dialect: Dialect, job: Stand & Pick<Job, 'state'>): string =>
  shownAs(dialect, job.state, reachOf(job))

export interface ToldMove {
  readonly to: string
  /** Nobody caused it: the document has no other way. */
  readonly isImplied: boolean
}

/** By their revisions, the moves by which a document tells what has happened; a log may begin anywhere, and have gaps. */
export function movesTold(dialect: Dialect, events: readonly JobEvent[]): ReadonlyMap<number, readonly ToldMove[]> {
  const told = new Map<number, readonly ToldMove[]>()
  const [first] = events
  let trail: Trail | undefined = first && trailBefore(beginningOf(first))
  let state = first?.from
  for (const event of events) {
    const { type, to, from, generation, rev } = event
    if (to === undefined || trail === undefined) continue
    if (from !== state) trail = trailBefore(beginningOf(event))
    const before = from === undefined ? NONE : shownAs(dialect, from, reach(trail))
    trail = trailAfter(trail, { to, generation })
    const moves = movesTelling(dialect, type, before, shownAs(dialect, to, reach(trail)))
    told.set(
      rev,
      moves.map((move) => ({ to: move.to, isImplied: move.implied })),
    )
    state = to
  }
  return told
}

const beginningOf = ({ type, from, state, attempt, generation }: JobEvent) => ({
  type,
  from,
  state,
  attempt,
  generation,
})
