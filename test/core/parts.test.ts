/** The small pure parts: ids, hashes, keys, children, compaction, and the invariants' own eyes. */
import { describe, expect, it } from 'vitest'
import { assert, unreachable } from '../../src/core/assert.ts'
import { bodyRef, bodyRefWithoutDigest } from '../../src/core/body.ts'
import { childEnded } from '../../src/core/child.ts'
import type { Claim } from '../../src/core/command.ts'
import { compact, hasLongLog, isLasting, LONG_LOG } from '../../src/core/compact.ts'
import { draft } from '../../src/core/draft.ts'
import { finish } from '../../src/core/ending.ts'
import { type Event, eventId } from '../../src/core/event.ts'
import { derive, evolve } from '../../src/core/evolve.ts'
import { fraction, hash32, hash53 } from '../../src/core/hash.ts'
import { idNumber, idText, isId, isReserved } from '../../src/core/id.ts'
import { INVARIANTS, recordBreaches, stepBreaches } from '../../src/core/invariants.ts'
import type { Job } from '../../src/core/job.ts'
import { keyChange, keyOf } from '../../src/core/keys.ts'
import { isSegment } from '../../src/core/name.ts'
import { refuse } from '../../src/core/refuse.ts'
import type { PolicyInput } from '../../src/core/resolve.ts'
import { kindViolations, validate } from '../../src/core/validate.ts'
import { given, kindOf, T0 } from './given.ts'
import { HISTORIES } from './sample.ts'

describe('ids', () => {
  it('are numbers in short text, back and forth', () => {
    for (const n of [1, 31, 32, 123_456_789, Number.MAX_SAFE_INTEGER]) expect(idNumber(idText(n))).toBe(n)
  })

  it('are nothing else', () => {
    for (const text of ['', 'pj_', 'pj_0', 'pj_01', 'pj_W', 'PJ_1', 'x', 'pj_vvvvvvvvvvv', `pj_${'1'.repeat(12)}`])
      expect(isId(text)).toBe(false)
    expect(() => idText(0)).toThrow()
    expect(() => idText(1.5)).toThrow()
    expect(isReserved('pj_hello')).toBe(true)
    expect(isReserved('job-1')).toBe(false)
  })

  it('give each event one of its own', () => {
    expect(given().starts().events.map(eventId)).toEqual(['pj_1/1', 'pj_1/2', 'pj_1/3'])
  })
})

describe('bodies', () => {
  it('are known by name, length and what they say', () => {
    expect(bodyRef('output', '{"a":1}')).toEqual({ name: 'output', size: 7, digest: bodyRef('x', '{"a":1}').digest })
    expect(bodyRef('output', '{"a":1}').digest).not.toBe(bodyRef('output', '{"a":2}').digest)
    expect(bodyRefWithoutDigest('input', 'äö')).toEqual({ name: 'input', size: 2, digest: undefined })
  })
})

describe('hashes', () => {
  it('are stable, spread and in range', () => {
    expect(hash32('pawl')).toBe(hash32('pawl'))
    expect(new Set(Array.from({ length: 10_000 }, (_, i) => hash53(`a/${i}`))).size).toBe(10_000)
    expect(Number.isSafeInteger(hash53('pawl'))).toBe(true)
    expect(new Set(Array.from({ length: 10_000 }, (_, i) => hash32(`a/${i}`))).size).toBeGreaterThan(9_990)
    for (let i = 0; i < 1_000; i++) {
      expect(fraction(`${i}`)).toBeGreaterThanOrEqual(0)
      expect(fraction(`${i}`)).toBeLessThan(1)
    }
  })
})

describe('a claim of many jobs', () => {
  it('is one command, judged alike for each of them, and again at another time', () => {
    const claim: Claim = {
      type: 'claim',
      actor: 'worker:w',
      requestId: 'w/claim/1',
      workerId: 'w',
      nonce: '0123456789abcdef',
    }
    expect(validate(claim, T0)).toEqual([])
    expect(validate(claim, T0)).toEqual([])
    expect(validate(claim, Number.NaN)).toHaveLength(1)
    expect(validate({ ...claim, nonce: 'short' }, T0)).toHaveLength(1)
  })
})

