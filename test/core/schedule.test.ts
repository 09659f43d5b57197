import { describe, expect, it } from 'vitest'
import {
  type Definition,
  dueOf,
  intervalTimes,
  isDue,
  redefined,
  type Schedule,
  type ScheduleTimes,
  sameTiming,
  slotRequest,
  slotRunsAt,
} from '../../src/core/schedule.ts'

const MINUTE = 60_000
const NOW = 1_000 * MINUTE
const times = intervalTimes(MINUTE, 0)

const schedule = (over: Partial<Schedule> = {}) =>
  ({ next: NOW, catchUp: 'skip', cap: 3, paused: false, ...over }) as const

describe('what is due', () => {
  it('is nothing before its time, nor where a pattern has come to its end', () => {
    expect(dueOf(schedule({ next: NOW + 1 }), times, NOW)).toBeUndefined()
    expect(dueOf(schedule({ next: undefined }), times, NOW)).toBeUndefined()
    expect([NOW - 1, NOW, NOW + 1, undefined].map((next) => isDue({ next }, NOW))).toEqual([true, true, false, false])
  })

  it('is the slot whose time has come, and one of the last minute', () => {
    expect(dueOf(schedule(), times, NOW)).toEqual({ slots: [NOW], next: NOW + MINUTE, missed: 0 })
    expect(dueOf(schedule({ next: NOW - MINUTE }), times, NOW)).toMatchObject({ slots: [NOW - MINUTE, NOW], missed: 0 })
    expect(dueOf(schedule({ next: NOW - MINUTE }), times, NOW + 1)).toMatchObject({ slots: [NOW], missed: 1 })
  })

  const late = { next: NOW - 9 * MINUTE }

  it('is skipped, and counted, where it is late', () => {
    expect(dueOf(schedule(late), times, NOW + 1)).toMatchObject({ slots: [NOW], missed: 9 })
  })

  it('is made up for once, by the newest', () => {
    expect(dueOf(schedule({ ...late, catchUp: 'latest' }), times, NOW + 1)).toMatchObject({
      slots: [NOW - MINUTE, NOW],
      missed: 8,
    })
  })

  it('is made up for as often as the cap allows, oldest first', () => {
    expect(dueOf(schedule({ ...late, catchUp: 'all' }), times, NOW + 1)).toMatchObject({
      slots: [NOW - 3 * MINUTE, NOW - 2 * MINUTE, NOW - MINUTE, NOW],
      missed: 6,
    })
    expect(dueOf(schedule({ catchUp: 'all' }), times, NOW)).toMatchObject({ slots: [NOW], missed: 0 })
  })

  it('is missed while paused', () => {
    expect(dueOf(schedule({ ...late, paused: true }), times, NOW)).toEqual({
      slots: [],
      next: NOW + MINUTE,
      missed: 10,
    })
  })

  it('costs no more after years than after a day: the newest are found from the end', () => {
    let asked = 0
    const seconds: ScheduleTimes = {
      after: (at) => {
        asked += 1
        return intervalTimes(1_000, 0).after(at)
      },
    }
    const year = 365 * 24 * 60 * MINUTE
    const due = dueOf(schedule({ next: NOW, catchUp: 'all', cap: 100 }), seconds, NOW + year)
    expect(due?.slots.slice(0, 100).at(-1)).toBe(NOW + year - MINUTE - 1_000)
    expect(due?.slots).toHaveLength(100 + 61)
    expect(asked).toBeLessThan(11_000)
  })

  it('ends where the pattern does', () => {
    const once: ScheduleTimes = { after: (at) => (at < NOW ? NOW : undefined) }
    expect(dueOf(schedule(), once, NOW)).toEqual({ slots: [NOW], next: undefined, missed: 0 })
  })
})

it('a job runs after its slot, by the same jitter for whoever computes it', () => {
  expect(slotRunsAt({ name: 'n', jitterMs: 0 }, NOW)).toBe(NOW)
  const runs = slotRunsAt({ name: 'n', jitterMs: 10_000 }, NOW)
  expect(runs).toBeGreaterThan(NOW)
  expect(runs).toBeLessThan(NOW + 10_000)
  expect(slotRunsAt({ name: 'n', jitterMs: 10_000 }, NOW)).toBe(runs)
  expect(slotRequest('n', NOW)).toBe('schedule/n@60000000')
})

describe('a schedule that is defined again', () => {
  const definition: Definition = {
    name: 'n',
    timing: { everyMs: MINUTE, anchor: 0 },
    catchUp: 'skip',
    cap: 1,
    jitterMs: 0,
    type: 't',
    queue: undefined,
    priority: 5,
    input: undefined,
    source: 'code',
  }
  const born = redefined(undefined, definition, times, NOW)
  const used: Schedule = { ...born, next: NOW - 5, last: NOW - MINUTE, missed: 4 }

  it('begins with the first slot after now', () => {
    expect(born).toMatchObject({ next: NOW + MINUTE, paused: false, last: undefined, missed: 0 })
  })

  it('goes on where it was, with other words', () => {
    expect(redefined(used, { ...definition, type: 'u' }, times, NOW)).toEqual({ ...used, type: 'u' })
  })

  it('with another pattern begins anew, and remembers what it has done', () => {
    const timing = { everyMs: 2 * MINUTE, anchor: 0 }
    expect(redefined(used, { ...definition, timing }, intervalTimes(2 * MINUTE, 0), NOW)).toMatchObject({
      next: NOW + 2 * MINUTE,
      last: NOW - MINUTE,
      missed: 4,
    })
  })

  it('stays paused until somebody says otherwise, and then goes on after now', () => {
    const paused = redefined(used, { ...definition, paused: true }, times, NOW)
    expect(paused).toMatchObject({ paused: true, next: NOW - 5 })
    expect(redefined(paused, definition, times, NOW)).toMatchObject({ paused: true, next: NOW - 5 })
    expect(redefined(paused, { ...definition, paused: false }, times, NOW)).toMatchObject({ next: NOW + MINUTE })
  })
})

it.each([
  [{ everyMs: 1, anchor: 0 }, { everyMs: 1, anchor: 0 }, true],
  [{ everyMs: 1, anchor: 0 }, { everyMs: 2, anchor: 0 }, false],
  [{ everyMs: 1, anchor: 0 }, { everyMs: 1, anchor: 5 }, false],
  [{ everyMs: 1, anchor: 0 }, { cron: 'c', timeZone: 'z' }, false],
  [{ cron: 'c', timeZone: 'z' }, { everyMs: 1, anchor: 0 }, false],
  [{ cron: 'c', timeZone: 'z' }, { cron: 'c', timeZone: 'z' }, true],
  [{ cron: 'c', timeZone: 'z' }, { cron: 'd', timeZone: 'z' }, false],
  [{ cron: 'c', timeZone: 'z' }, { cron: 'c', timeZone: 'y' }, false],
])('%o and %o are the same: %s', (a, b, same) => {
  expect(sameTiming(a, b)).toBe(same)
})
