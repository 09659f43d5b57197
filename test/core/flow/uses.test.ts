import { expect, it } from 'vitest'
import { usesIn } from '../../../src/core/flow/uses.ts'
import { given, T0 } from '../given.ts'

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
  expect(usesIn(events, 'a', 0)).toEqual({ claims: [T0 + 10], spends: [three, { at: T0 + 30, amount: 5 }] })
  expect(usesIn(events, 'b', 0).spends).toEqual([three, { at: T0 + 30, amount: 7 }])
  expect(usesIn(events, 'a', T0 + 20)).toEqual({ claims: [], spends: [{ at: T0 + 30, amount: 5 }] })
})