describe('names', () => {
  it('may be whatever a path can carry', () => {
    for (const name of ['a', 'a/b', 'mail.send', 'x.', '...', 'été 😀', '%2F']) expect(isSegment(name)).toBe(true)
    for (const name of ['', '.', '..', 'a\u0000', '\ud800', '😀\u007f', 'a\ud800\n'])
      expect(isSegment(name)).toBe(false)
  })

  it('of a kind are judged before any job has it, under their own names', () => {
    const { policy } = kindOf()
    expect(kindViolations({ tenant: 't', queue: 'q', type: 'a/b', policy })).toEqual([])
    expect(kindViolations({ tenant: '', queue: 'a,b', type: '..', policy: null }).map(({ field }) => field)).toEqual([
      'tenant',
      'queue',
      'type',
      'policy',
    ])
  })
})

describe('dedupe keys', () => {
  const keyed = (dedupeFor?: PolicyInput['dedupeFor']) =>
    given(dedupeFor === undefined ? {} : { dedupeFor }, { dedupeKey: 'k' })

  it('belong to (type, key) and last as the policy says', () => {
    expect(keyOf(given().record)).toBeUndefined()
    expect(keyOf(keyed().record)).toEqual({ purpose: 'dedupe', key: '10:crawl.page:k', until: undefined })
    expect(keyOf(keyed('1h').record)?.until).toBe(1_000_000 + 3_600_000)
  })

  it('are given up at the end of a life and taken again at its reopening', () => {
    const history = keyed()
    const live = history.record
    const dead = history.does({ type: 'cancel', mode: 'hard' }).record
    const again = history.does({ type: 'reopen' }).record
    expect(keyChange(live, dead)).toEqual({ give: [keyOf(live)], take: [] })
    expect(keyChange(dead, again)).toEqual({ give: [], take: [keyOf(live)] })
    expect(keyChange(live, again)).toEqual({ give: [], take: [] })
  })

  it('are kept where they outlive the job, or there are none', () => {
    for (const history of [keyed('forever'), keyed('1h'), given()]) {
      const live = history.record
      expect(keyChange(live, history.does({ type: 'cancel', mode: 'hard' }).record)).toEqual({ give: [], take: [] })
    }
  })
})

describe('children', () => {
  it('signal their parent when they end, once per generation', () => {
    const child = given({}, { parentId: 'pj_9' })
    expect(childEnded(child.record)).toBeUndefined()
    expect(childEnded(child.does({ type: 'cancel', mode: 'hard' }).record)).toMatchObject({
      parentId: 'pj_9',
      signal: { requestId: 'child/pj_1/0', name: 'child_ended', key: 'pj_1' },
    })
    expect(childEnded(given().does({ type: 'cancel', mode: 'hard' }).record)).toBeUndefined()
  })
})

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

