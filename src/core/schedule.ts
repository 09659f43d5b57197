/**
 * Schedules: when their jobs are due, and what becomes of times that nobody was there for. Pure: which times a pattern has is
 * asked of a function, what time it is is told. A slot is an instant at which a schedule has one job, however many processes
 * look after it; `next` is the only memory of progress.
 */
import { fraction } from './hash.ts'
import type { JobFlow, Priority, Time } from './job.ts'

export const CATCH_UPS = ['skip', 'latest', 'all'] as const
/** What is done about slots that passed while nobody looked: none of them, the newest, or all up to a cap. */
export type CatchUp = (typeof CATCH_UPS)[number]

/** Either a pattern on the clock of a time zone, or so often since an anchor. */
export type Timing =
  | { readonly cron: string; readonly timeZone: string }
  | { readonly everyMs: number; readonly anchor: Time }

export interface Schedule {
  readonly name: string
  readonly timing: Timing
  readonly catchUp: CatchUp
  /** How many of the newest are made up for, where `catchUp` is `all`. */
  readonly cap: number
  /** A job runs up to this much after its slot; the slot itself never moves. */
  readonly jitterMs: number
  readonly type: string
  /** Absent: as whoever knows the type has announced it, as is the policy. */
  readonly queue: string | undefined
  readonly priority: Priority
  /** The text of its jobs' input. */
  readonly input: string | undefined
  /** What lets its jobs in: their input is always the same, and so are the names that it gives them. */
  readonly flow?: JobFlow | undefined
  readonly paused: boolean
  /** The first slot that has not been dealt with; undefined where the pattern has no more. */
  readonly next: Time | undefined
  /** The last slot that got its job. */
  readonly last: Time | undefined
  /** Slots that never will. */
  readonly missed: number
  /** Deploys change and remove what is in code, and leave alone what was made by hand. */
  readonly source: 'code' | 'hand'
}

/** What is older was missed: it is made up for only if `catchUp` says so. */
export const LATE_MS = 60_000
export const CATCH_UP_CAP = 100
/** Missed slots are counted so far at a time: who was away for a year need not know how many seconds it had. */
const COUNTED_MOST = 10_000

export interface ScheduleTimes {
  /** The first slot after an instant; undefined: there is none. */
  readonly after: (at: Time) => Time | undefined
}

export interface Due {
  /** Slots to make jobs for, oldest first. */
  readonly slots: readonly Time[]
  readonly next: Time | undefined
  readonly missed: number
}

/** Whether the time of a slot has come. */
export const isDue = <S extends Pick<Schedule, 'next'>>(
  schedule: S,
  now: Time,
): schedule is S & { readonly next: Time } => schedule.next !== undefined && schedule.next <= now

/** Undefined: nothing is due. */
export function dueOf(
  schedule: Pick<Schedule, 'next' | 'catchUp' | 'cap' | 'paused'>,
  times: ScheduleTimes,
  now: Time,
): Due | undefined {
  if (!isDue(schedule, now)) return undefined
  const { next: first } = schedule
  const next = times.after(now)
  if (schedule.paused) return { slots: [], next, missed: slotsIn(first, now, times).length }
  const late = slotsIn(first, now - LATE_MS - 1, times)
  const made = madeUp(schedule, late, times, now)
  const punctual = slotsIn(Math.max(first, now - LATE_MS), now, times)
  return { slots: [...made, ...punctual], next, missed: late.length - made.length }
}

function madeUp(
  { catchUp, cap }: Pick<Schedule, 'catchUp' | 'cap'>,
  late: readonly Time[],
  times: ScheduleTimes,
  now: Time,
): readonly Time[] {
  if (catchUp === 'skip' || late.length === 0) return []
  const wanted = catchUp === 'latest' ? 1 : cap
  const newest = late.length < COUNTED_MOST ? late : newestBefore(now - LATE_MS, wanted, times)
  return newest.slice(-wanted)
}

/** From one slot on to an instant, both included; so many and no more. */
function slotsIn(first: Time, until: Time, times: ScheduleTimes): readonly Time[] {
  const slots: Time[] = []
  for (let at = times.after(first - 1); at !== undefined && at <= until; at = times.after(at)) {
    slots.push(at)
    if (slots.length === COUNTED_MOST) break
  }
  return slots
}

/** Where there are too many to walk from the first: looks back further and further until there are enough. */
function newestBefore(end: Time, wanted: number, times: ScheduleTimes): readonly Time[] {
  let slots: readonly Time[] = []
  for (let backMs = LATE_MS; slots.length < wanted; backMs *= 2) slots = slotsIn(end - backMs, end - 1, times)
  return slots
}

/** The slots of an interval are the same for everybody. */
export const intervalTimes = (everyMs: number, anchor: Time): ScheduleTimes => ({
  after: (at) => anchor + (Math.floor((at - anchor) / everyMs) + 1) * everyMs,
})

/** When the job of a slot runs: the same for whoever computes it. */
export const slotRunsAt = ({ name, jitterMs }: Pick<Schedule, 'name' | 'jitterMs'>, slot: Time): Time =>
  slot + Math.floor(jitterMs * fraction(`${name}@${slot}`))

/** Under which request the job of a slot is enqueued: the store's keys see to it that there is one. */
export const slotRequest = (name: string, slot: Time): string => `schedule/${name}@${slot}`

export interface Definition extends Omit<Schedule, 'paused' | 'next' | 'last' | 'missed'> {
  /** Given: it is begun, or goes on, paused or not. Absent: as it was. */
  readonly paused?: boolean | undefined
}

/**
 * A schedule as it is from now on. What it has done stays; its next slot is the first of the new pattern after now where the
 * pattern is another, and where it was paused and goes on.
 */
export function redefined(
  before: Schedule | undefined,
  { paused = before?.paused ?? false, ...definition }: Definition,
  times: ScheduleTimes,
  now: Time,
): Schedule {
  const { last, missed = 0 } = before ?? {}
  const goesOn = before !== undefined && sameTiming(before.timing, definition.timing) && !(before.paused && !paused)
  return { ...definition, paused, next: goesOn ? before.next : times.after(now), last, missed }
}

export const sameTiming = (a: Timing, b: Timing): boolean =>
  'cron' in a
    ? 'cron' in b && a.cron === b.cron && a.timeZone === b.timeZone
    : 'everyMs' in b && a.everyMs === b.everyMs && a.anchor === b.anchor
