/**
 * The times of a cron pattern in a time zone. Which wall-clock times a pattern names is croner's knowledge; what becomes of them
 * where clocks are changed is decided here, by one rule: an hour field that begins with `*` means elapsed time (both of two
 * equal hours, none for one that is left out); any other names times of day, each of which is once: the first of two, and the
 * first instant after the gap for one that is left out.
 */
import { Cron } from 'croner'
import type { Time } from '../core/job.ts'
import type { ScheduleTimes } from '../core/schedule.ts'

/** Clocks are changed by less, and never twice within as much. */
const AROUND_MS = 36 * 60 * 60 * 1_000

export type CronTimes =
  | { readonly ok: true; readonly times: ScheduleTimes }
  | { readonly ok: false; readonly rule: string }

/** Parsed once: the ticker asks for each schedule every second. The one asked for longest ago goes first. */
const known = new Map<string, CronTimes>()
const KNOWN_MOST = 1_000

/** The times; or what is wrong with a pattern or a zone that is none. */
export function cronTimes(pattern: string, timeZone: string): CronTimes {
  const name = `${timeZone} ${pattern}`
  const times = known.get(name) ?? parsed(pattern, timeZone)
  known.delete(name)
  known.set(name, times)
  if (known.size > KNOWN_MOST) known.delete(known.keys().next().value as string)
  return times
}

function parsed(pattern: string, timeZone: string): CronTimes {
  try {
    return { ok: true, times: isElapsed(pattern) ? elapsed(pattern, timeZone) : timesOfDay(pattern, zoneOf(timeZone)) }
  } catch (error) {
    return { ok: false, rule: error instanceof Error ? error.message : String(error) }
  }
}

/** The hour is the second of five fields, and the third of more. */
function isElapsed(pattern: string): boolean {
  const fields = pattern.trim().split(/\s+/)
  if (fields.length === 1) return fields[0]?.toLowerCase() === '@hourly'
  return /^[*?]/.test(fields[fields.length > 5 ? 2 : 1] ?? '')
}

/** Croner walks through repeated hours twice where a pattern has a wildcard. */
function elapsed(pattern: string, timeZone: string): ScheduleTimes {
  // Croner notices that a zone is none when it is asked for a time.
  zoneOf(timeZone)
  const cron = new Cron(pattern, { timezone: timeZone, paused: true })
  return { after: (at) => cron.nextRun(new Date(at))?.getTime() }
}

/** Each time of day is found where no clock is ever changed, and then looked up on the wall. */
function timesOfDay(pattern: string, zone: Zone): ScheduleTimes {
  const cron = new Cron(pattern, { utcOffset: 0, paused: true })
  const after = (at: Time): Time | undefined => {
    const wall = cron.nextRun(new Date(shownBy(at, zone)))?.getTime()
    return wall === undefined ? undefined : instantOf(wall, zone)
  }
  return { after }
}

/**
 * The latest time that a clock on the wall has shown, or jumped over, by an instant. Times are looked for behind it, and not from
 * somewhere before it: a pattern with every second of a day has a hundred thousand of them in between.
 */
function shownBy(at: Time, { offsetAt }: Zone): Time {
  const before = offsetAt(at - AROUND_MS)
  const shown = offsetAt(at)
  // What a clock has shown before it was turned back, it shows again: that was done the first time.
  if (before <= shown) return at + shown
  return Math.max(at + shown, jumpBetween(at - AROUND_MS, at, offsetAt) + before - 1)
}

interface Zone {
  /** What a wall clock is ahead of UTC, in milliseconds. */
  readonly offsetAt: (at: Time) => number
}

/** The first instant at which the clock on the wall shows this time, or where it jumps over it. */
function instantOf(wall: Time, { offsetAt }: Zone): Time {
  const before = offsetAt(wall - AROUND_MS)
  const after = offsetAt(wall + AROUND_MS)
  // The earlier of two instants is the one with the larger offset.
  for (const offset of before > after ? [before, after] : [after, before])
    if (offsetAt(wall - offset) === offset) return wall - offset
  return jumpBetween(wall - Math.max(before, after), wall - Math.min(before, after), offsetAt)
}

/** The first instant with the later offset. */
function jumpBetween(from: Time, to: Time, offsetAt: Zone['offsetAt']): Time {
  const later = offsetAt(to)
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetAt(middle) === later) high = middle
    else low = middle
  }
  return high
}

/** Made once: that takes as long as a thousand looks at it. The one asked for longest ago goes first: a zone has as many names as its letters have cases. */
const zones = new Map<string, Zone>()
const ZONES_MOST = 500

/** Throws where there is no such zone. */
function zoneOf(timeZone: string): Zone {
  const zone = zones.get(timeZone) ?? zoneNamed(timeZone)
  zones.delete(timeZone)
  zones.set(timeZone, zone)
  if (zones.size > ZONES_MOST) zones.delete(zones.keys().next().value as string)
  return zone
}

function zoneNamed(timeZone: string): Zone {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'iso8601',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  })
  return { offsetAt: (at: Time) => wallOf(format, at) - Math.floor(at / 1_000) * 1_000 }
}

function wallOf(format: Intl.DateTimeFormat, at: Time): Time {
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {}
  for (const { type, value } of format.formatToParts(at)) part[type] = Number(value)
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = part
  return Date.UTC(year, month - 1, day, hour, minute, second)
}
