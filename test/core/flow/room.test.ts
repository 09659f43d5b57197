import { describe, expect, it } from 'vitest'
import type { KeyEvent } from '../../../src/core/flow/event.ts'
import { explainHeld } from '../../../src/core/flow/explain.ts'
import { flowOf, gateOf } from '../../../src/core/flow/gate.ts'
import { atKey } from '../../../src/core/flow/hall.ts'
import { atRest, type KeyRecord, type Limit } from '../../../src/core/flow/key.ts'
import { isBeyond, shortageOf } from '../../../src/core/flow/room.ts'
import { countOf, type KeyUse, type Slot, withClaim, withoutSlot, withSpent } from '../../../src/core/flow/slots.ts'
import {
  afterGivingWay,
  isOutOfPatience,
  isStanding,
  newestFirst,
  takenBack,
} from '../../../src/core/flow/take-back.ts'
import { KeyLife, retryAfter, T0, THROTTLED, UNAVAILABLE } from './key-given.ts'

const slot = (job: string, letInAt = T0, claimedAt?: number): Slot => ({ job, letInAt, claimedAt })

function useOf(limit: Limit, slots: readonly Slot[] = [], record: KeyRecord = atRest('k')): KeyUse {
  return { gate: gateOf(record, limit), slots, paces: [], spent: 0, window: 0 }
}

const shortage = (use: KeyUse, now = T0) => shortageOf(use.gate, countOf(use, now), now)

const RATE: Limit = { rate: { most: 2, perMs: 1_000 } }

describe('room', () => {
  it('is there without a limit, however much runs', () => {
    expect(shortage(useOf({}, [slot('1'), slot('2'), slot('3')]))).toBeUndefined()
  })

  it('is what concurrency leaves; only who frees a slot can end that', () => {
    expect(shortage(useOf({ concurrency: 2 }, [slot('1')]))).toBeUndefined()
    expect(shortage(useOf({ concurrency: 2 }, [slot('1'), slot('2')]))).toEqual({ obstacle: 'full', wakeAt: undefined })
  })

  it('of a rate is there again one window after the claim, to the millisecond', () => {
    const use = useOf(RATE, [slot('1', T0 - 500, T0 - 400), slot('2', T0 - 500, T0 - 300)])
    expect(shortage(use)).toEqual({ obstacle: 'paced', wakeAt: T0 + 600 })
    expect(shortage(use, T0 + 599)).toMatchObject({ obstacle: 'paced' })
    expect(shortage(use, T0 + 600)).toBeUndefined()
  })

  it('of a rate counts what nobody has claimed as claimed now, and what has ended as long as its window', () => {
    const standing = useOf(RATE, [slot('1'), slot('2')])
    expect(shortage(standing, T0 + 9_000)).toEqual({ obstacle: 'paced', wakeAt: T0 + 10_000 })
    const ended = withoutSlot(withClaim(useOf(RATE, [slot('1'), slot('2')]), '1', T0), '1', T0 + 10)
    expect(ended).toMatchObject({ slots: [slot('2')], paces: [T0] })
    expect(countOf(ended, T0 + 999).started).toBe(2)
    expect(countOf(ended, T0 + 1_000).started).toBe(1)
    expect(withoutSlot({ ...ended, slots: [slot('2', T0, T0)] }, '2', T0 + 1_000).paces).toEqual([])
  })

  it('without a rate leaves no paces, and a slot that is not there is not freed', () => {
    const use = useOf({}, [slot('1', T0, T0)])
    expect(withoutSlot(use, '1', T0)).toMatchObject({ slots: [], paces: [] })
    expect(withoutSlot(use, '9', T0)).toBe(use)
    expect(withoutSlot(useOf(RATE, [slot('1')]), '1', T0).paces).toEqual([])
  })

  it('of a budget is there until it is spent, and again when the window turns', () => {
    const limit = { budget: { amount: 10, perMs: 60_000 } }
    const use = withSpent(withSpent(useOf(limit), 6, T0), 5, T0)
    const end = (Math.floor(T0 / 60_000) + 1) * 60_000
    expect(shortage(use)).toEqual({ obstacle: 'spent', wakeAt: end })
    expect(shortage(use, end)).toBeUndefined()
    expect(withSpent(use, 1, end).spent).toBe(1)
    expect(isBeyond(use.gate, countOf(use, T0), T0)).toBe(true)
  })
})

