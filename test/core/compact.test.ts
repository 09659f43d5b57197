import { describe, expect, it } from 'vitest'
import { compact, hasLongLog, isLasting, LONG_LOG } from '../../src/core/compact.ts'
import type { Event } from '../../src/core/event.ts'
import { derive } from '../../src/core/evolve.ts'
import { given } from './given.ts'

describe('compaction', () => {
  const busy = () =>
    given()
      .starts()
      .does(
        { type: 'progress', fence: 'mine', progress: { done: 1 }, counters: { a: 1 } },
        { type: 'heartbeat', fence: 'mine' },
        { type: 'record', fence: 'mine', step: { name: 's', compensate: true } },
      )
      .fails()
      .after(120_000)
      .claims()
      .does(
        { type: 'start', fence: 'mine' },
        { type: 'checkpoint', fence: 'mine', body: { name: 'checkpoint', size: 1 } },
        { type: 'record', fence: 'mine', artifact: { name: 'x', ptr: 'p' } },
        { type: 'complete', fence: 'mine', stats: { a: 2 } },
      )

  const replaced = (events: readonly Event[]): readonly Event[] => {
    const found = compact(events)
    if (found === undefined) throw new Error('nothing to compact')
    return [...events.filter((event) => !found.replaces.includes(event.rev)), found.event].toSorted(
      (a, b) => a.rev - b.rev,
    )
  }

  it('leaves the fold as it was', () => {
    const history = busy()
    const fewer = replaced(history.events)
    expect(fewer.length).toBe(history.events.length - 3)
    expect(derive(fewer)).toEqual(history.record)
    expect(compact(fewer)).toBeUndefined()
  })

  it('can be done again', () => {
    const history = busy()
    const once = replaced(history.events.filter((event) => event.rev < history.record.rev - 1))
    const twice = replaced([...once, ...history.events.slice(-2)])
    expect(twice.find((event) => event.type === 'compacted')?.payload).toMatchObject({ count: 4 })
    expect(derive(twice)).toEqual(history.record)
  })

  it('leaves notes on plans, nodes and tools where they are', () => {
    const note = { kind: 'node_started', name: 'n' } as const
    const history = busy()
    const noted = given()
      .starts()
      .does(
        { type: 'progress', fence: 'mine', counters: { a: 1 } },
        { type: 'record', fence: 'mine', step: { name: 'a', compensate: false }, note },
        { type: 'progress', fence: 'mine', counters: { a: 1 } },
        { type: 'record', fence: 'mine', step: { name: 'b', compensate: false }, note },
        { type: 'complete', fence: 'mine' },
      )
    const fewer = replaced(noted.events)
    expect(fewer.map(({ type }) => type)).toEqual([
      ...['enqueued', 'claimed', 'started', 'recorded', 'compacted', 'recorded', 'succeeded'],
    ])
    expect(derive(fewer)).toEqual(noted.record)
    // A sum over what lasts is the same before and after, of whatever log.
    for (const { events } of [history, noted])
      expect(replaced(events).filter(isLasting)).toEqual(events.filter(isLasting))
  })

  it('has nothing to do for a plain job', () => {
    expect(compact(given().starts().events)).toBeUndefined()
  })

  it('is for jobs that have ended with a long log', () => {
    const said = Array.from(
      { length: LONG_LOG - 4 },
      (_, n) => ({ type: 'progress', fence: 'mine', counters: { n } }) as const,
    )
    const running = given()
      .starts()
      .does(...said)
    expect([running.record.rev, hasLongLog(running.record)]).toEqual([LONG_LOG - 1, false])
    const long = running.does({ type: 'complete', fence: 'mine' }).record
    expect([long.rev, hasLongLog(long)]).toEqual([LONG_LOG, true])
    const short = given()
      .starts()
      .does(...said.slice(1), { type: 'complete', fence: 'mine' }).record
    expect([short.rev, hasLongLog(short)]).toEqual([LONG_LOG - 1, false])
    const longer = given()
      .starts()
      .does(...said, ...said)
    expect([longer.record.rev >= LONG_LOG, hasLongLog(longer.record)]).toEqual([true, false])
  })
})
