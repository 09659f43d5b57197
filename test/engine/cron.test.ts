import { Cron } from 'croner'
import { describe, expect, it, vi } from 'vitest'
import { cronTimes } from '../../src/engine/cron.ts'
import { soaking } from '../support/scale.ts'

function timesOf(pattern: string, zone: string) {
  const found = cronTimes(pattern, zone)
  if (!found.ok) throw new Error(found.rule)
  return found.times
}

function slots(pattern: string, zone: string, from: string, count: number): readonly string[] {
  const times = timesOf(pattern, zone)
  const found: string[] = []
  for (let at = times.after(Date.parse(from)); at !== undefined && found.length < count; at = times.after(at))
    found.push(new Date(at).toISOString().slice(0, 16))
  return found
}

/** Once per time of day: the first of two, and the first instant after a gap. */
describe('a pattern with fixed hours', () => {
  it.each([
    [
      'New York, in the gap',
      '30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00Z',
      ['2026-03-08T07:00', '2026-03-09T06:30'],
    ],
    [
      'New York, two that meet after the gap',
      '0,30 2 * * *',
      'America/New_York',
      '2026-03-07T12:00Z',
      ['2026-03-08T07:00', '2026-03-09T06:00', '2026-03-09T06:30'],
    ],
    [
      'New York, one in the gap and one after it',
      '0 2,3 * * *',
      'America/New_York',
      '2026-03-07T12:00Z',
      ['2026-03-08T07:00', '2026-03-09T06:00', '2026-03-09T07:00'],
    ],
    [
      'New York, twice on the wall',
      '30 1 * * *',
      'America/New_York',
      '2026-10-31T12:00Z',
      ['2026-11-01T05:30', '2026-11-02T06:30'],
    ],
    [
      'New York, a list that is twice on the wall',
      '15,45 1 * * *',
      'America/New_York',
      '2026-10-31T12:00Z',
      ['2026-11-01T05:15', '2026-11-01T05:45', '2026-11-02T06:15'],
    ],
    [
      'New York, a range through the fold',
      '0 1-2 * * *',
      'America/New_York',
      '2026-10-31T12:00Z',
      ['2026-11-01T05:00', '2026-11-01T07:00', '2026-11-02T06:00'],
    ],
    [
      'Chicago, in the gap',
      '15 2 * * *',
      'America/Chicago',
      '2026-03-07T12:00Z',
      ['2026-03-08T08:00', '2026-03-09T07:15'],
    ],
    [
      'Berlin, in the gap',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00Z',
      ['2026-03-29T01:00', '2026-03-30T00:30'],
    ],
    [
      'Berlin, twice on the wall',
      '30 2 * * *',
      'Europe/Berlin',
      '2026-10-24T12:00Z',
      ['2026-10-25T00:30', '2026-10-26T01:30'],
    ],
    [
      'Cairo, midnight left out',
      '30 0 * * *',
      'Africa/Cairo',
      '2026-04-22T12:00Z',
      ['2026-04-22T22:30', '2026-04-23T22:00', '2026-04-24T21:30'],
    ],
    [
      'Cairo, the last hour twice',
      '30 23 * * *',
      'Africa/Cairo',
      '2026-10-29T12:00Z',
      ['2026-10-29T20:30', '2026-10-30T21:30'],
    ],
    [
      'Santiago, midnight left out',
      '0 0 * * *',
      'America/Santiago',
      '2026-09-05T12:00Z',
      ['2026-09-06T04:00', '2026-09-07T03:00'],
    ],
    [
      'Santiago, the last hour twice',
      '30 23 * * *',
      'America/Santiago',
      '2026-04-03T12:00Z',
      ['2026-04-04T02:30', '2026-04-05T02:30', '2026-04-06T03:30'],
    ],
    [
      'Lord Howe, half an hour left out',
      '15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-02T12:00Z',
      ['2026-10-02T15:45', '2026-10-03T15:30', '2026-10-04T15:15'],
    ],
    [
      'Lord Howe, half an hour twice',
      '45 1 * * *',
      'Australia/Lord_Howe',
      '2026-04-03T12:00Z',
      ['2026-04-03T14:45', '2026-04-04T14:45', '2026-04-05T15:15'],
    ],
    ['with seconds', '10 30 2 * * *', 'Europe/Berlin', '2026-06-01T12:00Z', ['2026-06-02T00:30']],
    ['by its nickname', '@daily', 'Europe/Berlin', '2026-06-01T12:00Z', ['2026-06-01T22:00']],
    ['that never is', '0 0 30 2 *', 'Europe/Berlin', '2026-06-01T12:00Z', []],
  ] as const)('%s', (_, pattern, zone, from, expected) => {
    expect(slots(pattern, zone, from, Math.max(1, expected.length))).toEqual(expected)
  })
})

