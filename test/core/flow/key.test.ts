import { describe, expect, it } from 'vitest'
import { decideKey } from '../../../src/core/flow/decide.ts'
import { isTold, KEY_INPUTS } from '../../../src/core/flow/event.ts'
import { evolveKey } from '../../../src/core/flow/evolve.ts'
import { keyBreaches } from '../../../src/core/flow/invariants.ts'
import { atRest, KEY_STATES } from '../../../src/core/flow/key.ts'
import { HEARD_MS } from '../../../src/core/flow/numbers.ts'
import { keyMovesFrom } from '../../../src/core/flow/transitions.ts'
import { CAUSE, KeyLife, retryAfter, SUCCEEDED, T0, THROTTLED, UNAVAILABLE } from './key-given.ts'

const slow = (concurrency = 8): KeyLife => new KeyLife({ concurrency }).hears(THROTTLED).after(10)
const broken = (ms = 20_000): KeyLife => new KeyLife().hears(retryAfter(ms)).after(10)
const probing = (): KeyLife => broken().after(30_000)

describe('a key that is pushed back', () => {
  it('has half of its concurrency, another session and a level', () => {
    const { key } = slow()
    expect(key).toMatchObject({ state: 'slow', allowed: 4, target: 4, level: 1, session: 1, freshFrom: T0 + 1 })
  })

  it('takes a burst of ten for one episode', () => {
    const life = new KeyLife()
    for (let n = 0; n < 10; n += 1) life.hears(THROTTLED, T0)
    expect(life.key).toMatchObject({ state: 'slow', allowed: 4, session: 1, level: 1 })
    expect(life.events).toHaveLength(1)
  })

  it('is halved again by an attempt of the new session, and broken when one was allowed', () => {
    const life = slow()
    for (const allowed of [2, 1]) expect(life.hears(THROTTLED).after(1).key.allowed).toBe(allowed)
    expect(life.hears(THROTTLED).key).toMatchObject({ state: 'broken', level: 4, session: 4, allowed: 1, target: 1 })
    expect(life.key.until - life.now).toBeGreaterThanOrEqual(40_000)
    expect(life.key.until - life.now).toBeLessThanOrEqual(48_000)
  })

  it('without a concurrency of its own goes by what ran', () => {
    const life = new KeyLife({})
    life.taken = 6
    expect(life.hears(THROTTLED).key).toMatchObject({ allowed: 3, base: 6 })
    expect(new KeyLife({}).hears(THROTTLED).key).toMatchObject({ allowed: 1, base: 2 })
  })
})

describe('a key that is told when to come back', () => {
  it('is broken until then, and up to a tenth longer', () => {
    const { key } = broken(60_000)
    expect(key).toMatchObject({ state: 'broken', level: 1, session: 1, target: 4, freshFrom: key.until })
    expect(key.until).toBeGreaterThanOrEqual(T0 + 60_000)
    expect(key.until).toBeLessThanOrEqual(T0 + 66_000)
  })

  it('waits a day at most, and never before now', () => {
    expect(broken(10 ** 12).key.until).toBe(T0 + 86_400_000)
    expect(broken(-5).key.until).toBe(T0 + 1)
  })

  it('is held longer by an echo that was told a later time, and no shorter by an earlier one', () => {
    const life = broken(20_000)
    const { until } = life.key
    expect(life.hears(retryAfter(1_000), T0).key.until).toBe(until)
    expect(life.hears(retryAfter(90_000), T0).key.until).toBeGreaterThan(until)
    expect(life.key).toMatchObject({ level: 1, session: 1, freshFrom: life.key.until })
  })

  it('hears an echo while it is slow: session, level and target stay', () => {
    const life = slow().hears(retryAfter(5_000), T0)
    expect(life.key).toMatchObject({ state: 'broken', level: 1, session: 1, target: 4 })
    expect(new KeyLife().hears(retryAfter(5_000), -1).key).toMatchObject({ state: 'broken', level: 0, target: 4 })
  })

  it('while slow or probed is held for its cool-down at least', () => {
    for (const life of [slow(), probing()]) {
      const { key, now } = life.hears(retryAfter(1))
      expect(key).toMatchObject({ state: 'broken', level: 2, session: 2 })
      expect(key.until - now).toBeGreaterThanOrEqual(10_000)
    }
  })
})