describe('the invariants', () => {
  it('are all numbered', () => {
    expect(Object.keys(INVARIANTS)).toEqual(Array.from({ length: 16 }, (_, i) => `I${i + 1}`))
  })

  const names = (job: Job, change: object): readonly string[] =>
    recordBreaches({ ...job, ...change } as Job).map(({ invariant }) => invariant)

  it('see what is wrong with a record', () => {
    const running = HISTORIES.running().record
    expect(recordBreaches(running)).toEqual([])
    expect(names(running, { owner: undefined })).toEqual(['I5'])
    expect(names(running, { runAt: 1 })).toEqual(['I5'])
    expect(names(running, { phase: 'compensate' })).toEqual(['I5'])
    expect(names(running, { needs: running.spec.kind.type })).toEqual([])
    expect(names(running, { needs: 'another.type' })).toEqual(['I5'])
    expect(names(running, { failures: 8 })).toEqual(['I10'])
    expect(names(running, { stalls: 5 })).toEqual(['I10'])
    expect(names(running, { generation: 1 })).toEqual(['I1'])
    for (const timer of ['nextTickAt', 'readyAt', 'deadlineAt', 'startBy'])
      expect(names(HISTORIES.failed().record, { [timer]: 1 })).toEqual(['I5'])
    const shared = given({ retry: { budget: 'shared', attempts: 2 } }).record
    expect(names(shared, { failures: 1, stalls: 2 })).toEqual(['I10'])
  })

  it('see what is wrong with a step', () => {
    const history = given().starts()
    const before = history.record
    const event = history.when({ type: 'complete', fence: 'mine' }).last
    const after = evolve(before, event)
    const wrong = (e: object, a: object = {}) =>
      stepBreaches(before, { ...event, ...e } as Event, { ...after, ...a } as Job).map(({ invariant }) => invariant)
    expect(wrong({})).toEqual([])
    expect(wrong({ rev: 9 })).toContain('I7')
    expect(wrong({ seq: 9 })).toContain('I3')
    expect(wrong({ seq: undefined })).toContain('I3')
    const [born] = history.events as [Event]
    const newborn = stepBreaches(undefined, { ...born, rev: 2, seq: 2 } as Event, derive([born]))
    expect(newborn.map(({ invariant }) => invariant)).toEqual(['I7', 'I3'])
    expect(wrong({ from: 'queued' })).toContain('I3')
    expect(wrong({ actor: '' })).toContain('I16')
    expect(wrong({}, { state: 'claimed' })).toContain('I2')
    expect(wrong({}, { generation: -1 })).toContain('I2')
    expect(wrong({}, { attempt: 0 })).toEqual(['I2', 'I6'])
    expect(wrong({}, { attempt: 2 })).toEqual(['I6'])
    expect(wrong({}, { updatedAt: 0 })).toContain('I3')
    const needy = { ...before, needs: before.spec.kind.type } as Job
    expect(stepBreaches(needy, event, after)).toMatchObject([{ invariant: 'I5' }])
    expect(wrong({}, { state: 'running', lease: { ...before.lease, fence: 'x' } })).toContain('I1')
    const ended = after
    const again = stepBreaches(
      ended,
      { ...event, from: 'succeeded', to: 'failed', rev: ended.rev + 1, seq: ended.seq + 1 } as Event,
      { ...ended, state: 'failed', rev: ended.rev + 1, seq: ended.seq + 1 } as never,
    )
    expect(again.map(({ invariant }) => invariant)).toEqual(['I2', 'I4'])
  })

  it('know what compaction stands for', () => {
    const history = given().starts().does({ type: 'heartbeat', fence: 'mine' })
    const beat = history.events.at(-1) as Event
    const before = derive(history.events.slice(0, -1))
    const three = { ...beat, rev: 6, payload: { ...beat.payload, count: 3 } } as Event
    expect(stepBreaches(before, three, evolve(before, three))).toEqual([])
    const compacted = {
      ...beat,
      type: 'compacted',
      rev: 5,
      payload: { count: 2, counters: {}, artifacts: {}, compensations: [], steps: 0 },
    } as never as Event
    expect(stepBreaches(before, compacted, evolve(before, compacted))).toEqual([])
  })
})

describe('programmer errors', () => {
  it('stop the program', () => {
    expect(() => assert(false, 'no')).toThrow('no')
    expect(() => unreachable('x' as never)).toThrow('x')
    const [first, second] = given().starts().events as [Event, Event, Event]
    expect(() => derive([])).toThrow()
    expect(() => evolve(undefined, second)).toThrow()
    expect(() => evolve(given().record, first)).toThrow()
    expect(() => evolve(derive([first, second]), second)).toThrow()
    expect(() => evolve(derive([first, second]), { ...second, rev: 3, type: 'explode' } as never)).toThrow(
      'unreachable',
    )
    expect(() => finish(draft(given().record, {} as never, T0), { state: 'exploded' } as never)).toThrow('unreachable')
  })
})

describe('refusals', () => {
  it('say what is known, and nothing where nothing is', () => {
    expect(refuse('OVERLOADED', { jobId: 'pj_1', retryAfterMs: 5 })).toMatchObject({
      job: 'pj_1',
      retryAfterMs: 5,
      state: undefined,
    })
  })
})
