/**
 * In which order a worker asks its lanes. Urgency first: the priority, raised by one for every `ageMs` that a lane has
 * been passed over, so that nothing starves. Among lanes of equal urgency shares follow the weights: each lane has a
 * pass, which grows by 1 / weight for every job it gave, and the lowest pass goes first (stride scheduling). A lane
 * that had nothing to give saves nothing up. Stores know none of this: they walk the lanes as they are told.
 */
import type { Priority, Time } from './job.ts'

export interface Lane {
  readonly tenant: string
  readonly queue: string
  readonly priority: Priority
}

export interface LaneUse {
  readonly lane: Lane
  /** Greater than 0. Among equally urgent lanes, a share of weight / sum of weights. */
  readonly weight: number
  readonly pass: number
  /** Since when it may have had work that nobody took. */
  readonly hungrySince: Time
}

export function orderLanes(uses: readonly LaneUse[], now: Time, ageMs: number): readonly LaneUse[] {
  return [...uses].sort(
    (a, b) => urgency(a, now, ageMs) - urgency(b, now, ageMs) || a.pass - b.pass || a.lane.priority - b.lane.priority,
  )
}

/**
 * The lanes after a claim: `gave[i]` jobs came from `asked[i]`, `limit` were wanted. A lane that was asked and gave less
 * than what was still wanted is empty.
 */
export function afterClaim(
  asked: readonly LaneUse[],
  gave: readonly number[],
  limit: number,
  now: Time,
): readonly LaneUse[] {
  const floor = lowestPass(asked, gave)
  let wanted = limit
  return asked.map((use, i) => {
    const count = gave[i] ?? 0
    const reached = wanted > 0
    const empty = reached && count < wanted
    wanted -= count
    if (!reached) return use
    const pass = use.pass + count / use.weight
    return { ...use, pass: empty ? Math.max(pass, floor) : pass, hungrySince: now }
  })
}

/** 0 is served first. */
const urgency = ({ lane, hungrySince }: LaneUse, now: Time, ageMs: number): number =>
  Math.max(0, lane.priority - Math.floor(Math.max(0, now - hungrySince) / ageMs))

/** Where the lanes that do have work stand: what an empty lane is brought up to. */
function lowestPass(asked: readonly LaneUse[], gave: readonly number[]): number {
  let lowest = Number.POSITIVE_INFINITY
  for (const [i, use] of asked.entries()) {
    const count = gave[i] ?? 0
    if (count > 0) lowest = Math.min(lowest, use.pass + count / use.weight)
  }
  return Number.isFinite(lowest) ? lowest : 0
}
