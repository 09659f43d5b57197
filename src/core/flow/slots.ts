/**
 * What is taken of a key. A slot is taken by standing in a lane or being owned, and by nothing else; what a rate counts outlives
 * the slot by a window, as a pace. Stores may keep sums instead of rows; the sums must be these.
 */
import type { JobId, Time } from '../job.ts'
import type { Gate } from './gate.ts'

export interface Slot {
  readonly job: JobId
  readonly letInAt: Time
  /** Undefined: it stands, and nobody has claimed it. */
  readonly claimedAt: Time | undefined
}

export interface KeyUse {
  readonly gate: Gate
  readonly slots: readonly Slot[]
  /** When jobs were claimed whose slots are free again, as long as the rate counts them. */
  readonly paces: readonly Time[]
  /** What was spent in the budget's window number `window`. */
  readonly spent: number
  readonly window: number
}

/** What the gate does not ask for need not be counted: it is 0, or all that is taken. */
export interface Count {
  readonly taken: number
  /** Of those, let in at or after the gate's `since`. */
  readonly takenSince: number
  /** What the rate counts: claims within the window, and slots that nobody has claimed yet, as if claimed now. */
  readonly started: number
  /** The first claim to leave the window. */
  readonly oldestStart: Time | undefined
  readonly spent: number
}

/** A key as letting in sees it: how much is taken of what there is. */
export interface Counted {
  readonly gate: Gate
  readonly count: Count
}

export function countOf({ gate, slots, paces, spent, window }: KeyUse, now: Time): Count {
  const since = gate.since === 0 ? slots : slots.filter(({ letInAt }) => letInAt >= gate.since)
  const pace = gate.rate === undefined ? NO_PACE : paceOf(gate, slots, paces, now)
  return {
    taken: slots.length,
    takenSince: since.length,
    ...pace,
    spent: window === windowAt(gate, now) ? spent : 0,
  }
}

const NO_PACE = { started: 0, oldestStart: undefined } as const

function paceOf(gate: Gate, slots: readonly Slot[], paces: readonly Time[], now: Time) {
  // Half-open: a claim at `now - rateMs` is out.
  const counts = (at: Time): boolean => at > now - gate.rateMs
  const claims = [...slots.map(({ claimedAt }) => claimedAt), ...paces].filter((at) => at !== undefined)
  const starts = claims.filter(counts)
  const unclaimed = slots.filter(({ claimedAt }) => claimedAt === undefined).length
  return {
    started: starts.length + unclaimed,
    oldestStart: starts.length === 0 ? undefined : Math.min(...starts),
  }
}

/** With one that is let in now: no gate opens before its `since`. */
export const oneMore = (count: Count): Count => ({
  ...count,
  taken: count.taken + 1,
  takenSince: count.takenSince + 1,
  started: count.started + 1,
})

/** Without one that stands. */
export const oneLess = (count: Count, { since }: Gate, { letInAt }: Slot): Count => ({
  ...count,
  taken: count.taken - 1,
  takenSince: letInAt >= since ? count.takenSince - 1 : count.takenSince,
  started: count.started - 1,
})

/** The windows of a budget are the same for everybody: they begin at multiples of their length. */
export const windowAt = ({ perMs }: Gate, now: Time): number => (perMs === 0 ? 0 : Math.floor(now / perMs))

export const withSpent = (use: KeyUse, amount: number, now: Time): KeyUse => {
  const window = windowAt(use.gate, now)
  return { ...use, spent: (window === use.window ? use.spent : 0) + amount, window }
}

/** The key once a job has left lane and lease. What its rate still counts stays as a pace. */
export function withoutSlot(use: KeyUse, job: JobId, now: Time): KeyUse {
  const gone = use.slots.find((slot) => slot.job === job)
  if (gone === undefined) return use
  const slots = use.slots.filter((slot) => slot !== gone)
  const paces = use.paces.filter((at) => at > now - use.gate.rateMs)
  const pace = paceLeftBy(gone, use.gate, now)
  return { ...use, slots, paces: pace === undefined ? paces : [...paces, pace] }
}

/** What the rate still counts of a slot that is freed: its claim, until it leaves the window. */
export const paceLeftBy = ({ claimedAt }: Slot, { rate, rateMs }: Gate, now: Time): Time | undefined =>
  rate !== undefined && claimedAt !== undefined && claimedAt > now - rateMs ? claimedAt : undefined

/** A rate's slot is not the job's: a second attempt within the window needs another, which the pace of the first remains for. */
export const withClaim = (use: KeyUse, job: JobId, now: Time): KeyUse => ({
  ...use,
  slots: use.slots.map((slot) => (slot.job === job ? { ...slot, claimedAt: now } : slot)),
})