describe('the gate', () => {
  it('of a slow key is what is allowed, whatever its limit', () => {
    expect(gateOf(new KeyLife().hears(THROTTLED).key, { concurrency: 8 })).toMatchObject({
      slots: 4,
      cap: 4,
      openAt: 0,
    })
    expect(gateOf(new KeyLife().hears(THROTTLED).key, { concurrency: 3 })).toMatchObject({ slots: 3 })
    expect(gateOf(new KeyLife({}).hears(THROTTLED).key, {})).toMatchObject({ slots: 1, cap: 1, weight: 1 })
  })

  it('of a broken key is shut, then lets one in beside what ran before', () => {
    const { key } = new KeyLife({ concurrency: 3 }).hears(retryAfter(1_000))
    const old = slot('old', T0 - 5, T0 - 5)
    const use = useOf({ concurrency: 3 }, [old], key)
    expect(shortage(use)).toEqual({ obstacle: 'closed', wakeAt: key.until })
    expect(shortage(use, key.until)).toBeUndefined()
    const probed = { ...use, slots: [old, slot('probe', key.until)] }
    expect(shortage(probed, key.until)).toEqual({ obstacle: 'probed', wakeAt: undefined })
    expect(shortage({ ...use, slots: [old, old, old] }, key.until)).toMatchObject({ obstacle: 'full' })
  })

  it('says to handlers under which session they run', () => {
    const { key } = new KeyLife().hears(THROTTLED)
    expect(flowOf(key, T0)).toEqual({ key: 'example.com', session: 1, state: 'slow' })
  })
})

describe('taking back', () => {
  const standing = [slot('1', T0), slot('2', T0 + 1), slot('3', T0 + 1)]
  const backFrom = (use: KeyUse, now: number) =>
    takenBack({ gate: use.gate, count: countOf(use, now) }, use.slots.filter(isStanding).sort(newestFirst), now)

  it('leaves what the gate allows, the newest go, owners stay', () => {
    expect(backFrom(useOf({ concurrency: 3 }, standing), T0 + 5)).toEqual([])
    expect(backFrom(useOf({ concurrency: 1 }, standing), T0 + 5)).toEqual(['3', '2'])
    expect(backFrom(useOf({ concurrency: 1 }, [slot('4', T0 + 9, T0 + 9), ...standing]), T0 + 9)).toEqual([
      '3',
      '2',
      '1',
    ])
    expect(backFrom(useOf(RATE, standing), T0 + 5)).toEqual(['3'])
  })

  it('takes all of a key that is shut', () => {
    const { key } = new KeyLife().hears(retryAfter(1_000))
    expect(backFrom(useOf({}, standing.toReversed(), key), T0 + 5)).toEqual(['3', '2', '1'])
    const probed = useOf({}, [slot('1', key.until), slot('2', key.until + 1)], key)
    expect(backFrom(probed, key.until + 1)).toEqual(['2'])
  })

  it('is for what nobody claimed within five seconds', () => {
    const out = (now: number) => standing.filter((each) => isOutOfPatience(each, now)).map(({ job }) => job)
    expect(out(T0 + 4_999)).toEqual([])
    expect(out(T0 + 5_000)).toEqual(['1'])
  })

  it('puts the flow of whoever gives way out of turn for as long, also where it waits for the same slot', () => {
    const outOfTurn = { waitsAt: undefined, nextAt: T0 + 5_000 }
    expect(afterGivingWay({ waitsAt: undefined, nextAt: undefined }, T0)).toEqual(outOfTurn)
    expect(afterGivingWay({ waitsAt: atKey('k'), nextAt: undefined }, T0)).toEqual(outOfTurn)
  })
})