describe('a key whose other side fails', () => {
  it('is broken by five in a row', () => {
    const life = new KeyLife()
    for (let n = 0; n < 4; n += 1) expect(life.hears(UNAVAILABLE).after(1).state).toBe('open')
    expect(life.hears(UNAVAILABLE).key).toMatchObject({ state: 'broken', level: 1, session: 0, strikes: 0 })
  })

  it('notes once an hour that attempts succeed under a session that is not the first, and nothing under the first', () => {
    const first = new KeyLife().hears(SUCCEEDED).after(HEARD_MS).hears(SUCCEEDED)
    expect(first.events).toEqual([])
    const life = new KeyLife()
      .hears(THROTTLED)
      .told('reset')
      .after(HEARD_MS + 1)
    expect(life.hears(SUCCEEDED).key).toMatchObject({ session: 1, heardAt: life.now })
    const { rev } = life.key
    expect(life.after(HEARD_MS - 1).hears(SUCCEEDED).key.rev).toBe(rev)
    expect(life.after(1).hears(SUCCEEDED).key).toMatchObject({ state: 'open', rev: rev + 1, heardAt: life.now })
  })

  it('says since when it was probed with what came of it, once, and not with a limit that is set meanwhile', () => {
    const life = probing()
    const { until } = life.key
    expect(life.sets({ concurrency: 3 }).events.at(-1)).toMatchObject({ type: 'limited', from: 'probing' })
    life.hears(SUCCEEDED)
    expect(life.events.map(({ type }) => type)).toEqual(['broken', 'limited', 'probing', 'recovering'])
    expect(life.events.at(-2)).toMatchObject({
      at: until,
      from: 'broken',
      input: 'time',
      cause: { actor: 'time', code: undefined },
    })
    expect(life.events.at(-1)).toMatchObject({ from: 'probing', to: 'slow' })
    // The cause that is shown is that of the state.
    expect(probing().hears(THROTTLED).key.cause).toEqual(CAUSE)
  })

  it('forgets strikes by a success, and those over a minute old', () => {
    const life = new KeyLife()
    for (let n = 0; n < 4; n += 1) life.hears(UNAVAILABLE)
    expect(life.hears(SUCCEEDED).key.strikes).toBe(0)
    for (let n = 0; n < 4; n += 1) life.hears(UNAVAILABLE)
    expect(life.after(60_001).hears(UNAVAILABLE).key).toMatchObject({ state: 'open', strikes: 1 })
  })

  it('is broken by two while slow, and by one while probed', () => {
    expect(slow().hears(UNAVAILABLE).hears(UNAVAILABLE).state).toBe('broken')
    expect(probing().hears(UNAVAILABLE).key).toMatchObject({ state: 'broken', level: 2, session: 1 })
  })
})

describe('a key that recovers', () => {
  it('is slow with one after a probe, doubles to where it was pushed back, then grows by steps, and opens after calm', () => {
    const life = probing().hears(SUCCEEDED)
    expect(life.key).toMatchObject({ state: 'slow', allowed: 1, target: 4 })
    const seen = new Set<number>()
    while (life.state === 'slow') {
      life.after(500).hears(SUCCEEDED)
      if (life.state === 'slow') seen.add(life.key.allowed)
    }
    expect([...seen]).toEqual([1, 2, 4, 5, 6, 7, 8])
    expect(life.key).toMatchObject({ state: 'open', level: 0, session: 1, allowed: 0, target: 0 })
  })

  it('is not raised before ten seconds, nor before as many as allowed have succeeded', () => {
    const life = slow()
    for (let n = 0; n < 9; n += 1) life.hears(SUCCEEDED)
    expect(life.key.allowed).toBe(4)
    const patient = slow().after(20_000)
    for (let n = 0; n < 3; n += 1) patient.hears(SUCCEEDED)
    expect(patient.key.allowed).toBe(4)
    expect(patient.hears(SUCCEEDED).key.allowed).toBe(5)
  })

  it('stays slow with all allowed until it has been calm', () => {
    const life = new KeyLife({ concurrency: 1 }).hears(THROTTLED).after(29_000).hears(SUCCEEDED)
    expect(life.key).toMatchObject({ state: 'slow', allowed: 1, good: 1 })
    expect(life.after(2_000).hears(SUCCEEDED).state).toBe('open')
  })

  it('does not hear echoes', () => {
    for (const life of [slow(), probing(), broken()]) {
      const { key } = life
      expect(life.hears(SUCCEEDED, T0).hears(THROTTLED, T0).hears(UNAVAILABLE, T0).key).toBe(key)
    }
  })

  it('with a success while it is open has nothing to write', () => {
    expect(new KeyLife().hears(SUCCEEDED).events).toEqual([])
  })
})

