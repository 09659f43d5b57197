/**
 * In which order a worker asks its lanes, and starts what it has claimed from them. Urgency first: the priority, raised by
 * one for every `ageMs` that a lane has been passed over, so that nothing starves. Among lanes of equal urgency shares follow
 * the weights: each lane has a pass, which grows by 1 / weight for every job it gave, and the lowest pass goes first (stride
 * scheduling). A lane that had nothing to give saves nothing up. Stores know none of this: they walk the lanes as they are told.
 *
 * What a lane gave to one claim is a draw. Its jobs are as urgent as the lane was when it was asked, and each has the pass that
 * the lane had reached with it: so the draws of two claims are started as if both had been one, and a job that was claimed
 * because its lane had aged does not wait again behind those it was to overtake.
 */
import type { Priority, Time } from './job.ts'

/**
 * How long a lane is passed over before it gains one priority, where nobody says. A lane of priority 9 is as urgent as one of
 * priority 0 after 135 s, `normal` as `critical` after 60 s. Long enough for a rush of urgent jobs to be over before others
 * interrupt it; and all of it within five minutes, which is how long an attempt may take and a caller who waits does.
 */
export const AGE_MS = 15_000

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

/** What puts a lane before others, or the next job of a draw. */
export interface Precedence {
  /** 0 goes first. */
  readonly urgency: number
  readonly pass: number
  readonly priority: Priority
}

/** What one lane gave to one claim. */
export interface Draw extends Precedence {
  readonly weight: number
}

/** Below 0: `a` goes first. */
export const byPrecedence = (a: Precedence, b: Precedence): number =>
  a.urgency - b.urgency || a.pass - b.pass || a.priority - b.priority

export function orderLanes(uses: readonly LaneUse[], now: Time, ageMs: number): readonly LaneUse[] {
  return uses
    .map((use) => ({ use, precedence: precedenceOf(use, now, ageMs) }))
    .sort((a, b) => byPrecedence(a.precedence, b.precedence))
    .map(({ use }) => use)
}

/** `asked`: the lane as it was when it was asked; `use`: as it is by now, when another claim may have been answered since. */
export const drawFrom = (asked: LaneUse, use: LaneUse, askedAt: Time, ageMs: number): Draw => ({
  ...precedenceOf(asked, askedAt, ageMs),
  pass: use.pass,
  weight: use.weight,
})

/** The pass of a draw's next job, once so many of it have gone. */
export const passAfter = ({ pass, weight }: Pick<Draw, 'pass' | 'weight'>, gone: number): number => pass + gone / weight

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
  const passes = uses.map((use) => passAfter(use, outcomes.get(use.lane)?.count ?? 0))
  const floor = lowestOf(passes.filter((_, i) => (outcomes.get((uses[i] as LaneUse).lane)?.count ?? 0) > 0))
  return uses.map((use, i) => {
    const outcome = outcomes.get(use.lane)
    if (outcome === undefined) return use
    const pass = passes[i] as number
    const hungrySince = Math.max(use.hungrySince, now)
    return { ...use, pass: outcome.empty ? Math.max(pass, floor) : pass, hungrySince }
  })
}

/** A priority, raised by one for every `ageMs` that it has been passed over. */
export const urgencyOf = (priority: Priority, hungrySince: Time, now: Time, ageMs: number): number =>
  Math.max(0, priority - Math.floor(Math.max(0, now - hungrySince) / ageMs))

const precedenceOf = ({ lane, pass, hungrySince }: LaneUse, now: Time, ageMs: number): Precedence => ({
  urgency: urgencyOf(lane.priority, hungrySince, now, ageMs),
  pass,
  priority: lane.priority,
})

/** Where the lanes that do have work stand: what an empty lane is brought up to. */
const lowestOf = (passes: readonly number[]): number => (passes.length === 0 ? 0 : Math.min(...passes))