describe('explain', () => {
  const explained = (
    limit: Limit,
    use: Partial<KeyUse>,
    record = atRest('k'),
    now = T0,
    log: readonly KeyEvent[] = [],
  ) => explainHeld([{ ...holding(limit, { ...useOf(limit, [], record), ...use }, record, now), log }], undefined, now)

  const holding = (limit: Limit, use: KeyUse, record: KeyRecord, now: number) => ({
    record,
    limit,
    gate: use.gate,
    count: countOf(use, now),
    probes: use.slots.filter(({ letInAt }) => letInAt >= use.gate.since),
  })

  it('says nothing where nothing holds', () => {
    expect(explained({}, {})).toBeUndefined()
  })

  it('tells a full key', () => {
    expect(explained({ concurrency: 1 }, { slots: [slot('1')] })).toEqual({
      because: 'Key k runs 1 of 1.',
      who: 'the jobs of key k',
      when: undefined,
      next: 'Wait, or see to it: pawl limits set k.',
    })
  })

  it('tells a slowed one, from what, since when and after what', () => {
    const { key } = new KeyLife({ concurrency: 2 }).hears(THROTTLED)
    expect(explained({ concurrency: 2 }, { slots: [slot('1')] }, key)).toMatchObject({
      because:
        'Key example.com runs 1 of 1 (slowed from 2 since 1970-01-01T00:16:40.000Z after captcha of job pj_1; session 1).',
      when: T0 + 10_000,
    })
  })

  it('tells a broken one, and who probes it', () => {
    const { key } = new KeyLife().hears(retryAfter(1_000))
    expect(explained({}, {}, key)).toMatchObject({
      because: 'Key example.com is broken since 1970-01-01T00:16:40.000Z after captcha of job pj_1: nothing is let in.',
      when: key.until,
      next: 'Wait, or see to it: pawl limits reset example.com.',
    })
    expect(explained({}, { slots: [slot('pj_9', key.until)] }, key, key.until)?.because).toMatch(
      /^Key example.com is being probed by job pj_9 since /,
    )
    const unknown = { ...key, cause: undefined }
    expect(explained({}, {}, unknown)?.because).toContain('after nobody remembers what')
    const cause = { job: undefined, attempt: undefined, code: undefined, actor: 'operator:o', requestId: 'r' }
    expect(explained({}, {}, { ...key, cause })?.because).toContain('after a word of operator:o')
    expect(explained({}, {}, { ...key, cause: { ...cause, job: 'pj_1' } })?.because).toContain(
      'after the end of job pj_1',
    )
  })

  it('tells why one is broken', () => {
    const reasonOf = ({ key, events, now }: KeyLife) =>
      / \((.*)\): nothing is let in/.exec(explained({}, {}, key, now, events)?.because ?? '')?.[1]
    const failing = (life: KeyLife, times: number) => {
      for (let n = 0; n < times; n += 1) life.hears(UNAVAILABLE)
      return life
    }
    const slow = (concurrency: number) => new KeyLife({ concurrency }).hears(THROTTLED).after(10)
    const probed = () => new KeyLife().hears(retryAfter(1_000)).after(5_000)
    expect(reasonOf(new KeyLife().hears(retryAfter(1_000)))).toBe('Retry-After')
    expect(reasonOf(probed().hears(retryAfter(9_000)))).toBe('Retry-After')
    expect(reasonOf(failing(new KeyLife(), 5))).toBe('5 failures in a row')
    expect(reasonOf(failing(slow(4), 2))).toBe('2 failures in a row')
    expect(reasonOf(failing(probed(), 1))).toBe('its probe failed')
    expect(reasonOf(slow(2).hears(THROTTLED))).toBe('throttled at its least')
    expect(reasonOf(probed().hears(THROTTLED))).toBe('its probe was throttled')
  })

  it('tells a rate and a budget, each until when', () => {
    const slots = [slot('1', T0, T0), slot('2', T0, T0)]
    expect(explained(RATE, { slots })).toMatchObject({
      because: 'Key k had 2 of 2 starts within 1000 ms.',
      when: T0 + 1_000,
    })
    const limit = { budget: { amount: 5, perMs: 60_000 } }
    expect(explained(limit, { spent: 7, window: Math.floor(T0 / 60_000) })).toMatchObject({
      because: 'Key k has spent 7 of 5 for this window.',
      when: 1_020_000,
    })
  })

  it('tells turns last', () => {
    const turns = { lane: 'crawl', others: 3, weighed: 'ann' }
    expect(explainHeld([], turns, T0)).toMatchObject({
      because: 'It takes turns with 3 other flows of lane crawl.',
      next: 'Wait: its turn comes; or give it a greater share: pawl limits set ann --weight 2.',
    })
  })
})
