import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { derive, dialectLog, dialectView, isJobBlocked } from '../../src/contract.ts'
import { compact } from '../../src/core/compact.ts'
import { history } from '../../src/core/dialects/history.ts'
import { READING_NAMES } from '../../src/core/dialects/registry.ts'
import type { Event } from '../../src/core/event.ts'
import { given, T0 } from '../core/given.ts'
import { scaled } from '../support/scale.ts'
import { lived } from './random-history.ts'

const without = <T>(list: readonly T[], i: number): readonly T[] => list.filter((_, n) => n !== i)

describe.each([...READING_NAMES])('a log told in %s', (name) => {
  const missing = (log: readonly unknown[], reaches?: number) =>
    derive(name, log, reaches).violations.filter(({ rule }) => rule === 'missing').length

  /** One record at a time: what is reopened begins a new one where endings are final. */
  const firstRecord = (events: readonly Event[]) =>
    history(events, name).flatMap(({ record, entry }) => (record === 0 && entry !== undefined ? [entry] : []))

  it('is noticed to lack any one event that was lost before it was told', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(lived, ({ events }) => {
        const reopened = events.findIndex(({ type }) => type === 'reopened')
        const life = reopened < 0 ? events : events.slice(0, reopened)
        const told = dialectLog(life, name)
        const last = told.at(-1)
        expect(missing(told, last?.rev)).toBe(0)
        if (last === undefined) return
        for (const [i, { rev }] of life.entries()) {
          // What the document is silent about after its last word is in no entry.
          if (i === 0 || rev > last.rev) continue
          const { violations } = derive(name, dialectLog(without(life, i), name), last.rev)
          expect([life[i]?.type, violations.length > 0]).toEqual([life[i]?.type, true])
        }
      }),
      { numRuns: scaled(25, 500) },
    )
  })

  it('is noticed to lack any one line', { timeout: 120_000 }, () => {
    fc.assert(
      fc.property(lived, ({ events }) => {
        const told = firstRecord(events)
        for (const i of told.keys()) {
          const { violations } = derive(name, without(told, i), told.at(-1)?.rev)
          expect(violations.length).toBeGreaterThan(0)
        }
      }),
      { numRuns: scaled(25, 500) },
    )
  })

  it('may be told twice, in part and after it was compacted', () => {
    const job = given().starts()
    for (const _ of Array(12)) job.does({ type: 'progress', fence: 'mine', counters: { n: 1 } })
    const { events } = job.does({ type: 'heartbeat', fence: 'mine' }, { type: 'complete', fence: 'mine' })
    const whole = dialectLog(events, name)
    expect(missing([...whole, ...whole.slice(-1)])).toBe(0)
    const until = whole[0]?.rev ?? 0
    const [first, second] = [events.filter(({ rev }) => rev <= until), events.filter(({ rev }) => rev > until)]
    expect(missing([...dialectLog(first, name, true), ...dialectLog(second, name)])).toBe(0)
    expect(missing(dialectLog(second, name))).toBe(1)
    const compacted = compact(events)
    const kept = events.filter(({ rev }) => compacted?.replaces.includes(rev) !== true)
    const short = [...kept, ...(compacted === undefined ? [] : [compacted.event])].sort((a, b) => a.rev - b.rev)
    expect(short.length).toBeLessThan(events.length)
    expect(missing(dialectLog(short, name), whole.at(-1)?.rev)).toBe(0)
    expect(derive(name, dialectLog(without(short, 2), name)).violations.length).toBeGreaterThan(0)
  })

  it('is judged by the document alone where it says nothing of revisions', () => {
    const { events } = given().starts().does({ type: 'complete', fence: 'mine' })
    const bare = dialectLog(events, name).map(({ rev: _, after_rev: __, ...entry }) => entry)
    expect(derive(name, bare).violations).toEqual([])
  })
})

describe('a damaged log', () => {
  it('is told with what there is of it: where it begins again, from there', () => {
    const { events } = given().starts()
    const told = dialectLog([...events, ...events], '001')
    expect(told.map((entry) => entry['type'])).toEqual([...Array(2)].flatMap(() => ['enqueued', 'claimed', 'started']))
    expect(derive('001', told.slice(3)).violations.length).toBe(0)
  })
})

describe.each([...READING_NAMES])('a log told in %s from which a way back to the queue was lost', (name) => {
  it('is told all the same, whatever was noted in between', () => {
    const { events } = given()
      .starts()
      .does({ type: 'release', fence: 'mine', reason: 'handed_back' }, { type: 'reschedule', runAt: T0 })
      .claims()
    const lost = events.findIndex(({ type }) => type === 'released')
    const told = dialectLog(without(events, lost), name)
    expect(derive(name, told, events.length).violations.length).toBeGreaterThan(0)
  })
})

describe('001: result', () => {
  const shown = (text: string) => {
    const result = { name: 'output', size: text.length }
    const { record } = given().starts().does({ type: 'complete', fence: 'mine', result })
    return dialectView(record, '001', text)['result']
  }

  it('is the result itself, null where there was none, and a pointer where it is large', () => {
    expect(shown('{"n":1}')).toEqual({ n: 1 })
    expect(shown('')).toBe(null)
    expect(shown(`"${'x'.repeat(65_535)}"`)).toBe('pawl:/jobs/pj_1/output')
  })
})

describe('003: IsJobBlocked', () => {
  it.each([
    [[], false],
    [['job_created', 'job_running'], false],
    [['job_created', 'job_running', 'job_waiting'], true],
    [['job_created', 'job_running', 'job_waiting', 'plan_generated'], true],
    [['job_created', 'job_running', 'job_waiting', 'job_parked'], true],
    [['job_created', 'job_running', 'job_waiting', 'wait_completed'], false],
    ['no log', false],
  ])('%j: %s', (log, blocked) => {
    expect(isJobBlocked(log)).toBe(blocked)
  })
})

describe('000A: the way back to queued has no event', () => {
  const claims = (events: readonly Event[]) =>
    dialectLog(events, '000A').flatMap((entry) => (entry['type'] === 'job_claimed' ? [entry['cause']] : []))

  it('the next claim says why: a retry, a lost lease, a release', () => {
    const job = given().starts().fails({ code: 'E_5XX_ORIGIN' }).after(60_000).starts().after(60_000)
    job.ticks().accepted()
    job.claims().does({ type: 'release', fence: 'mine', reason: 'shutdown' }).claims()
    expect(claims(job.events)).toEqual([
      null,
      'retry_scheduled: E_5XX_ORIGIN',
      'requeued: lease_expired',
      'released: shutdown',
    ])
  })
})

describe('what a log tells beside its statuses', () => {
  it('is part of its chain: plans and tools of 003 are passed over, and missed when they are lost', () => {
    const noted = given()
      .starts()
      .does({ type: 'record', fence: 'mine', note: { kind: 'plan_generated', name: 'draft' } })
      .does({ type: 'complete', fence: 'mine' })
    const told = dialectLog(noted.events, '003')
    expect(told.map((entry) => entry['Event'])).toContain('plan_generated')
    expect(derive('003', told)).toMatchObject({ status: 'Completed', violations: [] })
    const place = told.findIndex((entry) => entry['Event'] === 'plan_generated')
    expect(derive('003', without(told, place)).violations).toMatchObject([{ rule: 'missing' }])
  })
})