/** Elapsed time: both of two equal hours, and none made up for one that is left out. */
describe('a pattern with a wildcard for the hour', () => {
  it.each([
    [
      'New York, twice on the wall',
      '30 * * * *',
      'America/New_York',
      '2026-11-01T04:00Z',
      ['2026-11-01T04:30', '2026-11-01T05:30', '2026-11-01T06:30', '2026-11-01T07:30'],
    ],
    [
      'New York, through the gap',
      '30 * * * *',
      'America/New_York',
      '2026-03-08T06:00Z',
      ['2026-03-08T06:30', '2026-03-08T07:30'],
    ],
    [
      'Lord Howe, half an hour twice',
      '*/30 * * * *',
      'Australia/Lord_Howe',
      '2026-04-04T14:00Z',
      ['2026-04-04T14:30', '2026-04-04T15:00', '2026-04-04T15:30'],
    ],
    ['by its nickname', '@hourly', 'Europe/Berlin', '2026-10-25T00:00Z', ['2026-10-25T01:00', '2026-10-25T02:00']],
    ['as a question mark', '0 ? * * *', 'Europe/Berlin', '2026-10-25T00:00Z', ['2026-10-25T01:00']],
  ] as const)('%s', (_, pattern, zone, from, expected) => {
    expect(slots(pattern, zone, from, expected.length)).toEqual(expected)
  })
})

it.each([
  ['yesterday', 'UTC', /five, six, or seven/],
  ['61 * * * *', 'UTC', /61/],
  ['0 0 * * *', 'Nowhere/At_All', /time zone/i],
  ['* * * * *', 'Nowhere/At_All', /time zone/i],
])('%s in %s is none, and told why', (pattern, zone, rule) => {
  const found = cronTimes(pattern, zone)
  expect(found.ok ? '' : found.rule).toMatch(rule)
})

const DAY = 86_400_000

/** Days around which the clock of a zone is changed, within ten years. */
function changes(zone: string): readonly number[] {
  const format = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  const offset = (at: number) => format.format(at).replace(/^.*GMT/, '')
  const days: number[] = []
  for (let at = Date.UTC(2020, 0, 1), before = offset(at); at < Date.UTC(2030, 0, 1); at += DAY) {
    const now = offset(at)
    if (now !== before) days.push(at)
    before = now
  }
  return days
}

const ALL = Intl.supportedValuesOf('timeZone').slice(0, 400)
/** The gate looks at every tenth zone, the soak at all of them. */
const ZONES = soaking ? ALL : ALL.filter((_, i) => i % 10 === 0)

it(`in ${ZONES.length} zones and ten years times only grow, and a time of day is at most once a day`, () => {
  let changed = 0
  for (const zone of ZONES) {
    const days = changes(zone)
    changed += days.length
    const wall = new Intl.DateTimeFormat('en-CA', {
      timeZone: zone,
      dateStyle: 'short',
      timeStyle: 'medium',
      hourCycle: 'h23',
    })
    const watched = days.length === 0 ? [Date.UTC(2025, 5, 1)] : soaking ? days : days.slice(0, 6)
    for (const pattern of ['30 2 * * *', '*/20 0,1,2,3,23 * * *'])
      for (const day of watched) checkAround(pattern, zone, day, wall)
  }
  expect(changed).toBeGreaterThan(50)
})

function checkAround(pattern: string, zone: string, day: number, wall: Intl.DateTimeFormat): void {
  const times = timesOf(pattern, zone)
  const seen = new Set<string>()
  let before = day - 2 * DAY
  for (let at = times.after(before); at !== undefined && at < day + 2 * DAY; at = times.after(at)) {
    if (at <= before) throw new Error(`${pattern} in ${zone}: ${at} after ${before}`)
    const shown = wall.format(at)
    if (seen.has(shown)) throw new Error(`${pattern} in ${zone}: ${shown} twice`)
    // Whoever asks from just before finds the same.
    if (times.after(at - 1) !== at) throw new Error(`${pattern} in ${zone}: ${shown} is not found again`)
    seen.add(shown)
    before = at
  }
  // No day goes by without one.
  if (seen.size < 3) throw new Error(`${pattern} in ${zone}: ${[...seen].join()}`)
}

describe('the work for one time', () => {
  it.each([
    ['every second of the day, by its hours', '* * 0-23 * * *', 'Europe/Berlin', '2026-06-01T12:00Z'],
    ['every minute, by its hours', '* 0-23 * * *', 'UTC', '2026-06-01T12:00Z'],
    ['before clocks are put forward', '* * 0-23 * * *', 'Europe/Berlin', '2026-03-29T00:59Z'],
    ['after clocks are turned back', '* * 0-23 * * *', 'Europe/Berlin', '2026-10-25T01:30Z'],
  ])('does not grow with how many there are: %s', (_, pattern, zone, from) => {
    const times = timesOf(pattern, zone)
    const asked = vi.spyOn(Cron.prototype, 'nextRun')
    expect(times.after(Date.parse(from))).toBeGreaterThan(Date.parse(from))
    expect(asked.mock.calls.length).toBeLessThanOrEqual(2)
    asked.mockRestore()
  })
})
