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
 * than what was still wanted is empty. `uses` are the lanes as they are by now: another claim may have been answered since
 * this one was made, and both count.
 */
export function afterClaim(
  uses: readonly LaneUse[],
  asked: readonly LaneUse[],
  gave: readonly number[],
  limit: number,
  now: Time,
): readonly LaneUse[] {
  const outcomes = new Map<Lane, { readonly count: number; readonly empty: boolean }>()
  let wanted = limit
  for (const [i, { lane }] of asked.entries()) {
    const count = gave[i] ?? 0
    if (wanted > 0) outcomes.set(lane, { count, empty: count < wanted })
    wanted -= count
  }
  const passes = uses.map(({ lane, pass, weight }) => pass + (outcomes.get(lane)?.count ?? 0) / weight)
  const floor = lowestOf(passes.filter((_, i) => (outcomes.get((uses[i] as LaneUse).lane)?.count ?? 0) > 0))
  return uses.map((use, i) => {
    const outcome = outcomes.get(use.lane)
    if (outcome === undefined) return use
    const pass = passes[i] as number
    const hungrySince = Math.max(use.hungrySince, now)
    return { ...use, pass: outcome.empty ? Math.max(pass, floor) : pass, hungrySince }
  })
}

/** 0 is served first. */
const urgency = ({ lane, hungrySince }: LaneUse, now: Time, ageMs: number): number =>
  Math.max(0, lane.priority - Math.floor(Math.max(0, now - hungrySince) / ageMs))

/** Where the lanes that do have work stand: what an empty lane is brought up to. */
const lowestOf = (passes: readonly number[]): number => (passes.length === 0 ? 0 : Math.min(...passes))
