import { expect, it } from 'vitest'
import { compact } from '../../../src/core/compact.ts'
import { countsSince, usesIn } from '../../../src/core/flow/uses.ts'
import { given, T0 } from '../given.ts'
import { T0 as BEGUN, KeyLife } from './key-given.ts'

it('what a log says of a key: claims and spending since a time, of all keys where none is named', () => {
  const { events } = given({}, { flow: { keys: ['a', 'b'], fair: undefined } })
    .after(10)
    .starts()
    .after(10)
    .does({ type: 'record', fence: 'mine', spend: { amount: 3 } })
    .after(10)
    .does({ type: 'record', fence: 'mine', spend: { amount: 5, key: 'a' } })
    .does({ type: 'record', fence: 'mine', spend: { amount: 7, key: 'b' } })
    .does({ type: 'record', fence: 'mine', step: { name: 'pay', body: undefined, compensate: false } })
  const three = { at: T0 + 20, amount: 3 }
  expect(usesIn(events, 'a', 0)).toMatchObject({ claims: [T0 + 10], spends: [three, { at: T0 + 30, amount: 5 }] })
  expect(usesIn(events, 'b', 0).spends).toEqual([three, { at: T0 + 30, amount: 7 }])
  expect(usesIn(events, 'a', T0 + 20)).toMatchObject({ claims: [], spends: [{ at: T0 + 30, amount: 5 }] })
  expect(usesIn(events, 'a', 0).lostUntil).toBe(0)
  const compaction = compact(events)
  const shortened = events.filter(({ rev }) => compaction?.replaces.includes(rev) === false)
  const log = compaction === undefined ? shortened : [...shortened, compaction.event]
  expect(usesIn(log, 'a', 0), 'what was made one with others may have spent until then').toEqual({
    claims: [T0 + 10],
    spends: [],
    lostUntil: T0 + 30,
  })
})

it('a key counts from when its number was set where there was none, or for windows of another length', () => {
  const life = new KeyLife({ concurrency: 2 })
  const set = (limit: Partial<KeyLife['limit']>) => life.after(10).sets({ ...life.limit, ...limit })
  const since = () => (['rate', 'budget'] as const).map((number) => countsSince(life.events, number) - BEGUN)
  expect(since()).toEqual([-BEGUN, -BEGUN])
  set({ budget: { amount: 5, perMs: 1_000 } })
  expect(since()).toEqual([-BEGUN, 10])
  set({ rate: { most: 5, perMs: 1_000 } })
  set({ concurrency: 3 })
  set({ budget: { amount: 9, perMs: 1_000 } })
  set({ rate: { most: 1, perMs: 1_000 } })
  expect(since()).toEqual([20, 10])
  set({ rate: { most: 1, perMs: 2_000 } })
  set({ budget: undefined })
  expect(since()).toEqual([60, 70])
  // One that was written before it was told what the limit had been.
  life.told('set').told('reset')
  expect(since()).toEqual([70, 70])
})