describe('an operator', () => {
  it('lowers what is allowed by a lower limit, and never raises it by a higher one', () => {
    const life = slow()
    life.limit = { concurrency: 2 }
    expect(life.told('set').key.allowed).toBe(2)
    life.limit = { concurrency: 20 }
    expect(life.told('set').key.allowed).toBe(2)
  })

  it('is on record with what was set, in every state, and is not the cause of that state', () => {
    for (const life of [new KeyLife(), slow(), broken(), probing()]) {
      const { state, cause, since } = life.key
      life.limit = { concurrency: 20 }
      expect(life.told('set').key).toMatchObject({ state, cause, since })
      expect(life.events.at(-1)).toMatchObject({ type: 'limited', payload: { limit: { concurrency: 20 } } })
    }
  })

  it('resets a key: open, the session kept, and what was claimed before is an echo', () => {
    for (const life of [new KeyLife(), slow(), broken(), probing()]) {
      const { session } = life.key
      expect(life.told('reset').key).toMatchObject({ state: 'open', level: 0, session, freshFrom: life.now + 1 })
    }
  })

  it('hastens a probe of a broken key, and of no other', () => {
    const life = broken().told('probe').after(1)
    expect(life.state).toBe('probing')
    for (const other of [slow(), probing(), new KeyLife()])
      expect(other.told('probe').events.at(-1)?.type).not.toBe('hastened')
  })
})

describe('the record', () => {
  it('is the fold of its events, whose counters are not told', () => {
    const life = slow().hears(UNAVAILABLE).hears(SUCCEEDED).after(20_000)
    for (let n = 0; n < 5; n += 1) life.hears(SUCCEEDED)
    expect(life.events.reduce(evolveKey, atRest('example.com'))).toEqual(life.key)
    expect(life.events.filter(isTold).map(({ type }) => type)).toEqual(['slowed', 'raised'])
    expect(life.key.cause).toBe(CAUSE)
  })

  it('refuses events out of order', () => {
    const { events } = slow()
    const [event] = events
    if (event === undefined) throw new Error('nothing happened')
    expect(() => evolveKey(atRest('k'), { ...event, rev: 2 })).toThrow('in order')
    expect(() => evolveKey(atRest('k'), { ...event, from: 'slow' })).toThrow('begins where')
    expect(() => evolveKey(atRest('k'), { ...event, type: 'exploded' } as never)).toThrow('unreachable')
    const around = { limit: {}, taken: 0 }
    expect(() => decideKey(atRest('k'), { type: 'exploded', cause: CAUSE } as never, around, T0)).toThrow('unreachable')
  })
})

it('every input has its cells, and what has none changes nothing', () => {
  const cells = KEY_INPUTS.flatMap((input) => KEY_STATES.map((state) => keyMovesFrom(input, state).length))
  expect(cells).toEqual([
    1, 2, 0, 1, 2, 2, 1, 2, 2, 2, 0, 1, 1, 3, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0,
  ])
})

describe('the invariants find', () => {
  const around = { limit: { concurrency: 8 }, taken: 0 }
  const { key: now, events } = slow()
  const event = events[0]
  const found = (before: object, after: object, claimedAt?: number) =>
    event === undefined
      ? []
      : keyBreaches({ ...now, ...before }, event, { ...now, ...after }, around, claimedAt).map(
          ({ invariant }) => invariant,
        )

  it.each([
    ['a session that jumps', {}, { session: 3 }, T0 + 5, 'F7'],
    ['a session rotated by an echo', {}, { session: 2 }, T0, 'F7'],
    ['a session rotated by hand', {}, { session: 2 }, undefined, 'F7'],
    ['nothing allowed', {}, { allowed: 0 }, T0, 'F8'],
    ['more allowed than its limit', {}, { allowed: 9 }, T0, 'F8'],
    ['a level beyond the last', {}, { level: 8 }, T0, 'F8'],
    ['a probe that opens', { state: 'broken' }, { state: 'open' }, T0, 'F9'],
    ['a probe that lets many in', { state: 'broken' }, { state: 'slow', allowed: 4 }, T0, 'F9'],
    ['an opening with half allowed', { freshFrom: -(10 ** 7) }, { state: 'open' }, T0, 'F9'],
    ['an opening before calm', { allowed: 8 }, { state: 'open' }, T0, 'F9'],
    ['a cool-down cut short', { state: 'broken', until: 9 }, { state: 'broken', until: 5, freshFrom: 5 }, T0, 'F10'],
    ['signals from before its end', {}, { state: 'broken', until: 5, freshFrom: 4 }, T0, 'F10'],
    ['a level that falls', { level: 3 }, { level: 2 }, T0, 'F10'],
  ] as const)('%s', (_, before, after, claimedAt, rule) => {
    expect(found(before, after, claimedAt)).toContain(rule)
  })

  it('nothing where somebody does it by hand', () => {
    expect(found({ state: 'broken', until: 9 }, { state: 'broken', until: 5, freshFrom: 5, allowed: 1 })).toEqual([])
    expect(found({ allowed: 8 }, { state: 'open' })).toEqual([])
  })
})
